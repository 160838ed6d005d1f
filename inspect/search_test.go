package inspect_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect"
	"github.com/acptap/acptap/inspect/filter"
	"github.com/acptap/acptap/record"
)

// twice makes a store with a session on two tapes, and returns their ids.
func twice(tb testing.TB) (store *record.Store, ids []string) {
	tb.Helper()
	store = record.OpenStore(tb.TempDir())
	for _, text := range []string{
		`{"acptap":1,"started":"2026-11-20T10:00:00Z","name":"agent"}
{"dir":"c2a","at":1,"frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"on monday"}]}}}
{"dir":"a2c","at":2,"frame":{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"s2","path":"/w/a"}}}
{"dir":"a2c","at":3,"frame":{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}}
`,
		`{"acptap":1,"started":"2026-11-21T10:00:00Z","name":"agent"}
{"dir":"c2a","at":1,"frame":{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s1","cwd":"/w","mcpServers":[]}}}
{"dir":"a2c","at":2,"frame":{"jsonrpc":"2.0","id":1,"result":{}}}
{"dir":"c2a","at":3,"frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"on tuesday"}]}}}
{"dir":"a2c","at":4,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"well"}}}}}
{"dir":"a2c","at":6.5,"frame":{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"out of tokens"}}}
`,
	} {
		id, err := store.Import(strings.NewReader(text), "tape", nil)
		if err != nil {
			tb.Fatal(err)
		}
		ids = append(ids, id)
	}
	return store, ids
}

func TestSearch(t *testing.T) {
	store, ids := twice(t)
	tests := []struct {
		query string
		want  []string
	}{
		{"tokens", []string{ids[1] + " 5"}},
		{"kind:request", []string{ids[1] + " 1", ids[1] + " 3", ids[0] + " 1", ids[0] + " 2"}},
		{"latency:>2s", []string{ids[1] + " 5"}},
		{"is:open", []string{ids[0] + " 2"}},
		{"turn:1 kind:request", []string{ids[1] + " 3", ids[0] + " 1"}},
		{"nowhere", nil},
	}
	for _, tt := range tests {
		want, err := filter.Parse(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for hit, err := range (inspect.Search{Store: store, Filter: want}).Hits(t.Context()) {
			if err != nil {
				t.Fatalf("%s: %v", tt.query, err)
			}
			got = append(got, hit.Tape.Tape+" "+string(rune('0'+hit.Frame.Seq)))
		}
		if strings.Join(got, ", ") != strings.Join(tt.want, ", ") {
			t.Errorf("%s: got %v, want %v", tt.query, got, tt.want)
		}
	}
}

func TestSearchCancelled(t *testing.T) {
	store, _ := twice(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var last error
	for _, last = range (inspect.Search{Store: store}).Hits(ctx) {
		n++
		cancel()
	}
	if n != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("got %d results, the last with %v; want a hit and the cause of the end", n, last)
	}
}

// TestSearchPlace searches all tapes from the list of frames, opens what is found
// and goes back.
func TestSearchPlace(t *testing.T) {
	store, ids := twice(t)
	term := start(t, inspect.Inspector{Store: store, Now: now}, inspect.TapesOf(store, "", ids[0]), 100, 24)
	term.reads(t)
	term.press(t, "sread_text_file<Enter>")
	term.wait(t, "what is found", func(s string) bool {
		return strings.Contains(s, ids[0]+"  2026-11-20 10:00 agent") && strings.Contains(s, "/w/a") && strings.Contains(s, " s search ")
	})
	term.press(t, "s«search all tapes: read_text_file»"+strings.Repeat("<Backspace>", 14)+"kind:response<Enter>")
	term.wait(t, "the tapes, the newest first", func(s string) bool {
		monday, tuesday := strings.Index(s, ids[0]), strings.Index(s, ids[1])
		return 0 < tuesday && tuesday < monday && strings.Contains(s, "out of tokens") && strings.Contains(s, "3.50 s")
	})
	term.press(t, "jj<Enter>")
	term.wait(t, "the frame on its tape", func(s string) bool {
		return strings.Contains(s, "5 of 5") && strings.Contains(s, "frame 5 · response session/prompt")
	})
	term.press(t, "<Esc>")
	term.wait(t, "what is found", has(ids[0]+"  2026-11-20"))
	term.press(t, "<Esc>")
	term.wait(t, "the store: another tape was open when the search began", has("Tape or session"))
	term.press(t, "2«frame 5 · response session/prompt»s<^U>nowhere<Enter>«Nothing was found»s<Esc><Esc>«frame 5 · response session/prompt»")
}

// TestSearchDeleted goes back from what was found when the tape from which it was
// searched has been deleted.
func TestSearchDeleted(t *testing.T) {
	store, ids := twice(t)
	term := start(t, inspect.Inspector{Store: store}, inspect.Subject{}, 120, 24)
	term.press(t, "«"+ids[1]+"»<Enter>«1 of 5»sread_text_file<Enter>")
	term.wait(t, "the end of the search", func(s string) bool { return strings.Contains(s, "/w/a") && !strings.Contains(s, "Esc ends it") })
	term.press(t, "1«^X delete»<^X>yes<Enter>")
	term.wait(t, "that it is deleted, and nothing is open", func(s string) bool {
		return strings.Contains(s, ids[0]) && !strings.Contains(s, "imported     "+ids[1]) && !strings.Contains(s, "Esc back")
	})
	tab := term.text()
	tab, _, _ = strings.Cut(tab, " s search")
	term.click(len(tab)+1, 0)
	term.press(t, "«/w/a»<Esc>«"+ids[0]+"»«^X delete   s search   ? keys»")
}

// TestSession shows a session that is on two tapes.
func TestSession(t *testing.T) {
	store, ids := twice(t)
	term := start(t, inspect.Inspector{}, inspect.TapesOf(store, "s1", ids...), 120, 40)
	term.reads(t)
	term.golden(t, "session-120x40")
	term.press(t, ":2.5<Enter>")
	term.wait(t, "a frame of the second tape", has("frame 2.5 · response session/prompt · answers 2.3 after 3.50 s"))
	term.press(t, "%")
	term.wait(t, "its request", has("frame 2.3 · request"))
	term.press(t, ":17<Enter>«there is no frame 2.17»<Esc>w«write the frame to: frame-2.3.json»<Esc>")
	term.press(t, ":4<Enter>")
	term.wait(t, "a frame of the same tape", has("frame 2.4 · notification"))
	term.press(t, "O")
	term.wait(t, "the second turn", func(s string) bool { return strings.Contains(s, "turn:2") && strings.Contains(s, "2 of 3 ") })
	term.press(t, "<Backspace>:1.1<Enter>")
	term.wait(t, "the first tape", has("frame 1.1 · request"))
	term.press(t, "3")
	term.wait(t, "the conversation", func(s string) bool { return strings.Contains(s, "on monday") && strings.Contains(s, "on tuesday") })
	term.press(t, "4")
	term.wait(t, "the turns", func(s string) bool { return strings.Contains(s, "Turn 1") && strings.Contains(s, "Turn 2") })
}
