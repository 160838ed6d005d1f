package conform_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/testdata/conformtest"
)

// repeated returns how often MCP108 is broken by pings of a client with ids.
func repeated(t *testing.T, ids []string) int {
	t.Helper()
	var b strings.Builder
	b.WriteString("= mcp 2025-11-25\n")
	for _, id := range ids {
		fmt.Fprintf(&b, "> {\"id\":%[1]s,\"method\":\"ping\"}\n< {\"id\":%[1]s,\"result\":{}}\n", id)
	}
	x := conform.Example{Text: b.String()}
	frames, err := conformtest.Frames(x)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range check(frames).Verdicts() {
		if v.Rule.ID == "MCP108" {
			return v.Found
		}
	}
	t.Fatal("there is no MCP108")
	return 0
}

// TestUsedIDs: ids in any order are known again, and no others.
func TestUsedIDs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var ids []string
	seen := map[string]bool{"0": true} // of initialize
	want := 0
	for range 3000 {
		id := fmt.Sprint(r.IntN(4000) - 2000)
		if r.IntN(8) == 0 {
			id = `"` + id + `"`
		}
		if seen[id] {
			want++
		}
		seen[id] = true
		ids = append(ids, id)
	}
	if got := repeated(t, ids); got != want || want == 0 {
		t.Errorf("%d ids were used again, want %d", got, want)
	}
}

// TestForgottenIDs: more ids than are remembered, with gaps between them, lead to no
// accusation.
func TestForgottenIDs(t *testing.T) {
	var ids []string
	for i := range 6000 {
		ids = append(ids, fmt.Sprint(2*i+2))
	}
	if got := repeated(t, ids); got != 0 {
		t.Errorf("%d of different ids were used again", got)
	}
	if got := repeated(t, append(ids, "12000")); got != 1 {
		t.Errorf("the newest id again: found %d, want 1", got)
	}
}
