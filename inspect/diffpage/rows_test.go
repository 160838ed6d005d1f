package diffpage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

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
		next := [sides]int{}
		for _, row := range rowsOf(&a) {
			for _, side := range []Side{Left, Right} {
				if i := row.on(side); i >= 0 {
					if i != next[side] {
						t.Fatalf("%v: got %d, want %d", row, i, next[side])
					}
					next[side]++
				}
			}
			both := row.Left >= 0 && row.Right >= 0
			if both != (row.Kind == Equal || row.Kind == Changed) || (row.Kind == OnlyLeft) != (row.Right < 0) {
				t.Fatalf("got %v", row)
			}
			if both && (a.Old[row.Left].Text == a.New[row.Right].Text) != (row.Kind == Equal) {
				// Equal texts may be counterparts only where Align has found them equal.
				if row.Kind == Equal {
					t.Fatalf("%v: %q and %q", row, a.Old[row.Left].Text, a.New[row.Right].Text)
				}
			}
		}
		if next != [sides]int{len(a.Old), len(a.New)} {
			t.Fatalf("got %d of %d and %d steps", next, len(a.Old), len(a.New))
		}
	}
}

// TestRowsDiffer: conversations that have nothing in common take bounded time.
func TestRowsDiffer(t *testing.T) {
	var left, right []compare.Step
	for i := range 50_000 {
		left = append(left, compare.Step{Text: fmt.Sprint("| a", i)})
		right = append(right, compare.Step{Text: fmt.Sprint("| b", i)})
	}
	began := time.Now()
	table := newTable(taken{steps: left}, taken{steps: right})
	if table.counts[Changed] != 50_000 || table.blocks != 1 {
		t.Errorf("got %d", table.counts)
	}
	if d := time.Since(began); d > time.Minute {
		t.Errorf("took %v", d)
	}
}

// TestParts: what a step has in common with another is in both, and the parts are all of
// it.
func TestParts(t *testing.T) {
	long := strings.Repeat("ä", maxDiffered)
	for _, tt := range []struct{ a, b, want string }{
		{"turn 1 ended end_turn", "turn 1 ended cancelled", "turn 1 ended [end_turn|cancelled]"},
		{`path "$CWD/a.go"`, `path "$CWD/b.go"`, `path "$CWD/[a|b].go"`},
		{"| I will look", "| Fine, that is it", "| [I will look|Fine, that is it]"},
		{"      | a", "      | b", "      | [a|b]"},
		{"", "x", "[|x]"},
		{"same", "same", "same"},
		{"aé", "aè", "[aé|aè]"},
		{long + "é" + long, long + "è" + long, long + "[é|è]" + long},
		{"\xff1", "\xfe1", "[\xff|\xfe]1"},
	} {
		a, b := partsOf(tt.a, tt.b)
		if got := joined(a, b); got != tt.want {
			t.Errorf("%q and %q: got %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

// joined writes parts of two steps as one, what differs in brackets.
func joined(a, b []part) string {
	var out strings.Builder
	differing := func(list *[]part) string {
		if len(*list) > 0 && (*list)[0].differs {
			text := (*list)[0].text
			*list = (*list)[1:]
			return text
		}
		return ""
	}
	for len(a) > 0 || len(b) > 0 {
		if x, y := differing(&a), differing(&b); x != "" || y != "" {
			out.WriteString("[" + x + "|" + y + "]")
		}
		if len(a) > 0 && !a[0].differs {
			if len(b) == 0 || b[0] != a[0] {
				return out.String() + " broken"
			}
			out.WriteString(a[0].text)
			a, b = a[1:], b[1:]
		}
	}
	return out.String()
}
