package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

// On a terminal no line of a table is wider than that; what may be cut is cut
// before anything else.
func TestTable(t *testing.T) {
	for _, tt := range []struct {
		width int
		want  string
	}{
		{0, `
TAPE   AGENT                 STATE                            FRAMES
tape1  my-agent 1.2          ended                            3
tape2  深い海の底のエージェ  exit 1, 12 errors, 3 junk lines  1234567
`},
		{60, `
TAPE   AGENT                 STATE                   FRAMES
tape1  my-agent 1.2          ended                   3
tape2  深い海の底のエージェ  exit 1, 12 errors, 3…   1234567
`},
		{40, `
TAPE   AGENT        STATE        FRAMES
tape1  my-agent 1…  ended        3
tape2  深い海の底…  exit 1, 12…  1234567
`},
		{20, `
TAPE   AGENT     ST…
tape1  my-agen…  en…
tape2  深い海…   ex…
`},
	} {
		t.Run(fmt.Sprint(tt.width), func(t *testing.T) {
			var tab Table
			tab.Row("TAPE", "AGENT", "STATE", "FRAMES")
			tab.Row("tape1", "my-agent 1.2", "ended", "3")
			tab.Row("tape2", "深い海の底のエージェ", "exit 1, 12 errors, \x1b[2J3 junk lines", "1234567")
			var b strings.Builder
			if err := tab.Write(&b, tt.width, 1, 2); err != nil {
				t.Fatal(err)
			}
			if got := b.String(); got != tt.want[1:] {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want[1:])
			}
			for line := range strings.Lines(b.String()) {
				if n := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); tt.width > 0 && n > tt.width {
					t.Errorf("%d columns: %q", n, line)
				}
			}
		})
	}
}
