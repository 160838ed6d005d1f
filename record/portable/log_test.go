package portable_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/record/portable"
)

// logTests has the sample logs: the beginning of the tape, the lines, and the reports.
var logTests = []struct {
	file, start string
	want, told  []string
}{
	{
		"claude-desktop.log", `2026-02-02 15:40:53 +0000 UTC [] files mcp`,
		[]string{
			`9: 250ms c2a {"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"claude-ai","version":"0.1.0"}},"jsonrpc":"2.0","id":0}`,
			`10: ? err npm warn deprecated glob@10.5.0`,
			`11: ? err Files Server running on stdio`,
			`12: 1s a2c {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"files","version":"1"}}}`,
			`13: 1.1s c2a {"method":"notifications/initialized","jsonrpc":"2.0"}`,
			`14: 2s c2a {"method":"tools/call","params":{"name":"read"},"jsonrpc":"2.0","id":1}`,
			`15: 2.5s a2c {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"first...[18778 chars truncated]...last"}]}}`,
			`16: 3s c2a {"method":"tools/call","params":{"name":"list"},"jsonrpc":"2.0","id":2}`,
			`17: 3.5s a2c {"gap":1196}`,
		},
		[]string{
			`file: From a log of Claude Desktop: messages were encoded again and long ones shortened, and lines of stderr have no times`,
			`file: line 17 could not be read`,
			`file: line 15 came shortened`,
		},
	},
	{
		"claude-desktop-mcp.log", `2025-06-13 14:44:29.818 +0000 UTC [] trains mcp`,
		[]string{
			`3: 127ms c2a {"method":"initialize","params":{},"jsonrpc":"2.0","id":0}`,
		},
		[]string{
			`file: From a log of Claude Desktop: messages were encoded again and long ones shortened, and lines of stderr have no times`,
		},
	},
	{
		"jetbrains.log", `2025-12-17 11:26:25.895 +0000 UTC []  acp`,
		[]string{
			`2: 0s c2a {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`,
			`3: 1.64s a2c {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}`,
			`6: 1.705s a2c no JSON from the agent`,
			`8: 2.105s c2a {"gap":29}`,
		},
		[]string{
			`file: From a log of a JetBrains IDE: its times are local but read as UTC, and it has no stderr`,
			`file: 2 lines could not be read; the first is line 7`,
		},
	},
	{
		"zed.json", `0001-01-01 00:00:00 +0000 UTC []  acp`,
		[]string{
			`0: ? c2a {"jsonrpc":"2.0","id":"b8dfb36c","method":"initialize","params":{"protocolVersion":1}}`,
			"0: ? err \x1b[33mWARN\x1b[0m ready",
			`0: ? a2c {"jsonrpc":"2.0","id":"b8dfb36c","result":{"protocolVersion":1}}`,
			`0: ? a2c {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1"}}`,
			`0: ? a2c {"jsonrpc":"2.0","id":0,"method":"_x/ask"}`,
			`0: ? c2a {"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"Method not found"}}`,
			`0: ? a2c {"jsonrpc":"2.0","id":7,"result":null}`,
			`0: ? c2a {"gap":56}`,
		},
		[]string{
			`file: From the ACP log of Zed: it has no times, messages were encoded again, and a result that has only code and message reads as an error`,
			`file: message 8 could not be read`,
		},
	},
	{
		"acpx.stream.ndjson", `0001-01-01 00:00:00 +0000 UTC []  `,
		[]string{
			`3: ? c2a {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`,
			`4: ? a2c {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`,
			`5: ? c2a {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}`,
			`6: ? a2c {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1"}}`,
			`7: ? a2c {"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s1"}}`,
			`8: ? a2c {"jsonrpc":"2.0","method":"_agent/progress","params":{}}`,
			`9: ? c2a {"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"cancelled"}}}`,
			`10: ? a2c {"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`,
			`12: ? c2a {"damage":36}`,
		},
		[]string{
			`file: From messages alone, as acpx keeps them: there are no times and no stderr, messages were encoded again, and who sent one is derived from its method or id`,
			`file: line 12 could not be read`,
		},
	},
	{
		"acpx-0.1.stream.ndjson", `0001-01-01 00:00:00 +0000 UTC []  `,
		[]string{
			`1: ? c2a {"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`,
			`2: ? c2a {"damage":28}`,
		},
		[]string{
			`file: From messages alone, as acpx keeps them: there are no times and no stderr, messages were encoded again, and who sent one is derived from its method or id`,
			`file: line 2 could not be read`,
		},
	},
	{
		"conductor.jsons", `0001-01-01 00:00:00 +0000 UTC []  acp`,
		[]string{
			`1: 250ms c2a {"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":1}}`,
			`4: 500ms a2c {"jsonrpc":"2.0","id":"a","result":{"protocolVersion":1}}`,
			`7: 800ms a2c {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1"}}`,
			`8: 900ms a2c {"jsonrpc":"2.0","id":"d","method":"session/request_permission","params":{}}`,
			`9: 1s c2a {"jsonrpc":"2.0","id":"d","error":{"code":-32603,"message":"no"}}`,
			`10: ? c2a {"damage":93}`,
			`11: ? c2a {"damage":54}`,
		},
		[]string{
			`file: From the trace of a conductor, on the side of its client: it does not say when it began, messages were encoded again, and it has no stderr`,
			`file: 2 lines could not be read; the first is line 10`,
			`file: 2 lines went between other components, which the tape does not have; the first is line 2`,
			`file: line 5 carried MCP over ACP, which the tape does not have`,
		},
	},
	{
		"conductor-agent.jsons", `0001-01-01 00:00:00 +0000 UTC []  acp`,
		[]string{
			`1: 12.345678ms c2a {"jsonrpc":"2.0","id":"a","method":"initialize","params":{}}`,
			`2: 500ms a2c {"jsonrpc":"2.0","id":"a","result":null}`,
		},
		[]string{
			`file: From the trace of a conductor, on the side of its client: it does not say when it began, messages were encoded again, and it has no stderr`,
		},
	},
	{
		"conductor-debug.log", `2026-01-02 14:04:05.5 +0000 UTC ["my-agent" "--acp"]  acp`,
		[]string{
			`10: 12ms c2a {"jsonrpc":"2.0","id":"b","method":"initialize","params":{}}`,
			`11: 13ms err ready`,
			`12: 15ms a2c {"id":"b","jsonrpc":"2.0","result":{}}`,
			`13: 16ms a2c no JSON`,
			`15: 20ms c2a {"gap":42}`,
		},
		[]string{
			`file: From the debug log of a conductor: only what the agent at the end of its chain received and sent`,
			`file: 2 lines could not be read; the first is line 14`,
			`file: 3 lines came from or went to others, which the tape does not have; the first is line 7`,
		},
	},
	{
		"acp.el.traffic", `0001-01-01 00:00:00 +0000 UTC []  acp`,
		[]string{
			`0: ? c2a {"jsonrpc":"2.0","method":"initialize","id":1,"params":{"clientInfo":{"name":"agent-shell","title":"Emacs Agent Shell"},"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":false},"auth":{"logout":{}},"terminal":{},"elicitation":{"form":{}}}}}`,
			`0: ? a2c {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":null,"price":1.5e+20},"authMethods":[]}}`,
			`0: ? a2c {"jsonrpc":"2.0","method":"session/update","params":{"update":{"content":[],"locations":[{"path":"/a\nb\\c\"dé\u001b[0m","line":-7},{"path":"/a\nb\\c\"dé\u001b[0m","line":-7}],"answers":{"Which colour, red or blue?":"Red"}}}}`,
			`0: ? c2a {"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":{"k":1,"l":{}}}}}`,
			`0: ? c2a {"damage":62}`,
			`0: ? a2c {"gap":60}`,
		},
		[]string{
			`file: From traffic that acp.el saved in Emacs: it has no times and no stderr, messages were encoded again, and null, false and {} from the agent all read as null`,
			`file: 2 messages could not be read; the first is message 5`,
		},
	},
	{
		"acp.el.log", `0001-01-01 00:00:00 +0000 UTC []  acp`,
		[]string{
			`7: ? c2a {"jsonrpc":"2.0","method":"initialize","id":1,"params":{}}`,
			`12: ? err Loading model`,
			`13: ? err done`,
			`21: ? a2c {"jsonrpc":"2.0", "id":1,"result":{}}`,
			`27: ? a2c no JSON`,
		},
		[]string{
			`file: From a log of acp.el in Emacs: it has no times`,
		},
	},
}

func TestLogs(t *testing.T) {
	for _, tt := range logTests {
		t.Run(tt.file, func(t *testing.T) {
			f, err := read(testFile(t, tt.file))
			if err != nil {
				t.Fatal(err)
			}
			if start := fmt.Sprintf("%v %q %s %s", f.start.Time, f.start.Command, f.start.Name, f.start.Proto); start != tt.start {
				t.Errorf("began with %s, want %s", start, tt.start)
			}
			if got := logged(f.lines); !slices.Equal(got, tt.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
			}
			if !slices.Equal(f.notes, tt.told) {
				t.Errorf("told\n%s\nwant\n%s", strings.Join(f.notes, "\n"), strings.Join(tt.told, "\n"))
			}
		})
	}
}

// logged returns each line as its number in the file, its time, its direction and its
// content.
func logged(lines []portable.Line) (text []string) {
	for _, l := range lines {
		at, what := l.At.String(), string(l.Raw)
		if l.Untimed {
			at = "?"
		}
		if l.Mark != nil {
			what = string(l.Mark.JSON())
		}
		text = append(text, fmt.Sprintf("%d: %s %v %s", l.Number, at, l.Dir, what))
	}
	return text
}

// TestBrokenLogs: of a log that ends early, or has something else in between, everything
// else is read.
func TestBrokenLogs(t *testing.T) {
	const (
		claude = "2026-02-02T15:40:53.000Z [srv] [info] "
		idea   = "2025-12-17 11:26:25,895 [  12469]   FINE - AcpTransport - "
		begin  = "(((:direction . outgoing) (:kind . request) (:object (id . 1)))"
	)
	zed, traffic := testFile(t, "zed.json"), testFile(t, "acp.el.traffic")
	long := strings.Repeat("a", 9<<20)
	for _, tt := range []struct {
		name, in string
		want     int    // lines
		told     string // last of all
	}{
		{"zed, cut", zed[:strings.Index(zed, "[33m")], 1, "file: message 2: the file ends here; what follows is left out"},
		{"zed, cut after a message", "[" + zed[strings.Index(zed, "{"):strings.Index(zed, ",\n  {")], 1, "file: message 2: the file ends here; what follows is left out"},
		{"zed, damaged", zed[:strings.Index(zed, `"_type": "stderr"`)] + "}\x00" + zed, 1, "file: message 2: invalid character '}' looking for beginning of object key string; what follows is left out"},
		{"zed, and more", zed + "{}", 8, "file: message 8 could not be read"},
		{"zed, one long message", `[{"_direction":"outgoing","_type":"notification","method":"a"},{"_direction":"` + long + long + `"}]`, 1, "file: message 2: more than 8 MiB in one piece; what follows is left out"},
		{"claude desktop, long", claude + "Message from client: {\"method\":\"a\"}\n" + claude + `Message from server: {"a":"` + long + "\"}\n" + long, 2, "file: 2 lines could not be read; the first is line 2"},
		{"claude desktop, twice", claude + "Message from client: {\"method\":\"initialize\"}\n" + claude + "Message from client: {\"method\":\"initialize\"}", 2, "file: the client initialized the agent 2 times; all of its runs are on one tape"},
		{"claude desktop, several lines", claude + "Message from client: {\n  \"method\": \"a\"\n}", 3, "file: line 1 could not be read"},
		{"jetbrains, long", idea + "OUT: {}\n" + idea + "IN: " + long + "\n" + idea + "IN: {}", 3, "file: line 2 could not be read"},
		{"messages, long", `{"jsonrpc":"2.0","method":"a"}` + "\n" + `{"jsonrpc":"2.0","method":"` + long + `"}`, 2, "file: line 2 could not be read"},
		{"messages, mixed", `{"jsonrpc":"2.0","method":"a"}` + "\nready\n{}\n" + `{"schema":"acpx.session.journal.v2"}`, 3, "file: 3 lines could not be read; the first is line 2"},
		{"trace, mixed", testFile(t, "conductor-agent.jsons") + "ready\n" + `{"type":"request","ts":-1,"from":"Client","to":"Agent"}`, 4, "file: 2 lines could not be read; the first is line 3"},
		{"debug log, long", "=== Conductor Debug Log ===\nComponents:\n  0: a\n=====\n0 → +1ms {}\n0 ← +1ms " + long, 2, "file: line 6 could not be read"},
		{"log of acp.el, cut", "OUTGOING TEXT >\n\n{}\n\nINCOMING LINE >\n\n{\"id\":", 2, "file: line 7 could not be read"},
		{"traffic, cut", traffic[:strings.Index(traffic, "(answers")], 2, "file: message 3: the file ends here; what follows is left out"},
		{"traffic, no value", begin + " ((:direction . ))", 1, `file: message 2: ')' where a value should be; what follows is left out`},
		{"traffic, another label", begin + " ((:direction . incoming) (:object (a . #7#))))", 1, "file: message 2: #7# refers to nothing before it; what follows is left out"},
		{"traffic, within itself", begin + " #1=((:direction . incoming) (:object (a . #1#))))", 1, "file: message 2: #1# refers to nothing before it; what follows is left out"},
		{"traffic, unreadable", begin + " ((:direction . incoming) (:object (a . #<buffer x>))))", 1, "file: message 2: an object that Emacs Lisp cannot read back; what follows is left out"},
		{"traffic, deep", begin + " " + strings.Repeat("((a . ", 4000), 1, "file: message 2: lists are nested too deep; what follows is left out"},
		{"traffic, long", begin + " ((:direction . incoming) (:object (a . \"" + long + "\"))))", 1, "file: message 2: more than 8 MiB in one piece; what follows is left out"},
		{"traffic, references to references", begin + " ((:direction . incoming) (:object (a . #0=[1 1 1 1 1 1 1 1 1 1])" + references(9) + ")))", 1, "file: message 2: more than 8 MiB in one piece; what follows is left out"},
		{"traffic, a shared pair and tail", begin + ` ((:direction . incoming) (:object #1=(a . 1) #1# (b (c . 2) . #2=((d . 3))) (e . #2#))))`, 2, "file: From traffic that acp.el saved"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, err := read(tt.in)
			if err != nil {
				t.Fatal(err)
			}
			if len(f.lines) != tt.want || len(f.notes) == 0 || !strings.HasPrefix(f.notes[len(f.notes)-1], tt.told) {
				t.Errorf("%d lines %.500q, told %q; want %d and %q", len(f.lines), logged(f.lines), f.notes, tt.want, tt.told)
			}
		})
	}
}

// references returns n members, each of which has the value before it ten times.
func references(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " (a . #%d=[%s])", i+1, strings.Repeat(fmt.Sprintf("#%d# ", i), 10))
	}
	return b.String()
}

// TestRefusedLogs: of these there is no tape.
func TestRefusedLogs(t *testing.T) {
	const line = "2026-02-02T15:40:53.000Z [%s] [info] Message from client: {\"method\":\"a\"}\n"
	for _, tt := range []struct{ name, in, want string }{
		{"several servers", fmt.Sprintf(line+line, "a", "b"), `file:2: this line is about the server "b", those before about "a", and a tape has one server: grep -F '[b]' file, or import mcp-server-b.log instead`},
		{"the index of a session", testFile(t, "acpx-index.json"), "file: what acpx remembers of a session, without its messages; those are beside it, in ID.stream.ndjson"},
		{"zed, cut at once", `[{"_direction":"outgoing","_type`, "file: message 1: the file ends here"},
		{"traffic, cut at once", "(((:direction . outgoing) (:obj", "file: message 1: the file ends here"},
		{"two debug logs", testFile(t, "conductor-debug.log") + "\n=== Conductor Debug Log ===\n", "file:16: a second log begins here; a tape has one: head -n 15 file gives the first"},
		{"messages of two centuries", fmt.Sprintf(line, "a") + strings.Replace(fmt.Sprintf(line, "a"), "2026", "2126", 1), "file:2: 2126-02-02 15:40:53 +0000 UTC is too long after the beginning"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := read(tt.in); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}
