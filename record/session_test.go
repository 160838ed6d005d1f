package record_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
)

// A client may ask for a session that does not exist. A session that is only requested, or
// that gets nothing but errors, does not count; one with a conversation does.
func TestSessionsThatExist(t *testing.T) {
	const (
		load   = `{"at":1,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}}`
		loaded = `{"at":2,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{}}}`
		failed = `{"at":2,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}}`
		prompt = `{"at":3,"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}}`
		update = `{"at":4,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ho"}}}}}`
		ended  = `{"at":5,"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}}`
		lost   = `{"at":5,"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"error":{"code":-32002,"message":"Session not found"}}}`
		remove = `{"at":6,"dir":"c2a","frame":{"jsonrpc":"2.0","id":3,"method":"session/close","params":{"sessionId":"s"}}}`
		gone   = `{"at":7,"dir":"a2c","frame":{"jsonrpc":"2.0","id":3,"error":{"code":-32002,"message":"Session not found"}}}`
	)
	began := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name    string
		lines   []string
		frames  uint64 // 0: there is no session
		updated time.Duration
	}{
		{"a load that was refused", []string{load, failed}, 0, 0},
		{"a load that was not answered", []string{load}, 0, 0},
		{"a prompt for a session that is not there", []string{prompt, lost}, 0, 0},
		{"closing what is not there", []string{remove, gone}, 0, 0},
		{"all of that", []string{load, failed, prompt, lost, remove, gone}, 0, 0},
		{"a load", []string{load, loaded}, 1, 2 * time.Second},
		{"a prompt without an answer", []string{prompt}, 1, 3 * time.Second},
		{"a turn that failed after something was said", []string{prompt, update, lost}, 3, 5 * time.Second},
		{"a turn, and a close that was refused", []string{load, loaded, prompt, ended, remove, gone}, 3, 5 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			header := `{"acptap":1,"protocol":"acp","started":"2025-01-02T03:04:05Z"}`
			text := header + "\n" + strings.Join(tt.lines, "\n") + "\n"
			store := record.OpenStore(t.TempDir())
			id, err := store.Import(strings.NewReader(text), "test", nil)
			if err != nil {
				t.Fatal(err)
			}
			l, err := store.List()
			if err != nil {
				t.Fatal(err)
			}
			tape, err := store.Open(id)
			if err != nil {
				t.Fatal(err)
			}
			on, err := tape.Sessions()
			if err != nil {
				t.Fatal(err)
			}
			want := 1
			if tt.frames == 0 {
				want = 0
			}
			if len(l.Sessions) != want || len(on) != want || l.Tapes[0].Sessions != uint64(want) {
				t.Fatalf("got the sessions %+v, on the tape %+v, and a count of %d; want %d", l.Sessions, on, l.Tapes[0].Sessions, want)
			}
			if want == 0 {
				return
			}
			one := l.Sessions[0]
			if frames, _, _ := one.Total(); frames != tt.frames || one.Updated().Sub(began) != tt.updated {
				t.Errorf("got %d frames, the last after %v; want %d, %v", frames, one.Updated().Sub(began), tt.frames, tt.updated)
			}
		})
	}
}

// Agents that forget their sessions count from one again in each process. Such sessions are
// separate, whatever happened to the others; those that are loaded again are one session.
func TestSessionsOfOneID(t *testing.T) {
	const (
		made    = `{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/DIR","mcpServers":[]}}}` + "\n" + `{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}}`
		loaded  = `{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/DIR","mcpServers":[]}}}` + "\n" + `{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{}}}`
		said    = `{"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"said on DIR"}]}}}` + "\n" + `{"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}}`
		deleted = `{"dir":"c2a","frame":{"jsonrpc":"2.0","id":3,"method":"session/delete","params":{"sessionId":"s"}}}` + "\n" + `{"dir":"a2c","frame":{"jsonrpc":"2.0","id":3,"result":{}}}`
		closed  = `{"dir":"c2a","frame":{"jsonrpc":"2.0","id":4,"method":"session/close","params":{"sessionId":"s"}}}` + "\n" + `{"dir":"a2c","frame":{"jsonrpc":"2.0","id":4,"result":{}}}`
	)
	for _, tt := range []struct {
		name  string
		tapes []string
		want  string // of each session: its tapes, its first prompt, and what became of it
	}{
		{"made twice", []string{made + said, made + said}, "[0] said on 0, [1] said on 1"},
		{"made and loaded", []string{made + said, loaded + said}, "[0 1] said on 0"},
		{"made and loaded, twice", []string{made + said, loaded + said, made + said, loaded + said}, "[0 1] said on 0, [2 3] said on 2"},
		{"deleted, then made", []string{made + said + deleted, made + said}, "[1] said on 1, [0] said on 0 deleted"},
		{"closed, then made", []string{made + said + closed, made + said}, "[0] said on 0 closed, [1] said on 1"},
		{"closed, then loaded", []string{made + said + closed, loaded + said}, "[0 1] said on 0"},
		{"loaded, then closed", []string{made + said, loaded + closed}, "[0 1] said on 0 closed"},
		{"made in vain, then loaded", []string{made + said, made, loaded + said}, "[1] , [0 2] said on 0"},
		{"made in vain, then deleted", []string{made + said, made, deleted}, "[1] , [0 2] said on 0 deleted"},
		{"only loaded", []string{loaded + said, loaded + said}, "[0 1] said on 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := record.OpenStore(t.TempDir())
			var tapes []string
			for i, text := range tt.tapes {
				text = strings.ReplaceAll(strings.ReplaceAll(text, "DIR", fmt.Sprint(i)), "}{", "}\n{")
				header := fmt.Sprintf(`{"acptap":1,"protocol":"acp","name":"agent","started":"2025-01-02T03:04:0%dZ"}`, i)
				id, err := store.Import(strings.NewReader(header+"\n"+text+"\n"), "test", nil)
				if err != nil {
					t.Fatal(err)
				}
				tapes = append(tapes, id)
			}
			check := func(when string) {
				t.Helper()
				l, err := store.List()
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, s := range slices.Concat(l.Sessions, l.Deleted) {
					var on []int
					for _, r := range s.Runs {
						on = append(on, slices.Index(tapes, r.Tape))
					}
					text := fmt.Sprint(on, " ", s.Prompt)
					if s.Closed {
						text += " closed"
					}
					if s.Deleted {
						text += " deleted"
					}
					got = append(got, text)
					if want := fmt.Sprint("/", on[len(on)-1]); s.Cwd != want && !s.Deleted {
						t.Errorf("%s: %s is in %s, want %s", when, text, s.Cwd, want)
					}
				}
				if got := strings.Join(got, ", "); got != tt.want {
					t.Errorf("%s: got %s, want %s", when, got, tt.want)
				}
			}
			check("imported")
			if err := store.Rebuild(nil); err != nil {
				t.Fatal(err)
			}
			check("rebuilt")
		})
	}
}

// Facts of a session that were on a deleted tape no longer appear.
func TestSessionForgets(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	var last string
	for i, text := range []string{"first", "second"} {
		var err error
		last, err = store.Import(strings.NewReader(fmt.Sprintf(`{"acptap":1,"protocol":"acp","started":"2025-01-02T03:04:0%dZ"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"session_info_update","title":"the %s title"}}}}
`, i, text)), "test", nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Delete(last); err != nil {
		t.Fatal(err)
	}
	l, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	if len(l.Sessions) != 1 || l.Sessions[0].Title != "the first title" {
		t.Errorf("got %+v", l.Sessions)
	}
}
