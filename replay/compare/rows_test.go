package compare_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/acptap/acptap/replay/compare"
)

func stepsOf(lines ...string) []compare.Step {
	var list []compare.Step
	for _, text := range lines {
		list = append(list, compare.Step{Text: text})
	}
	return list
}

// TestRows: every step is in one row, in order, and only steps with the same text are
// equal.
func TestRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	list := func() []compare.Step {
		lines := make([]string, r.IntN(40))
		for i := range lines {
			lines[i] = strings.Repeat("  ", r.IntN(2)) + []string{"turn ", "agent ", "| ", "| a b "}[r.IntN(4)] + fmt.Sprint(r.IntN(4))
		}
		return stepsOf(lines...)
	}
	for range 2000 {
		a := compare.Align(list(), list())
		var next [2]int
		for _, row := range a.Rows() {
			for side, i := range []int32{row.Old, row.New} {
				if i >= 0 {
					if int(i) != next[side] {
						t.Fatalf("%v: got %d, want %d", row, i, next[side])
					}
					next[side]++
				}
			}
			both := row.Old >= 0 && row.New >= 0
			if both != (row.Kind == compare.Equal || row.Kind == compare.Changed) || (row.Kind == compare.OnlyOld) != (row.New < 0) {
				t.Fatalf("got %v", row)
			}
			if both && (a.Old[row.Old].Text == a.New[row.New].Text) != (row.Kind == compare.Equal) {
				// Equal texts may be counterparts only where Align has found them equal.
				if row.Kind == compare.Equal {
					t.Fatalf("%v: %q and %q", row, a.Old[row.Old].Text, a.New[row.New].Text)
				}
			}
		}
		if next != [2]int{len(a.Old), len(a.New)} {
			t.Fatalf("got %d of %d and %d steps", next, len(a.Old), len(a.New))
		}
	}
}

// TestParts: the common parts of two steps are in both, and the parts make up the whole step.
func TestParts(t *testing.T) {
	long := strings.Repeat("ä", 1<<10)
	for _, tt := range []struct{ a, b, want string }{
		{"turn 1: done", "turn 1: cancelled", "turn 1: [done|cancelled]"},
		{`path "$CWD/a.go"`, `path "$CWD/b.go"`, `path "$CWD/[a|b].go"`},
		{"| I will look", "| Fine, that is it", "| [I will look|Fine, that is it]"},
		{"      | a", "      | b", "      | [a|b]"},
		{"", "x", "[|x]"},
		{"same", "same", "same"},
		{"aé", "aè", "[aé|aè]"},
		{long + "é" + long, long + "è" + long, long + "[é|è]" + long},
		{"\xff1", "\xfe1", "[\xff|\xfe]1"},
	} {
		a, b := compare.Parts(tt.a, tt.b)
		if got := joined(a, b); got != tt.want {
			t.Errorf("%q and %q: got %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

// joined writes parts of two steps as one, what differs in brackets.
func joined(a, b []compare.Part) string {
	var out strings.Builder
	differing := func(list *[]compare.Part) string {
		if len(*list) > 0 && (*list)[0].Differs {
			text := (*list)[0].Text
			*list = (*list)[1:]
			return text
		}
		return ""
	}
	for len(a) > 0 || len(b) > 0 {
		if x, y := differing(&a), differing(&b); x != "" || y != "" {
			out.WriteString("[" + x + "|" + y + "]")
		}
		if len(a) > 0 && !a[0].Differs {
			if len(b) == 0 || b[0] != a[0] {
				return out.String() + " broken"
			}
			out.WriteString(a[0].Text)
			a, b = a[1:], b[1:]
		}
	}
	return out.String()
}
