package stats_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/stats"
)

// Frames are counted by name, and uses by requests and notifications only, including those in
// a batch.
func TestFrames(t *testing.T) {
	const tape = `> {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s"}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan_update"}}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan_update"}}}
< {"jsonrpc":"2.0","id":1,"error":{"code":1,"message":""}}
> [{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]
< [{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":3,"result":{}}]
< no JSON`
	var counted stats.Frames
	used := stats.Uses{}
	for f := range frames(strings.SplitSeq(tape, "\n")) {
		counted.Take(f)
		used.Take(f)
	}
	var got []string
	for _, c := range counted.List() {
		got = append(got, fmt.Sprintf("%s %d %d %d", c.Name, c.Frames, c.Failed, c.Bytes))
	}
	want := []string{"batch 2 0 158", "plan_update 2 0 222", "session/prompt 2 1 133", "invalid 1 0 7"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := (stats.Uses{"session/prompt": 1, "plan_update": 2, "ping": 2}); !maps.Equal(used, want) {
		t.Errorf("got the uses %v, want %v", used, want)
	}
}
