package drive_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/drive"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// playing runs a client, and checks that no goroutine remains.
func playing(t *testing.T, client drive.Client) (report *drive.Report, diff, said string, err error) {
	t.Helper()
	warm := make(chan os.Signal, 1)
	signal.Notify(warm, syscall.SIGPIPE) // the runtime's goroutine for signals, once started, stays
	signal.Stop(warm)
	before := runtime.NumGoroutine()
	var stderr bytes.Buffer
	client.Err = &stderr
	client.Patience = cmp.Or(client.Patience, time.Minute)
	client.Grace = cmp.Or(client.Grace, time.Minute)
	client.Settle = 50 * time.Millisecond
	report, err = client.Run(t.Context())
	replaytest.WaitForGoroutines(t, before)
	var unified strings.Builder
	if werr := report.Diff.WriteUnified(&unified, "tape", "now"); werr != nil {
		t.Fatal(werr)
	}
	return report, unified.String(), stderr.String(), err
}

// The client of every recorded tape has the same conversation with the agent of
// that tape.
func TestClientOfRecorded(t *testing.T) {
	for _, path := range replaytest.Recorded(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			path, err := filepath.Abs(path)
			if err != nil {
				t.Fatal(err)
			}
			report, diff, said, err := playing(t, drive.Client{
				Tapes: []*record.Tape{replaytest.Open(t, path)}, Start: replaytest.Role("tape", path), Level: compare.Content, AsNew: true,
			})
			if err != nil || len(report.Notes) > 0 {
				t.Errorf("got %v\n%v\n%s\n%s", err, report, diff, said)
			}
		})
	}
}

// Each row is an agent that behaves otherwise than the one of the tape.
func TestClient(t *testing.T) {
	tests := []struct {
		name    string
		manner  string
		level   compare.Level
		err     error
		stopped string // beginning of
		note    string // a part of the notes; empty: there are none
		diff    string // a part of it
		said    string // a part of what the agent saw
	}{
		{name: "same", manner: "", level: compare.Content, said: "selected y"},
		{name: "other chunks", manner: "chunks", level: compare.Content},
		{name: "other text", manner: "text", level: compare.Shape},
		{name: "other text counts", manner: "text", level: compare.Content, err: drive.ErrDiffers, diff: "-      | All clean.\n+      | Done.\n"},
		{name: "other text, nothing compared", manner: "text", level: compare.None},
		{name: "other options", manner: "options", level: compare.Content, said: "selected allow-1"},
		{name: "only always", manner: "always", level: compare.Shape, err: drive.ErrDiffers, note: "refused: nothing is offered like y", said: "cancelled", diff: "-      permission: allow_once\n+    tool call, delete: failed\n+      permission: cancelled\n"},
		{name: "asks for something else", manner: "other", level: compare.Shape, err: drive.ErrDiffers, note: "refused: the tape has no answer for that", said: "selected n"},
		{name: "asks twice", manner: "twice", level: compare.Shape, err: drive.ErrDiffers, note: "refused", said: "selected y\noutcome: selected n"},
		{name: "asks first", manner: "first", level: compare.Content, said: "selected y"},
		{name: "does not ask", manner: "unasked", level: compare.Shape, err: drive.ErrDiffers, diff: "-      permission: allow_once\n"},
		{name: "unknown request", manner: "extension", level: compare.None, note: "_bot/feel: the tape has no such request", said: "error -32601"},
		{name: "fails", manner: "fails", level: compare.Shape, err: drive.ErrDiffers, diff: "+  turn 1: error -32603"},
		{name: "silent", manner: "silent", err: drive.ErrDiffers, stopped: "waited 5s for the answer to initialize (frame 1)"},
		{name: "hangs in the turn", manner: "hangs", err: drive.ErrDiffers, stopped: "waited 5s for the answer to session/prompt (frame 6)", diff: "+  turn 1: running\n"},
		{name: "dies in the turn", manner: "dies", err: drive.ErrDiffers, stopped: "the agent ended before the answer to session/prompt (frame 6): agent exited with status 7"},
		{name: "no session", manner: "refuses", err: drive.ErrDiffers, note: "session/prompt not sent (frame 6): nobody has made session s-1", diff: "-  session/new: ok\n"},
		{name: "another dialect", manner: "v2", err: drive.ErrDialect},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			client := drive.Client{Tapes: []*record.Tape{replaytest.Tape(t, replaytest.Cleaning)}, Start: replaytest.Role("cleaner", tt.manner), Level: tt.level}
			client.Start.Cwd = "/home/bob/elsewhere"
			if strings.HasPrefix(tt.stopped, "waited") {
				client.Patience, client.Grace = 5*time.Second, 100*time.Millisecond // longer than the agent takes to start
			}
			report, diff, said, err := playing(t, client)
			if !errors.Is(err, tt.err) {
				t.Errorf("got error %v, want %v", err, tt.err)
			}
			if !strings.HasPrefix(report.Stopped, tt.stopped) || tt.stopped == "" && report.Stopped != "" {
				t.Errorf("stopped: got %q, want %q", report.Stopped, tt.stopped)
			}
			if notes := strings.Join(report.Notes, "\n"); !strings.Contains(notes, tt.note) || tt.note == "" && notes != "" {
				t.Errorf("notes: got %q, want %q", notes, tt.note)
			}
			if !strings.Contains(diff, tt.diff) {
				t.Errorf("diff: got %s\nwant %s", diff, tt.diff)
			}
			if !strings.Contains(said, tt.said) {
				t.Errorf("the agent: got %q, want %q", said, tt.said)
			}
			if tt.said != "" && !strings.Contains(said, "cwd: /home/bob/elsewhere\n") {
				t.Errorf("the agent: got %q", said)
			}
		})
	}
}

func TestClientSaves(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	client := drive.Client{Tapes: []*record.Tape{replaytest.Tape(t, replaytest.Cleaning)}, Start: replaytest.Role("cleaner", ""), Store: store}
	client.Start.Cwd = "/home/bob/elsewhere"
	report, _, _, err := playing(t, client)
	if err != nil || len(report.Tapes) != 1 {
		t.Fatalf("got %v, %v", report, err)
	}
	saved, err := store.Open(report.Tapes[0])
	if err != nil {
		t.Fatal(err)
	}
	diff, err := compare.Tapes(compare.Side{Tapes: []*record.Tape{replaytest.Tape(t, replaytest.Cleaning)}}, compare.Side{Tapes: []*record.Tape{saved}}, compare.Content)
	if err != nil || !diff.Same() {
		t.Errorf("got %v, %v", diff, err)
	}
	if info, err := saved.Info(); err != nil || info.Exit == nil || info.Exit.Code != 0 {
		t.Errorf("got %+v, %v", info, err)
	}
}

// An agent that cannot be started is no difference.
func TestClientWithoutAgent(t *testing.T) {
	_, _, _, err := playing(t, drive.Client{
		Tapes: []*record.Tape{replaytest.Tape(t, replaytest.Cleaning)}, Start: record.Start{Command: []string{"/nonexistent/agent"}},
	})
	if err == nil || errors.Is(err, drive.ErrDiffers) {
		t.Errorf("got %v", err)
	}
}

func TestClientInterrupted(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	client := drive.Client{Tapes: []*record.Tape{replaytest.Tape(t, replaytest.Cleaning)}, Start: replaytest.Role("cleaner", "hangs"), Grace: 200 * time.Millisecond}
	if _, err := client.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// interrupted is a turn that the client cancels while a tool call is under way,
// and a mode that it sets before that.
const interrupted = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
c {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w/x","mcpServers":[]}}
a {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]}}}
c {"jsonrpc":"2.0","id":2,"method":"session/set_mode","params":{"sessionId":"s-1","modeId":"code"}}
a {"jsonrpc":"2.0","id":2,"result":{}}
c {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"go"}]}}
a {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call","toolCallId":"t1","title":"one"}}}
a {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"tool_call","toolCallId":"t2","title":"two"}}}
a {"jsonrpc":"2.0","id":8,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"t2"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}}
c {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s-1"}}
c {"jsonrpc":"2.0","id":8,"result":{"outcome":{"outcome":"cancelled"}}}
a {"jsonrpc":"2.0","id":3,"result":{"stopReason":"cancelled"}}
`

func TestClientCancels(t *testing.T) {
	tests := []struct {
		manner string
		note   string
		said   string
	}{
		{"", "", "mode: code; calls: 2; then session/cancel; outcome: cancelled; "},
		{"renamed", "", "mode: m-2; calls: 2; then session/cancel; outcome: cancelled; "},
		{"modeless", "session/set_mode not sent (frame 5): the agent has nothing like modeId \"code\"", "calls: 2; then session/cancel; outcome: cancelled; "},
		{"quick", "session/cancel not sent (frame 11): too late: the turn is over", "mode: code; calls: 2; "},
	}
	for _, tt := range tests {
		t.Run(tt.manner, func(t *testing.T) {
			report, _, said, err := playing(t, drive.Client{
				Tapes: []*record.Tape{replaytest.Tape(t, interrupted)}, Start: replaytest.Role("moody", tt.manner), Level: compare.None,
			})
			if err != nil || strings.Join(report.Notes, "\n") != tt.note || said != tt.said {
				t.Errorf("got %v, %q, %q\nwant %q, %q", err, report.Notes, said, tt.note, tt.said)
			}
		})
	}
}

// filesAndTerminals is a turn in which the agent reads and writes files and runs a command.
const filesAndTerminals = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
c {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/home/ann/project","mcpServers":[]}}
a {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}
c {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"look at /home/ann/project/a.txt"}]}}
a {"jsonrpc":"2.0","id":0,"method":"fs/read_text_file","params":{"sessionId":"s-1","path":"/home/ann/project/a.txt"}}
c {"jsonrpc":"2.0","id":0,"result":{"content":"one\ntwo\nthree\n"}}
a {"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s-1","path":"/home/ann/project/part.txt","line":5,"limit":1}}
c {"jsonrpc":"2.0","id":1,"result":{"content":"five"}}
a {"jsonrpc":"2.0","id":2,"method":"fs/write_text_file","params":{"sessionId":"s-1","path":"/home/ann/project/b.txt","content":"old"}}
c {"jsonrpc":"2.0","id":2,"result":{}}
a {"jsonrpc":"2.0","id":3,"method":"terminal/create","params":{"sessionId":"s-1","command":"make","args":["test"],"cwd":"/home/ann/project"}}
c {"jsonrpc":"2.0","id":3,"result":{"terminalId":"term-1"}}
a {"jsonrpc":"2.0","id":4,"method":"terminal/output","params":{"sessionId":"s-1","terminalId":"term-1"}}
c {"jsonrpc":"2.0","id":4,"result":{"output":"building","truncated":false}}
a {"jsonrpc":"2.0","id":5,"method":"terminal/output","params":{"sessionId":"s-1","terminalId":"term-1"}}
c {"jsonrpc":"2.0","id":5,"result":{"output":"building\nok","truncated":false,"exitStatus":{"exitCode":0,"signal":null}}}
a {"jsonrpc":"2.0","id":6,"method":"terminal/release","params":{"sessionId":"s-1","terminalId":"term-1"}}
c {"jsonrpc":"2.0","id":6,"result":null}
a {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
`

func TestClientFilesAndTerminals(t *testing.T) {
	client := drive.Client{Tapes: []*record.Tape{replaytest.Tape(t, filesAndTerminals)}, Start: replaytest.Role("reader"), Level: compare.None}
	client.Start.Cwd = "/tmp/project/now"
	report, _, said, err := playing(t, client)
	if err != nil {
		t.Fatalf("got %v, %v", err, report)
	}
	const want = `prompt: look at /tmp/project/now/a.txt
read a.txt: "one\ntwo\nthree\n"
read a.txt again: "one\ntwo\nthree\n"
read line 2 of a.txt: "two\n"
read line 5 of part.txt: "five"
read part.txt: error -32002
read unknown.txt: error -32002
write b.txt: {}
read b.txt: "new"
write unknown.txt: error -32603
read line 2 of the new a.txt: "zwei\n"
run make test: "term-1"
run it again: error -32603
output: "building"
output: "building\nok"
output: "building\nok"
wait: 0
kill: {}
output of another: error -32603
run rm: error -32603
`
	if said != want {
		t.Errorf("got %s\nwant %s", said, want)
	}
	const notes = `fs/read_text_file: the tape does not know /tmp/project/now/part.txt
fs/read_text_file: the tape does not know /tmp/project/now/unknown.txt
fs/write_text_file: the tape does not know /tmp/project/now/unknown.txt
terminal/create: the tape has no terminal for make
terminal/output: there is no terminal "term-9"
terminal/create: the tape has no terminal for rm`
	if got := strings.Join(report.Notes, "\n"); got != notes {
		t.Errorf("got notes %s\nwant %s", got, notes)
	}
}

// A session that continues on a second tape is played with two runs of the agent, and the
// second knows its id.
func TestClientOfTwoTapes(t *testing.T) {
	const hello = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}
`
	const prompt = `
c {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s-1","prompt":[{"type":"text","text":"hi"}]}}
a {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}
a {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
`
	const monday = hello + `
c {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w/x","mcpServers":[]}}
a {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}
` + prompt
	const tuesday = hello + `
c {"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s-1","cwd":"/w/x","mcpServers":[]}}
a {"jsonrpc":"2.0","id":1,"result":{}}
` + prompt
	tapes := func(lines ...string) (list []*record.Tape) {
		for _, l := range lines {
			list = append(list, replaytest.Tape(t, l))
		}
		return list
	}
	tests := []struct {
		name    string
		tapes   []*record.Tape
		session string
		anew    bool
		err     error
		said    string
	}{
		{"both", tapes(monday, tuesday), "", false, nil, "new; prompt live-1; load live-1; prompt live-1; "},
		{"in one file", tapes(monday + tuesday), "", false, nil, "new; prompt live-1; load live-1; prompt live-1; "},
		{"only the second", tapes(tuesday), "", false, drive.ErrUnmade, ""},
		{"the second as new", tapes(tuesday), "", true, nil, "new; prompt live-1; "},
		{"of one session", tapes(monday, tuesday), "s-1", false, nil, "new; prompt live-1; load live-1; prompt live-1; "},
	}
	if _, _, said, err := playing(t, drive.Client{Tapes: tapes(monday), Session: "s-2", Start: replaytest.Role("patient")}); err == nil || said != "" {
		t.Errorf("of a session that is not there: got %v, %q", err, said)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			report, diff, said, err := playing(t, drive.Client{Tapes: tt.tapes, Session: tt.session, Start: replaytest.Role("patient"), AsNew: tt.anew, Level: compare.Content})
			if !errors.Is(err, tt.err) || said != tt.said {
				t.Errorf("got %v, %q, %v\n%s\nwant %v, %q", err, said, report, diff, tt.err, tt.said)
			}
		})
	}
}

// A message longer than wire.MaxChecked is sent whole.
func TestClientSendsLongMessages(t *testing.T) {
	long := strings.Repeat("long ", 1<<19)
	report, _, said, err := playing(t, drive.Client{
		Tapes: []*record.Tape{replaytest.Tape(t, strings.Replace(filesAndTerminals, "look at", long+"look at", 1))},
		Start: replaytest.Role("reader"), Level: compare.None,
	})
	if err != nil || !strings.HasPrefix(said, "prompt: "+long+"look at") {
		t.Errorf("got %v, %v, %.100q", err, report, said)
	}
}

// An answer that is too long to be checked as a whole counts as an answer, even if its id
// is at its end.
func TestClientTakesLongAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tape.jsonl")
	lines := replaytest.Portable(t, `c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
a {"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}},"jsonrpc":"2.0","id":0}
c {"jsonrpc":"2.0","method":"notifications/initialized"}
c {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"draw"}}
a {"result":{"content":[{"type":"image","mimeType":"image/png","data":"`+strings.Repeat("AAAA", 1<<19)+`"}]},"jsonrpc":"2.0","id":1}
`)
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	report, _, said, err := playing(t, drive.Client{
		Tapes: []*record.Tape{replaytest.Open(t, path)}, Start: replaytest.Role("tape", path), Level: compare.Content,
	})
	if err != nil || len(report.Notes) > 0 {
		t.Errorf("got %v\n%v\n%s", err, report, said)
	}
}

var chosen = regexp.MustCompile(`"optionId":"o\d+"`)

// The same holds for tapes on which sessions, turns, permissions, cancels and
// calls are interleaved at random.
func TestClientOfGenerated(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			lines := strings.ReplaceAll(replaytest.Talk(rand.New(rand.NewPCG(seed, 3))), `"options":[]`, `"options":[{"optionId":"o","name":"Yes","kind":"allow_once"}]`)
			lines = chosen.ReplaceAllString(lines, `"optionId":"o"`)
			path := filepath.Join(t.TempDir(), "tape.jsonl")
			if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
				t.Fatal(err)
			}
			report, diff, said, err := playing(t, drive.Client{
				Tapes: []*record.Tape{replaytest.Open(t, path)}, Start: replaytest.Role("tape", path), Level: compare.Content,
			})
			if err != nil || len(report.Notes) > 0 {
				t.Fatalf("got %v\n%v\n%s\n%s\n%s", err, report, diff, said, lines)
			}
		})
	}
}
