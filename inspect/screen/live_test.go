package screen_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// TestLiveOpen: while a tape is recorded, a request without an answer is among the
// open ones from when it comes until its answer or its cancellation does, and only
// then among the others, whether the filter asks for its bytes or not.
func TestLiveOpen(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, filter string }{
		{"fields", "is:open"},
		{"bytes", "is:open jsonrpc"},
		{"past", "is:open !turn:7"},
		{"not", "!is:open kind:request"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := record.OpenStore(t.TempDir())
			live := begin(t, store, "agent", "")
			defer live.ends()
			say := func(dir wire.Direction, members ...string) {
				t.Helper()
				for _, text := range members {
					live.says(dir, `{"jsonrpc":"2.0",`+text+"}")
				}
			}
			prompt := `"method":"session/prompt","params":{"sessionId":"s","prompt":[]}`
			say(wire.ClientToAgent, `"id":1,`+prompt, `"id":2,`+prompt)
			say(wire.AgentToClient, `"id":1,"result":{"stopReason":"end_turn"}`)
			term := start(t, screen.Inspector{Filter: tt.filter}, screen.TapesOf(store, "", live.Tape()), 120, 24)
			// shows waits until the list has the frames with these numbers, and no other.
			shows := func(what string, seqs ...string) {
				t.Helper()
				if strings.HasPrefix(tt.filter, "!") {
					seqs = without([]string{"1", "2", "4", "5"}, seqs)
				}
				term.wait(t, what, func(s string) bool {
					var got []string
					list, _, _ := strings.Cut(s, "\n─")
					for line := range strings.Lines(list) {
						if fields := strings.Fields(line); len(fields) > 4 && fields[3] == "request" {
							got = append(got, fields[0])
						}
					}
					return strings.Join(got, " ") == strings.Join(seqs, " ") && strings.Contains(s, " of "+string(rune('0'+len(seqs))))
				})
			}
			if tt.name == "not" {
				term.wait(t, "the answered request", has("1 of 1"))
			} else {
				shows("the open request", "2")
			}
			say(wire.ClientToAgent, `"id":3,`+prompt)
			say(wire.AgentToClient, `"id":7,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}`)
			if tt.name != "not" {
				shows("those that were made meanwhile", "2", "4", "5")
			}
			say(wire.AgentToClient, `"id":2,"result":{"stopReason":"end_turn"}`)
			shows("that an old one is answered", "4", "5")
			say(wire.AgentToClient, `"method":"$/cancel_request","params":{"requestId":7}`)
			shows("that a new one is taken back", "4")
			say(wire.AgentToClient, `"id":3,"result":{"stopReason":"end_turn"}`)
			shows("that all are answered")
		})
	}
}

// TestLivePermission: while a tape is recorded, a permission request matches a filter for the
// decision from the moment of the answer.
func TestLivePermission(t *testing.T) {
	t.Parallel()
	for _, filter := range []string{"permission:rejected", "permission:rejected jsonrpc"} {
		t.Run(filter, func(t *testing.T) {
			t.Parallel()
			store := record.OpenStore(t.TempDir())
			live := begin(t, store, "agent", "")
			defer live.ends()
			ask := func(id string) {
				live.says(wire.AgentToClient, `{"jsonrpc":"2.0","id":`+id+`,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c`+id+`"},"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}}`)
			}
			answer := func(id, option string) {
				live.says(wire.ClientToAgent, `{"jsonrpc":"2.0","id":`+id+`,"result":{"outcome":{"outcome":"selected","optionId":"`+option+`"}}}`)
			}
			ask("1")
			answer("1", "n")
			ask("2")
			term := start(t, screen.Inspector{Filter: filter}, screen.TapesOf(store, "", live.Tape()), 120, 24)
			term.wait(t, "the request that was rejected before, and its answer", has("2 of 2"))
			answer("2", "n")
			term.wait(t, "the one that is rejected now", has("4 of 4"))
			ask("3")
			answer("3", "y")
			ask("4")
			answer("4", "n")
			term.wait(t, "the one that came meanwhile", has("6 of 6"))
		})
	}
}

// TestLiveUnanswered: a request is a failure from when its tape ends without an answer.
func TestLiveUnanswered(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ filter, before, after string }{
		{"is:failed", " 0 of 0", " of 2 (e)"},
		{"failure:unanswered session", " 0 of 0", " of 1 (e)"},
		{"!is:failed kind:request", " 1 of 1", "No frame fits"},
		{"kind:request", " 1 of 1", " of 1 (e)"},
	} {
		t.Run(tt.filter, func(t *testing.T) {
			t.Parallel()
			store := record.OpenStore(t.TempDir())
			live := begin(t, store, "agent", "")
			live.prompts("hello")
			term := start(t, screen.Inspector{Filter: tt.filter}, screen.TapesOf(store, "", live.Tape()), 120, 24)
			term.wait(t, "what there is", has(tt.before))
			live.Exit(3, nil, [wire.Directions]int64{})
			live.ends()
			term.wait(t, "that it has ended", has(tt.after))
		})
	}
}

func without(all, some []string) (rest []string) {
	for _, s := range all {
		if !strings.Contains(" "+strings.Join(some, " ")+" ", " "+s+" ") {
			rest = append(rest, s)
		}
	}
	return rest
}

// TestSeekInBackground: while a seek waits for its tapes, keys are taken.
func TestSeekInBackground(t *testing.T) {
	t.Parallel()
	sub := subject(t, "acp-go-sdk.jsonl")
	open, held, release := sub.Open, make(chan struct{}), make(chan struct{})
	var hold atomic.Bool
	sub.Open = func() ([]*record.Tape, error) {
		if hold.Swap(false) {
			close(held)
			<-release
		}
		return open()
	}
	term := start(t, screen.Inspector{}, sub, 100, 24)
	t.Cleanup(sync.OnceFunc(func() { // before the inspector ends
		select {
		case <-release:
		default:
			close(release)
		}
	}))
	term.reads(t)
	term.press(t, ":11<Enter>«frame 11 ·»")
	hold.Store(true)
	term.press(t, "]")
	<-held
	term.press(t, "?«Keys in the list»<Esc>«frame 11 ·»")
	close(release)
	term.wait(t, "the next of the tool call", has("frame 12 ·"))
}

// TestLiveHangs: a hang on a tape being recorded appears in the status line and next to the
// tape in the store, until the work resumes.
func TestLiveHangs(t *testing.T) {
	t.Parallel()
	store := record.OpenStore(t.TempDir())
	live := begin(t, store, "agent", "")
	defer live.ends()
	live.says(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
	term := start(t, screen.Inspector{Store: store, After: 200 * time.Millisecond}, screen.TapesOf(store, "", live.Tape()), 80, 24)
	term.wait(t, "that it is silent", has(" · ⏳"))
	term.press(t, "1«⏳»")
	term.wait(t, "in which way", has(" silent "))
	live.says(wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`)
	term.wait(t, "that it goes on", func(s string) bool { return strings.Contains(s, "●") && !strings.Contains(s, "silent") })
	term.press(t, "2«session/prompt»")
	term.wait(t, "nothing that hangs", func(s string) bool { return !strings.Contains(s, "⏳") })
}
