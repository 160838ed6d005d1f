package rule

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// TestLacksConcerns: a lacks line examines only frames that initialize a connection, and
// calls of its methods. All other frames pass as if there were no rules.
func TestLacksConcerns(t *testing.T) {
	for _, tt := range []struct {
		traffic, methods string
		want             []string
	}{
		{"acp", "session/load fs/write_text_file", []string{"request initialize", "response initialize", "request session/load", "request fs/write_text_file"}},
		{"mcp", "prompts/list", []string{"request initialize", "response initialize"}},
	} {
		set, err := Parse("rules", "lacks "+tt.methods)
		if err != nil {
			t.Fatal(err)
		}
		traffic, err := os.ReadFile("testdata/" + tt.traffic + ".traffic")
		if err != nil {
			t.Fatal(err)
		}
		e := set.engines(1)[nearClient]
		var got []string
		for line := range strings.Lines(string(traffic)) {
			dir := map[byte]wire.Direction{'>': wire.ClientToAgent, '<': wire.AgentToClient}[line[0]]
			f := wire.Frame{Dir: dir, Raw: []byte(strings.TrimSpace(line[2:])), End: wire.LF}
			s, _ := e.seen.observe(f, func() time.Duration { return 0 })
			if e.concerns(s) {
				got = append(got, s.Kind.String()+" "+s.Method)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("lacks %s: it looks at %q, want %q", tt.methods, got, tt.want)
		}
	}
}
