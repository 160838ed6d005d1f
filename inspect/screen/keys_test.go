package screen_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/record"
)

// changed is a tape with frames that acptap has changed, made and withheld.
const changed = `{"acptap":1,"started":"2026-11-21T11:40:00Z","command":["agent"],"cwd":"/w"}
{"dir":"c2a","at":0.01,"origin":"withheld","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"dir":"c2a","at":0.011,"origin":"rewritten","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":true}}}}
{"dir":"a2c","at":0.1,"frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
{"dir":"c2a","at":0.2,"origin":"withheld","frame":{"jsonrpc":"2.0","id":1,"method":"session/list","params":{}}}
`

// odd is a tape with all that is not as it should be.
const odd = changed + `{"dir":"a2c","at":0.3,"gap":12345}
{"dir":"a2c","at":0.31,"damage":99}
{"dir":"a2c","at":0.32,"text":"warning: this line is no JSON"}
{"dir":"err","at":0.33,"text":"panic: \u001b[31mno memory\u001b[0m"}
{"dir":"a2c","at":0.34,"origin":"injected","frame":{"jsonrpc":"2.0","id":1,"result":{"sessions":[]}}}
{"dir":"c2a","at":0.4,"frame":{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w"}}}
{"dir":"a2c","at":0.5,"frame":{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"Authentication required"}}}
{"dir":"c2a","at":0.6,"frame":[{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","method":"x/y"}]}
{"dir":"c2a","at":0.7,"signal":"terminated"}
{"dir":"a2c","at":0.8,"exit":{"code":-1,"signal":"terminated"}}
`

// unhappy is a tape on which everything fails once. Its agent was silent twice: once
// while the user was asked, and once for itself.
const unhappy = `{"acptap":1,"protocol":"acp","cwd":"/w"}
{"dir":"c2a","at":0,"frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"dir":"a2c","at":0.1,"frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
{"dir":"c2a","at":0.2,"frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
{"dir":"a2c","at":0.3,"frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}}
{"dir":"c2a","at":1,"frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Mend it"}]}}}
{"dir":"a2c","at":2,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I will "}}}}}
{"dir":"a2c","at":2.1,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"try."}}}}}
{"dir":"a2c","at":2.2,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"a","title":"go test","kind":"execute"}}}}
{"dir":"a2c","at":2.3,"frame":{"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"a"},"options":[{"optionId":"y","name":"Allow","kind":"allow_once"},{"optionId":"n","name":"Reject","kind":"reject_once"}]}}}
{"dir":"c2a","at":60,"frame":{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}}
{"dir":"a2c","at":60.1,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"failed"}}}}
{"dir":"a2c","at":60.2,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"failed","rawOutput":{}}}}}
{"dir":"err","at":65,"text":"retrying"}
{"dir":"a2c","at":74.4,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Another way: "}}}}}
{"dir":"a2c","at":74.5,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"none."}}}}}
{"dir":"a2c","at":75,"text":"warning: out of memory"}
{"dir":"a2c","at":75.1,"gap":345}
{"dir":"a2c","at":76,"frame":{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Internal error"}}}
{"dir":"c2a","at":77,"frame":{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Again"}]}}}
{"dir":"a2c","at":78,"exit":{"code":2}}
`

// TestFailuresOnPages: in the chat and among the turns, e goes to the lines that tell
// of failures or findings, each once, and the tool call that failed before other things were said
// is found where it began.
func TestFailuresOnPages(t *testing.T) {
	for _, tt := range []struct{ name, keys string }{
		{"chat", "3«2 turns»g" +
			"e« 18 of 28»e« 20 of 28»e« 23 of 28»e« 25 of 28»e« 18 of 28»«from the top again»" +
			"E« 25 of 28»«from the bottom again»E« 23 of 28»E« 20 of 28»E« 18 of 28»" +
			"j« 19 of 28»e« 20 of 28»<Enter>«─ frame 14 ·»"},
		{"turns", "4«Turn 2»g" +
			"e« 13 of 27»e« 21 of 27»«failure 1 of 6»e« 23 of 27»e« 18 of 27»e« 26 of 27»«failure 5 of 6»e« 13 of 27»«from the top again»«· 6 failures»E« 26 of 27»«from the bottom again»E« 18 of 27»<Enter>«─ frame 5 ·»"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			term := start(t, screen.Inspector{}, portableSubject(t, "unhappy", unhappy), 100, 30)
			term.reads(t)
			term.press(t, tt.keys)
		})
	}
}

// TestOddScreens shows gaps, invalid lines, errors, and what acptap has changed.
func TestOddScreens(t *testing.T) {
	for _, tt := range []struct{ name, tape, keys string }{{"odd", odd, "eee"}, {"forms", odd, ":2<Enter>d"}, {"failures", unhappy, "eee"}} {
		atSizes(t, tt.name, sizes, func(t *testing.T, name string, s size) {
			term := start(t, screen.Inspector{}, portableSubject(t, "odd", tt.tape), s.width, s.height)
			term.reads(t)
			term.press(t, tt.keys)
			term.golden(t, name)
		})
	}
}

// TestForms shows what acptap has changed in a frame, from both of its forms.
func TestForms(t *testing.T) {
	tests := []struct{ name, keys, want string }{
		{"from what went out", ":2<Enter>d", "frame 1 against frame 2"},
		{"from what came in", ":1<Enter>d", "frame 1 against frame 2"},
		{"nothing in its place", ":4<Enter>d", "nothing came in its place"},
		{"not changed", ":3<Enter>d", "acptap has not changed this frame"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			term := start(t, screen.Inspector{}, portableSubject(t, "tape", changed), 100, 40)
			term.reads(t)
			term.press(t, tt.keys)
			screen := term.wait(t, tt.want, has(tt.want))
			if added := `+      "terminal": true`; strings.Contains(tt.want, "against") && !strings.Contains(screen, added) {
				t.Errorf("%s is not on the screen:\n%s", added, screen)
			}
		})
	}
}

// TestUsesCounted: a request is one use of a method, with its response and whatever
// acptap has made of it.
func TestUsesCounted(t *testing.T) {
	term := start(t, screen.Inspector{}, portableSubject(t, "tape", `{"acptap":1}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}}
{"dir":"c2a","origin":"withheld","frame":{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/w","mcpServers":[]}}}
{"dir":"c2a","origin":"rewritten","frame":{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s9","cwd":"/w","mcpServers":[]}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{}}}
`), 100, 24)
	term.reads(t)
	term.press(t, "5«loadSession                   yes  session/load ×1\n»")
}

// TestPairFiltered says of an answer that the filter hides that it is there.
func TestPairFiltered(t *testing.T) {
	term := start(t, screen.Inspector{}, portableSubject(t, "tape", changed), 100, 40)
	term.reads(t)
	term.press(t, "/dir:c2a<Enter>«of 3 · filter dir:c2a»:1<Enter>%") // that many when all was looked at
	term.wait(t, "why not", has("frame 3 does not fit the filter"))
	term.press(t, "/<^U>kind:request !seq:1<Enter>«of 2 · filter kind:request»:2<Enter>d")
	term.wait(t, "both forms", has("frame 1 against frame 2"))
}

// TestSearchInText goes from place to place in a long text, on to the next value,
// around, and back.
func TestSearchInText(t *testing.T) {
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "line %d", i)
		if i%50 == 30 {
			text.WriteString(" NEEDLE")
		}
		text.WriteString("\\n")
	}
	frame := `{"method":"a","params":{"text":"` + text.String() + `","last":"the needle"}}`
	term := start(t, screen.Inspector{}, portableSubject(t, "tape", `{"acptap":1}`+"\n"+`{"dir":"a2c","frame":`+frame+"}\n"), 100, 24)
	term.reads(t)
	term.press(t, "<Tab>/needle<Enter>«line 30 NEEDLE»n«line 80 NEEDLE»n«line 130 NEEDLE»n«line 180 NEEDLE»n«the needle»n«line 30 NEEDLE»N«the needle»N«line 180 NEEDLE»N«line 130 NEEDLE»")
	term.press(t, "/<^U>NEEDLE<Enter>«search NEEDLE: 3 of 4»n«line 180 NEEDLE»n«from the top again»«search NEEDLE: 1 of 4»/<^U>no such thing<Enter>«not in this frame»")
}

// TestToolCallBackwards goes from frame to frame of a tool call, up and past none of them.
func TestToolCallBackwards(t *testing.T) {
	term := start(t, screen.Inspector{}, subject(t, "acp-go-sdk.jsonl"), 100, 24)
	term.reads(t)
	term.press(t, ":14<Enter>«frame 14 ·»[«frame 12 ·»[«frame 11 ·»]«frame 12 ·»")
}

// TestNothingFits: a filter that shows nothing does not lose the frame.
func TestNothingFits(t *testing.T) {
	sub := subject(t, "acp-go-sdk.jsonl")
	t.Chdir(t.TempDir())
	term := start(t, screen.Inspector{}, sub, 100, 24)
	term.reads(t)
	term.press(t, ":10<Enter>«frame 10 ·»/latency:>1h<Enter>«No frame fits the filter.»")
	if screen := term.text(); strings.Contains(screen, "frame 10") {
		t.Errorf("got\n%s\nwant no frame that is not in the list", screen)
	}
	for _, keys := range []string{"w", "v", "yy", "mD", "<Tab>yv"} {
		term.press(t, keys)
		term.wait(t, keys, func(s string) bool {
			return strings.Contains(s, "no frame is selected") || strings.Contains(s, "mark a frame with m first") || strings.Contains(s, "there is no terminal")
		})
		term.press(t, "M«mouse»M")
	}
	term.press(t, "<Esc><Esc>« 9 of 15»«frame 10 ·»")
}

// TestPages turns pages: the visible part moves with the cursor.
func TestPages(t *testing.T) {
	term := start(t, screen.Inspector{}, subject(t, "mcp-everything.jsonl"), 100, 24)
	term.reads(t)
	first := func(place, want string) {
		t.Helper()
		screen := term.wait(t, place, has(place))
		if line := strings.Split(screen, "\n")[2]; !strings.HasPrefix(line, want) {
			t.Errorf("%s: got the row %q, want %q at its beginning", place, line, want)
		}
	}
	first(" 1 of 75", "    1 ")
	term.press(t, "<PgDn>")
	first(" 10 of 75", "   10 ")
	term.press(t, "jj<^D>")
	first(" 21 of 75", "   19 ")
	term.press(t, "<^U>")
	first(" 12 of 75", "   10 ")
	term.press(t, "<^U><^U>")
	first(" 1 of 75", "    1 ")
	term.press(t, ":75<Enter>« 75 of 75»<PgDn>")
	first(" 75 of 75", "   66 ")
	term.press(t, "6« 1 of 48»<PgDn>« 20 of 48»")
	if screen := term.text(); !strings.Contains(screen, " Method  ") || strings.Contains(screen, "tools/call  ") {
		t.Errorf("got\n%s\nwant the next page", screen)
	}
}

// TestCopy copies to the terminal's clipboard.
func TestCopy(t *testing.T) {
	frame := `{"jsonrpc":"2.0","method":"a/b","params":{"list":["x","y z"],"a.b":"` + "世界" + `"}}`
	tests := []struct{ name, keys, says, want string }{
		{"frame", "yy", "frame sent to the terminal's clipboard, 77 bytes", frame},
		{"text", "<Tab>/y z<Enter>yv", "value sent", "y z"},
		{"element", "<Tab>/y z<Enter>yp", "path sent", "params.list.1"},
		{"member", "<Tab>/世界<Enter>yp", "path sent", `params.a\.b`},
		{"array", "<Tab>/list<Enter>yv", "value sent", `["x","y z"]`},
		{"all", "<Tab>gyp", "path sent", "@this"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			term := start(t, screen.Inspector{}, portableSubject(t, "tape", `{"acptap":1}`+"\n"+`{"dir":"a2c","frame":`+frame+"}\n"), 100, 40)
			term.reads(t)
			term.press(t, tt.keys)
			if screen := term.wait(t, tt.says, has(tt.says)); strings.Count(screen, tt.says) != 1 {
				t.Errorf("got\n%s\nwant what was done once", screen)
			}
			if got := string(term.GetClipboardData()); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestCopyTooMuch sends nothing to the terminal that it would drop, and says
// which key helps.
func TestCopyTooMuch(t *testing.T) {
	frame := `{"method":"a","params":{"text":"` + strings.Repeat("x", 65<<10) + `"}}`
	for _, keys := range []string{"yy", "<Tab>/xxx<Enter>yv"} {
		term := start(t, screen.Inspector{}, portableSubject(t, "tape", `{"acptap":1}`+"\n"+`{"dir":"a2c","frame":`+frame+"}\n"), 100, 40)
		term.reads(t)
		term.press(t, keys)
		term.wait(t, "the advice", has("is too large for the clipboard; w writes the frame to a file"))
		if got := term.GetClipboardData(); got != nil {
			t.Errorf("%s: got %d bytes in the clipboard, want none", keys, len(got))
		}
		term.press(t, "<Esc>w")
		term.wait(t, "the prompt", has("write the frame to: frame-1.json"))
	}
}

// TestWrite writes a frame to a file, and asks before it replaces one.
func TestWrite(t *testing.T) {
	t.Chdir(t.TempDir())
	term := start(t, screen.Inspector{}, portableSubject(t, "tape", changed), 100, 40)
	term.reads(t)
	term.press(t, ":3<Enter>w<Enter>")
	term.wait(t, "that it is written", has("55 B written to frame-3.json"))
	got, err := os.ReadFile("frame-3.json")
	if want := `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`; err != nil || string(got) != want {
		t.Errorf("got %s and %v, want %s", got, err, want)
	}
	if err := os.WriteFile("frame-3.json", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	term.press(t, "w<Enter>«frame-3.json is there already. Replace it? yes or no:»no<Enter>«write the frame to: frame-3.json»")
	term.press(t, "x<Enter>") // the name continues
	term.wait(t, "that it is written", has("written to frame-3.jsonx"))
	if got, err := os.ReadFile("frame-3.json"); err != nil || string(got) != "old" {
		t.Errorf("got %s and %v, want that it is as it was", got, err)
	}
	term.press(t, "w<Enter>«is there already»yes<Enter>«55 B written to frame-3.json · warning (i) · 1 failure (e)\n»")
	if got, err := os.ReadFile("frame-3.json"); err != nil || string(got) == "old" {
		t.Errorf("got %s and %v, want another", got, err)
	}
}

// TestView passes a frame to the user's pager and editor, in a readable form, and reports
// their errors.
func TestView(t *testing.T) {
	var variable, path, text string
	in := screen.Inspector{View: func(v, p string) error {
		b, err := os.ReadFile(p)
		variable, path, text = v, p, string(b)
		return errors.Join(err, errors.New("more: no such thing"))
	}}
	term := start(t, in, portableSubject(t, "tape", changed), 100, 40)
	term.reads(t)
	for key, want := range map[string]string{"v": "PAGER", "V": "EDITOR"} {
		term.press(t, ":3<Enter>"+key)
		term.wait(t, "the complaint", has("more: no such thing"))
		if variable != want || text != "{\n  \"jsonrpc\": \"2.0\",\n  \"id\": 0,\n  \"result\": {\n    \"protocolVersion\": 1\n  }\n}\n" {
			t.Errorf("%s: got %s with\n%s", key, variable, text)
		}
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", path, err)
		}
		term.press(t, "<Esc>")
		term.wait(t, "the list", func(s string) bool { return !strings.Contains(s, "no such thing") })
	}
}

// TestExport exports the frames that the filter shows.
func TestExport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "some.jsonl")
	term := start(t, screen.Inspector{}, subject(t, "acp-go-sdk.jsonl"), 100, 24)
	term.reads(t)
	term.press(t, "/update:tool_call<Enter>")
	term.wait(t, "the filter", has("1 of 2 "))
	term.press(t, "X<^U>"+path+"<Enter>")
	term.wait(t, "that it is done", has("2 frames written to "))
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), `"sessionUpdate":"tool_call"`); n != 2 || strings.Count(string(b), "\n") != 3 {
		t.Errorf("got %d tool calls, want a header and 2, in\n%s", n, b)
	}
}

// TestExportAsked asks before it replaces a file, and keeps the typed name if the file cannot
// be written. The proposed name contains nothing that a peer has chosen.
func TestExportAsked(t *testing.T) {
	t.Chdir(t.TempDir())
	const id = "20261121T114000000-aaa111"
	store := record.OpenStore(t.TempDir())
	_, err := store.Import(strings.NewReader(`{"acptap":1,"tape":"`+id+`","started":"2026-11-21T11:40:00Z"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"../evil","prompt":[]}}}
`), "tape", nil)
	if err != nil {
		t.Fatal(err)
	}
	term := start(t, screen.Inspector{Store: store}, screen.TapesOf(store, "../evil", id), 140, 24)
	term.reads(t)
	term.press(t, "X«shows to: "+id+".jsonl»<^U>no/such<Enter>«shows to: no/such»«no such file or directory»<^U>here.jsonl<Enter>«1 frames written to here.jsonl»")
	old, err := os.ReadFile("here.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("here.jsonl", []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	term.press(t, "X<^U>here.jsonl<Enter>«here.jsonl is there already. Replace it? yes or no:»<Enter>«shows to: here.jsonl»<Enter>«already»yes<Enter>«1 frames written to here.jsonl»")
	if got, err := os.ReadFile("here.jsonl"); err != nil || string(got) != string(old) {
		t.Errorf("got %s and %v, want %s", got, err, old)
	}
}

// TestDelete asks before it deletes, and takes nothing but yes for a yes.
func TestDelete(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	if _, err := store.Import(strings.NewReader(changed), "tape", nil); err != nil {
		t.Fatal(err)
	}
	term := start(t, screen.Inspector{Store: store}, screen.Subject{}, 120, 24)
	term.wait(t, "the tape", has("recording"))
	for _, keys := range []string{"<^X><Enter>", "<^X>no<Enter>", "<^X>y<Enter><Esc>", "<^X>yes<Esc>"} {
		term.press(t, keys)
		term.wait(t, "the end of the question", func(s string) bool { return strings.Contains(s, "^X delete") && !strings.Contains(s, "yes or no") })
		if tapes, err := store.Tapes(); err != nil || len(tapes) != 1 {
			t.Fatalf("%s: got %v and %v, want the tape", keys, tapes, err)
		}
	}
	term.press(t, "<^X>yes<Enter>")
	term.wait(t, "that it is gone", has("There are no tapes"))
}

// click presses and releases the left button.
func (t *terminal) click(x, y int) {
	t.post(tcell.NewEventMouse(x, y, tcell.ButtonPrimary, tcell.ModNone))
	t.post(tcell.NewEventMouse(x, y, tcell.ButtonNone, tcell.ModNone))
}

// TestMouse selects by clicks, scrolls by the wheel, and changes the place by a
// click on its name.
func TestMouse(t *testing.T) {
	term := start(t, screen.Inspector{}, subject(t, "mcp-everything.jsonl"), 100, 24)
	screen := term.wait(t, "the list", has("1 of 75"))
	term.click(20, 5) // the fourth row
	term.wait(t, "the row that was clicked", has(" 4 of 75"))
	term.click(20, 16)
	term.wait(t, "the keys of the pane", has("Esc back"))
	term.post(tcell.NewEventMouse(20, 4, tcell.WheelDown, tcell.ModNone))
	term.wait(t, "the next rows at the top", func(s string) bool { return strings.HasPrefix(strings.Split(s, "\n")[2], "    4 ") })
	term.post(tcell.NewEventMouse(20, 4, tcell.WheelUp, tcell.ModNone))
	term.wait(t, "the first row", func(s string) bool { return strings.HasPrefix(strings.Split(s, "\n")[2], "    1 ") })
	for _, place := range []struct{ name, sees string }{{"4 turns", "no turns"}, {"6 statistics", "Method"}, {"2 frames", "of 75"}} {
		bar, _, _ := strings.Cut(screen, "\n")
		term.click(strings.Index(bar, place.name)+1, 0)
		term.wait(t, place.name, has(place.sees))
	}
	term.press(t, "M")
	term.wait(t, "that the mouse is off", has("mouse off: the terminal selects text; M turns it on"))
	term.press(t, "M")
	term.wait(t, "that it is on", func(s string) bool { return !strings.Contains(s, "mouse off") })
}
