package screen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// hello is how a tape begins on which nothing is broken.
const hello = `{"acptap":1,"protocol":"acp","cwd":"/w"}
{"dir":"c2a","at":0,"frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"editor","version":"1"}}}}
{"dir":"a2c","at":0.1,"frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"agent","version":"1"}}}}
`

// broken has eight lines of the agent that are not JSON, a message between each two of them:
// in succession they would be one finding.
var broken = hello + strings.Join(slices.Collect(func(yield func(string) bool) {
	for i := range 8 {
		yield(fmt.Sprintf(`{"dir":"a2c","at":%d,"text":"log line %d"}`, i+1, i+1))
		yield(fmt.Sprintf(`{"dir":"a2c","at":%d.5,"frame":{"jsonrpc":"2.0","method":"_log/line","params":{"n":%d}}}`, i+1, i+1))
	}
}), "\n") + "\n"

// TestFindingScreens shows findings: the groups, all frames of one group, a rule, and one of
// its frames.
func TestFindingScreens(t *testing.T) {
	for _, tt := range []struct{ name, tape, keys string }{
		{"findings", broken, "7"},
		{"findings-notes", broken, "7«RPC002»!"},
		{"findings-all", broken, "7«RPC002» "},
		{"findings-rule", broken, "7«RPC002»i"},
		{"findings-frame", broken, ":7<Enter>"},
		{"findings-search", broken, "7«RPC002»/line<Enter>n"},
		{"findings-keys", broken, "7«RPC002»?"},
		{"findings-none", hello, "7"},
		{"findings-filter", broken, "/is:violation<Enter>« 1 of 8 · »j"},
	} {
		atSizes(t, tt.name, sizes, func(t *testing.T, name string, s size) {
			term := start(t, screen.Inspector{}, portableSubject(t, "broken", tt.tape), s.width, s.height)
			term.reads(t)
			term.press(t, tt.keys)
			term.golden(t, name)
		})
	}
}

// relative has a relative path deep in the third frame.
const relative = hello + `{"dir":"c2a","at":1,"frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
{"dir":"a2c","at":2,"frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}}
{"dir":"c2a","at":3,"frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}}
{"dir":"a2c","at":4,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"Read","content":[{"type":"content","content":{"type":"text","text":"1\n2\n3\n4\n5\n6\n7\n8"}}],"locations":[{"path":"/w/a.go"},{"path":"b.go","line":3}]}}}}
{"dir":"a2c","at":5,"frame":{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}}
`

// TestFindingUnderlined: of a frame that is reached from a finding one sees the value that is
// wrong, and that it is.
func TestFindingUnderlined(t *testing.T) {
	for _, tt := range []struct {
		colours string
		theme   screen.Theme
		size
	}{
		{"colours", screen.ANSI, size{80, 24}},
		{"colours", screen.ANSI, size{200, 50}},
		{"mono", screen.Mono, size{80, 24}},
	} {
		name := fmt.Sprintf("findings-underlined-%dx%d", tt.width, tt.height)
		t.Run(tt.colours+"-"+name, func(t *testing.T) {
			t.Parallel()
			term := start(t, screen.Inspector{Theme: tt.theme}, portableSubject(t, "relative", relative), tt.width, tt.height)
			term.reads(t)
			term.press(t, "7«relative»<Enter>«─ frame 6 ·»")
			term.golden(t, name)
			term.goldenOf(t, tt.colours+"-"+name, term.colours)
		})
	}
}

// TestFindingKeys goes from a finding to its frame and its rule, and back to where the user
// came from.
func TestFindingKeys(t *testing.T) {
	for _, tt := range []struct{ name, keys string }{
		{"frame", "7«8 times»j<Enter>«─ frame 3 ·»<Esc>«8 times»«10 of »"},
		{"rule", "7«8 times»i«Nothing but messages is written»<Esc>«8 times»"},
		{"rule of a frame", ":5<Enter>«─ frame 5 ·»i«Nothing but messages is written»<Esc>«─ frame 5 ·»"},
		{"rule in the pane", ":5<Enter>«─ frame 5 ·»<Enter>i«Nothing but messages is written»<Esc>«─ frame 5 ·»«Esc back»"},
		{"no rule", "i«no finding here»"},
		{"notes too", "!«violations, warnings and notes»!«violations, warnings and what hurts»"},
		{"all and back", "7«and 3 more» «log line 8» «and 3 more»"},
		{"forward and back", "e«─ frame 3 ·»e«─ frame 5 ·»E«─ frame 3 ·»E«─ frame 17 ·»«from the bottom again»e«─ frame 3 ·»«from the top again»"},
		{"a frame and its rule by two keys each", "7«8 times»<Enter>«─ frame 3 ·»i«Nothing but messages is written»<Esc><Esc>«8 times»i«Nothing but messages is written»"},
		{"words", "7«8 times»/line 5<Enter>«search line 5: 1 of 1»<Enter>«─ frame 11 ·»"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			term := start(t, screen.Inspector{}, portableSubject(t, "broken", broken), 120, 40)
			term.reads(t)
			term.press(t, tt.keys)
		})
	}
}

// TestFindingsLive: findings appear while the tape grows.
func TestFindingsLive(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	live := begin(t, store, "agent", "")
	ended := false
	defer func() {
		if !ended {
			live.ends()
		}
	}()
	live.prompts("hello")
	term := start(t, screen.Inspector{}, screen.TapesOf(store, "", live.Tape()), 120, 24)
	term.press(t, "7")
	term.wait(t, "the first line", has("7 findings"))
	live.says(wire.AgentToClient, "Listening on port 1")
	term.wait(t, "the first line that is no JSON", has("wrote a line"))
	live.says(wire.AgentToClient, `{"jsonrpc":"2.0","method":"_log/line"}`)
	live.says(wire.AgentToClient, "Listening on port 2")
	term.wait(t, "the second one", has("2 times"))
	term.press(t, "2«✗ ← invalid»")
	live.ends()
	ended = true
	term.wait(t, "the end", func(s string) bool {
		bar, _, _ := strings.Cut(s, "\n")
		return !strings.Contains(bar, "●")
	})
}

// TestFindingsOfSession: on two tapes frames have the names that they have everywhere, also
// where a finding names another.
func TestFindingsOfSession(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	var ids []string
	for _, text := range []string{hello, broken} {
		id, err := store.Import(strings.NewReader(text), "tape", nil)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	term := start(t, screen.Inspector{}, screen.TapesOf(store, "", ids...), 120, 40)
	term.reads(t)
	term.press(t, "7«8 times»j« 2.3  wrote a line»<Enter>«─ frame 2.3 ·»«✗ RPC002»")
}

// TestFindingsOfDamaged: the readable part is judged, and the page says that a part is
// missing.
func TestFindingsOfDamaged(t *testing.T) {
	t.Parallel()
	store, id := damagedTape(t)
	whole, err := store.Import(strings.NewReader(broken), "tape", nil)
	if err != nil {
		t.Fatal(err)
	}
	term := start(t, screen.Inspector{}, screen.TapesOf(store, "", id, whole), 120, 40)
	term.press(t, "7«8 times»« 2.3  wrote a line»«a part cannot be read»2/is:violation<Enter>«1 of 8»«a part cannot be read»")
}

// TestFindingsWritten: the page of findings is written to a file without anything that
// controls a terminal.
func TestFindingsWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	tape := hello + `{"dir":"a2c","at":1,"text":"\u001b[31mred\u0007"}` + "\n"
	term := start(t, screen.Inspector{}, portableSubject(t, "broken", tape), 100, 24)
	term.reads(t)
	term.press(t, "7«RPC002»w«write the text to: findings.txt»<Enter>«written to findings.txt»")
	got, err := os.ReadFile("findings.txt")
	if err != nil {
		t.Fatal(err)
	}
	const want = "✗ RPC002 not-json  agent  once\n        3  wrote a line that is no JSON object; got red␇\n"
	if string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestFindingsCopied copies findings.
func TestFindingsCopied(t *testing.T) {
	t.Parallel()
	term := start(t, screen.Inspector{}, portableSubject(t, "broken", broken), 120, 40)
	term.reads(t)
	term.press(t, "7«8 times»jyv«line sent»")
	if got := string(term.GetClipboardData()); !strings.Contains(got, "wrote a line") || strings.Contains(got, "\n") {
		t.Errorf("got %q, want the line", got)
	}
	term.press(t, "yp«reference broken:3 sent»yy«text sent»")
	if got := string(term.GetClipboardData()); !strings.Contains(got, "RPC002") {
		t.Errorf("got %q, want the findings", got)
	}
}

// TestFindingsFiltered: while a tape grows, a filter for findings shows the frames with
// findings so far, including a request that is judged only with its answer.
func TestFindingsFiltered(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	live := begin(t, store, "agent", "")
	defer live.ends()
	live.says(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`)
	sub := screen.TapesOf(store, "", live.Tape())
	with := start(t, screen.Inspector{Filter: "is:violation"}, sub, 120, 24)
	without := start(t, screen.Inspector{Filter: "!is:violation"}, sub, 120, 24)
	text := start(t, screen.Inspector{Filter: `rule:MCP* by:client "capabilities"`}, sub, 120, 24)
	with.wait(t, "an empty list", has("0 of 0"))
	without.wait(t, "the request", has("1 of 1"))
	text.wait(t, "an empty list", has("0 of 0"))
	live.says(wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"server","version":"1"}}}`)
	with.wait(t, "the request", func(s string) bool {
		return strings.Contains(s, "✗ → request   initialize") && strings.Contains(s, " 1 of 1 ")
	})
	without.wait(t, "the answer alone", func(s string) bool {
		return strings.Contains(s, "← response  initialize") && strings.Contains(s, " 1 of 1 ")
	})
	text.wait(t, "the request", has("✗ → request   initialize"))
	live.says(wire.AgentToClient, `Listening on port 1`)
	with.wait(t, "the line that is not JSON", has("← invalid"))
	with.wait(t, "both", has(" of 2 "))
}

// TestFindingsExported exports the frames that a filter for findings shows.
func TestFindingsExported(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "broken.jsonl")
	term := start(t, screen.Inspector{Filter: `rule:RPC002 !"line 5"`}, portableSubject(t, "broken", broken), 120, 24)
	term.reads(t)
	term.press(t, "X«export what the filter shows to»<^U>"+path+"<Enter>«7 frames written»")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), `"log line `); n != 7 || strings.Contains(string(text), "log line 5") || strings.Contains(string(text), "_log/line") {
		t.Errorf("got\n%s\nwant seven lines that are not JSON", text)
	}
}

// TestRulesCompleted: behind rule: stand the rules of which there are findings.
func TestRulesCompleted(t *testing.T) {
	t.Parallel()
	term := start(t, screen.Inspector{}, portableSubject(t, "broken", broken), 120, 24)
	term.reads(t)
	term.press(t, "/rule:r«RPC002»<Tab><Enter>«filter rule:RPC002»«1 of 8»")
}

// manyBroken returns 66 tapes, on each of which the agent breaks a rule 1,001 times: 1,000
// of these are kept, and of all together 65,536.
func manyBroken(tb testing.TB) screen.Subject {
	text := strings.Replace(hello, `{"acptap":1`, `{"acptap":1,"started":"2026-01-02T15:04:05Z"`, 1) + strings.Repeat(`{"dir":"a2c","at":1,"frame":{"method":"_x"}}`+"\n", 1001)
	store := record.OpenStore(tb.TempDir())
	id, err := store.Import(strings.NewReader(text), "many", nil)
	if err != nil {
		tb.Fatal(err)
	}
	return screen.TapesOf(store, "", slices.Repeat([]string{id}, 66)...)
}

// TestManyFindings: of very many findings some are counted only, and the screen shows the
// others as it does a few.
func TestManyFindings(t *testing.T) {
	t.Parallel()
	term := start(t, screen.Inspector{}, manyBroken(t), 120, 24)
	term.reads(t)
	term.press(t, "«7 findings ✗65,536»«─ frame 1.1 ·»7«RPC005 jsonrpc-member  agent  65,536 times»«and 65,531 more: Space shows them»«RPC005 was broken 530 times more than is listed»")
	term.press(t, "j «1.8  left jsonrpc out»G«RPC005 was broken 530 times»kk«and 64,536 more: /rule:RPC005 among the frames shows them»k<Enter>«─ frame 1.1002 ·»i«JSON-RPC 2.0»<Esc>«─ frame 1.1002 ·»2")
	term.press(t, "G«─ frame 66.1003 ·»e«from the top again»«─ frame 1.3 ·»/is:violation<Enter>«1 of 65,536»G«─ frame 66.538 ·»")
}

// BenchmarkFindings measures actions on 65,536 findings that must be quick, from the key to
// the drawing.
func BenchmarkFindings(b *testing.B) {
	t := open(b, screen.Inspector{}, manyBroken(b), 120, 24)
	t.reads(b)
	for _, bb := range []struct{ name, keys, sees, back, then string }{
		{"Place", "7", "65,536 times", "2", "─ frame 1.1 ·"},
		{"Next", "e", "─ frame 1.3 ·", "g", "─ frame 1.1 ·"},
		{"Filter", "/is:violation<Enter>", "1 of 65,536", "<Esc>g", "─ frame 1.1 ·"},
		{"All", "7gjjj ", "1.8  left jsonrpc out", " «and 65,531 more»2g", "─ frame 1.1 ·"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			for b.Loop() {
				t.press(b, bb.keys)
				t.wait(b, bb.sees, has(bb.sees))
				b.StopTimer()
				t.press(b, bb.back)
				t.wait(b, bb.then, has(bb.then))
				b.StartTimer()
			}
		})
	}
	t.close(b)
}
