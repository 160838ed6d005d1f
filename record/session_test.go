package record_test

import (
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
)

// A client may ask for a session that nobody has. What is only asked for, or
// gets nothing but errors, is no session; what was said in one is.
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
			id, err := store.Import(strings.NewReader(text), "test")
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
