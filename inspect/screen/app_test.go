package screen_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/inspect/tapecheck"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// A size is one of a screen.
type size struct{ width, height int }

// sizes are the screen sizes of the golden files.
var sizes = []size{{80, 24}, {120, 40}, {200, 50}}

// atSizes runs a test for each size, at the same time: most of it is waiting. A
// short run is one size: the race detector finds no more in another.
func atSizes(t *testing.T, name string, sizes []size, test func(t *testing.T, name string, s size)) {
	for i, s := range sizes {
		if i > 0 && testing.Short() {
			break
		}
		name := fmt.Sprintf("%s-%dx%d", name, s.width, s.height)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, name, s)
		})
	}
}

// TestScreens presses keys and compares the resulting screen with testdata/screen.
func TestScreens(t *testing.T) {
	tests := []struct{ name, tape, keys string }{
		{"frames", "acp-go-sdk.jsonl", ""},
		{"frames-mcp", "mcp-everything.jsonl", "jj"},
		{"unfolded", "acp-go-sdk.jsonl", "z:7<Enter>"},
		{"pane", "acp-go-sdk.jsonl", ":9<Enter><Enter>/My<Enter>"},
		{"raw", "acp-go-sdk.jsonl", ":9<Enter>x"},
		{"hex", "acp-go-sdk.jsonl", ":9<Enter>xx"},
		{"filter", "acp-go-sdk.jsonl", "/kind:request | is:error<Enter>"},
		{"filter-wrong", "acp-go-sdk.jsonl", "/methd:x<Enter>"},
		{"filter-none", "acp-go-sdk.jsonl", "/latency:>1h<Enter>"},
		{"times", "acp-go-sdk.jsonl", "tj"},
		{"last", "acp-go-sdk-rejected.jsonl", "G"},
		{"keys", "acp-go-sdk.jsonl", "?"},
		{"chat", "acp-go-sdk.jsonl", "3"},
		{"chat-unfolded", "acp-go-sdk.jsonl", "3«11:37:12»z"},
		{"chat-search", "acp-go-sdk.jsonl", "3«11:37:12»/project<Enter>«search project: »n"},
		{"chat-search-typed", "acp-go-sdk.jsonl", "3«11:37:12»/# my"},
		{"chat-keys", "acp-go-sdk.jsonl", "3«11:37:12»?"},
		{"statistics-search", "mcp-everything.jsonl", "6« 1 of 48»/tools<Enter>n"},
		{"filter-text", "acp-go-sdk.jsonl", "/project<Enter>«1 of 5»"},
		{"turns", "acp-go-sdk-rejected.jsonl", "4"},
		{"capabilities", "acp-v2.jsonl", "5"},
		{"capabilities-mcp", "mcp-everything.jsonl", "5"},
		{"capabilities-discovered", "mcp-2026-07-28.jsonl", "5"},
		{"statistics", "acp-go-sdk.jsonl", "6"},
		{"statistics-mcp", "mcp-everything.jsonl", "6"},
		{"turns-idle", "../../inspect/screen/testdata/turns-idle.jsonl", "4"},
		{"turns-alone", "../../inspect/screen/testdata/turns-idle.jsonl", "4«Turn 1»jjjjz"},
		{"rules", "../../inspect/screen/testdata/under-rules.jsonl", "/rule:*<Enter>«1 of 8»"},
		{"statistics-rules", "../../inspect/screen/testdata/under-rules.jsonl", "6"},
		{"turns-again", "acp-npm-sdk-again.jsonl", "4"},
		{"statistics-again", "acp-npm-sdk-again.jsonl", "6"},
		{"turns-loaded", "../../inspect/screen/testdata/acp-npm-sdk-loaded.jsonl", "4"},
		{"statistics-loaded", "../../inspect/screen/testdata/acp-npm-sdk-loaded.jsonl", "6"},
		{"request", "acp-go-sdk.jsonl", ":16<Enter>%"},
		{"response", "acp-go-sdk.jsonl", ":12<Enter>%"},
		{"tool-call", "acp-go-sdk.jsonl", ":11<Enter>]"},
		{"method", "mcp-everything.jsonl", ":20<Enter>}"},
		{"error", "mcp-everything.jsonl", "e"},
		{"only", "acp-go-sdk.jsonl", ":8<Enter>o+"},
		{"without", "acp-go-sdk.jsonl", ":10<Enter>-"},
		{"turn", "acp-v2.jsonl", ":9<Enter>O"},
		{"diff", "acp-go-sdk.jsonl", ":8<Enter>m:11<Enter>D"},
		{"complete", "acp-go-sdk.jsonl", "/upd"},
		{"chat-folded", "acp-go-sdk.jsonl", ":6<Enter>3«11:37:12» "},
		{"chat-one-unfolded", "acp-go-sdk.jsonl", ":8<Enter>3«11:37:12» "},
	}
	subjects := map[string]screen.Subject{}
	for _, tt := range tests {
		if subjects[tt.tape].Open == nil {
			subjects[tt.tape] = subject(t, tt.tape)
		}
		sub := subjects[tt.tape]
		atSizes(t, tt.name, sizes, func(t *testing.T, name string, s size) {
			term := start(t, screen.Inspector{}, sub, s.width, s.height)
			term.reads(t)
			term.press(t, tt.keys)
			term.golden(t, name)
		})
	}
}

// TestFailuresCounted: a listing of the store counts the same failures as the frames have,
// the filter finds and the status line counts. e visits them and the frames with findings.
func TestFailuresCounted(t *testing.T) {
	texts := map[string]string{"odd": odd, "unhappy": unhappy, "shim": `{"acptap":1,"protocol":"acp"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"c","prompt":[]}},"origin":"withheld"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"a","prompt":[]}},"origin":"rewritten"}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no","data":{"sessionId":"a"}}},"origin":"withheld"}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no","data":{"sessionId":"c"}}},"origin":"rewritten"}
`}
	files, err := filepath.Glob(filepath.Join(tapeDir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got %v and %v, want tapes", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text)
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			store := record.OpenStore(t.TempDir())
			id, err := store.Import(strings.NewReader(text), name, nil)
			if err != nil {
				t.Fatal(err)
			}
			list, err := store.List()
			if err != nil || len(list.Tapes) != 1 {
				t.Fatalf("got %v and %v, want a tape", list.Tapes, err)
			}
			failed := failedFrames(t, store, id)
			if n := list.Tapes[0].Failures; n != uint64(len(failed)) {
				t.Errorf("the store counts %d failures, and %v are found", n, failed)
			}
			term := start(t, screen.Inspector{}, screen.TapesOf(store, "", id), 100, 24)
			term.reads(t)
			if n := len(failed); n > 0 { // it opens on one of them
				term.press(t, fmt.Sprintf("« of %d (e)\n»", n))
			} else if strings.Contains(term.text(), "(e)") {
				t.Errorf("got\n%s\nwant no failure", term.text())
			}
			stops := slices.Compact(slices.Sorted(slices.Values(append(failed, brokenFrames(t, store, id)...))))
			term.press(t, "gz") // a frame with a finding may be in a run
			for _, seq := range stops {
				if seq > 1 {
					term.press(t, fmt.Sprintf("e«─ frame %d ·»", seq))
				}
			}
			if len(stops) == 0 {
				term.press(t, "e«no failure or finding»jE«no failure or finding»")
				return
			}
			term.press(t, fmt.Sprintf("e«from the top again»«─ frame %d ·»E«from the bottom again»", stops[0]))
			for _, seq := range slices.Backward(stops) {
				term.press(t, fmt.Sprintf("«─ frame %d ·»E", seq))
			}
			term.press(t, "«from the bottom again»")
		})
	}
}

// brokenFrames returns the frames of a tape on which there are warnings or violations.
func brokenFrames(t *testing.T, store *record.Store, id string) (list []uint64) {
	t.Helper()
	tape, err := store.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := reading.Agents(tape)
	if err != nil {
		t.Fatal(err)
	}
	c := conform.NewChecker(tapecheck.Options(parts...))
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		c.Add(&f)
	}
	c.End()
	for _, f := range c.Findings() {
		if f.Seq != 0 && f.Strength >= conform.Warning {
			list = append(list, f.Seq)
		}
	}
	return list
}

// failedFrames returns the frames of a tape that has ended which is:failed finds.
func failedFrames(t *testing.T, store *record.Store, id string) (list []uint64) {
	t.Helper()
	tape, err := store.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	want, err := filter.Parse("is:failed")
	if err != nil {
		t.Fatal(err)
	}
	var track filter.Tracker
	track.LookAhead(tape.Rows(1), true)
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if s := track.Observe(&f); want.Match(&s) {
			list = append(list, f.Seq)
		}
	}
	return list
}

// TestNumbersLead goes from a row of the numbers to the slowest call in it.
func TestNumbersLead(t *testing.T) {
	term := start(t, screen.Inspector{}, subject(t, "mcp-everything.jsonl"), 100, 60)
	term.reads(t)
	term.press(t, "6« 1 of 48»<Enter>«frame 46 · request tools/call»6« 1 of 48»"+strings.Repeat("j", 26)+"«27 of 48»<Enter>«frame 24 · request tools/call»")
}

// TestNumbersOfManyTools lists those that were called most.
func TestNumbersOfManyTools(t *testing.T) {
	var tape strings.Builder
	fmt.Fprintln(&tape, `{"acptap":1}`)
	id := 0
	call := func(tool, result string) {
		id++
		fmt.Fprintf(&tape, `{"at":%d,"dir":"c2a","frame":{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q}}}`+"\n", id, id, tool)
		fmt.Fprintf(&tape, `{"at":%d,"dir":"a2c","frame":{"jsonrpc":"2.0","id":%d,"result":%s}}`+"\n", id, id, result)
	}
	for i := range 150 {
		call(fmt.Sprintf("tool-%03d", i), `{}`)
	}
	call("tool-149", `{"isError":true,"content":[]}`)
	term := start(t, screen.Inspector{}, portableSubject(t, "tape", tape.String()), 100, 130)
	term.reads(t)
	term.press(t, "6")
	s := term.wait(t, "the tools", has("… and 50 more"))
	for _, want := range []string{"\n tool-149                                   2      1  ", "\n tool-098     "} {
		if !strings.Contains(s, want) {
			t.Errorf("got\n%s\nwant %q in it", s, want)
		}
	}
	if strings.Contains(s, "tool-099") {
		t.Errorf("got\n%s\nwant no tool-099", s)
	}
}

// TestSizes goes through all places on screens of odd sizes, and on one that
// changes its size meanwhile.
func TestSizes(t *testing.T) {
	t.Parallel()
	sub := subject(t, "mcp-everything.jsonl")
	for _, size := range []struct{ width, height int }{{1, 1}, {2, 2}, {10, 3}, {40, 9}, {300, 80}} {
		term := start(t, screen.Inspector{}, sub, size.width, size.height)
		for _, resized := range []struct{ width, height int }{size, {1, 1}, {80, 24}} {
			term.SetSize(resized.width, resized.height)
			term.post(tcell.NewEventResize(resized.width, resized.height))
			term.press(t, "3jG4j5j6j?<Esc>2GgjzzxxxttT<Tab>jG<Enter>:20<Enter>/echo<Enter>n<Esc>/kind:x<Enter><Esc>")
		}
		term.press(t, "2")
		term.wait(t, "the list", func(s string) bool { return strings.Contains(s, "of 75") })
	}
}

// TestChatAtFrame begins in the conversation, at a frame that is not read by then.
func TestChatAtFrame(t *testing.T) {
	sub := subject(t, "acp-go-sdk.jsonl")
	sub.Frame = 8
	var in screen.Inspector
	if err := in.Place.Set("chat"); err != nil {
		t.Fatal(err)
	}
	term := start(t, in, sub, 100, 40)
	term.press(t, "« 10 of 20» «▾ read · Reading»2«frame 8 ·»")
}

// TestChatResized wraps a conversation anew when the screen has another size.
func TestChatResized(t *testing.T) {
	term := start(t, screen.Inspector{}, subject(t, "acp-go-sdk.jsonl"), 120, 40)
	term.reads(t)
	term.press(t, "3")
	term.golden(t, "chat-120x40")
	term.SetSize(80, 24)
	term.post(tcell.NewEventResize(80, 24))
	term.golden(t, "chat-80x24")
}

// TestStore opens a tape from the list of the store, and deletes it.
func TestStore(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	term := start(t, screen.Inspector{Store: store}, screen.Subject{}, 100, 24)
	term.wait(t, "how to record", has("acptap proxy --"))
	f, err := os.Open(filepath.Join(tapeDir, "acp-go-sdk.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	_, err = store.Import(f, "tape", nil)
	if err != nil {
		t.Fatal(err)
	}
	term.wait(t, "a tape that has appeared", has("Hello, agent!"))
	term.press(t, "<Enter>")
	term.wait(t, "its summary", has("asked     Hello, agent!"))
	term.press(t, "2")
	term.wait(t, "its frames", has("session/prompt"))
	term.press(t, "1«Hello, agent!»<^X>yes<Enter>")
	term.wait(t, "the empty store", has("acptap proxy --"))
	if tapes, err := store.Tapes(); err != nil || len(tapes) > 0 {
		t.Errorf("got %v and %v, want no tapes", tapes, err)
	}
}

// TestGone deletes a tape while it is looked at.
func TestGone(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	f, err := os.Open(filepath.Join(tapeDir, "mcp-everything.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	id, err := store.Import(f, "tape", nil)
	if err != nil {
		t.Fatal(err)
	}
	term := start(t, screen.Inspector{}, screen.Subject{Name: id, Open: func() ([]*record.Tape, error) { return tapes(store, id) }}, 100, 24)
	term.reads(t)
	if _, err := store.Delete(id); err != nil {
		t.Fatal(err)
	}
	term.press(t, "G")
	term.wait(t, "the error", func(s string) bool { return strings.Contains(s, "no such tape") })
	term.press(t, "/is:error<Enter>")
	term.wait(t, "the error", func(s string) bool { return strings.Contains(s, "no such tape") })
}

// A terminal that cannot be used is an error, also one of a locale that tcell
// does not know.
func TestRunWithoutTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("LC_ALL", "C.no-such-charset")
	err := screen.Inspector{Store: record.OpenStore(t.TempDir())}.Run(t.Context(), screen.Subject{})
	if err == nil || !strings.HasPrefix(err.Error(), "the terminal: ") {
		t.Errorf("got %v", err)
	}
}
