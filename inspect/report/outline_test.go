package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/replay/compare"
)

// stepsOf returns an outline of one step a line. A line begins with the number of its frame.
func stepsOf(text string) []compare.Step {
	var list []compare.Step
	for line := range strings.Lines(text) {
		var seq uint64
		fmt.Sscan(line, &seq)
		_, line, _ = strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		list = append(list, compare.Step{Text: line, Position: compare.Position{Seq: seq}})
	}
	return list
}

func outlinesOf(a, b []compare.Step) outlines {
	runs := outlineRuns{A: a, B: b, Command: "acptap diff a b"}
	runs.Frame = func(side int, at compare.Position) string { return fmt.Sprint(side+1, ".", at.Seq) }
	return runs.outlines()
}

// drawn writes a page as text: of each side what is linked, and the parts that differ in
// brackets.
func drawn(p outlines) string {
	var b strings.Builder
	fmt.Fprintln(&b, p.Lead)
	for _, s := range p.Stretches {
		fmt.Fprintf(&b, "-- %d folded, %d left\n", s.Folded, s.Left)
		for _, l := range s.Lines {
			if l.Number > 0 {
				fmt.Fprintf(&b, "#%d ", l.Number)
			}
			b.WriteString(l.Class)
			for _, c := range l.Of {
				b.WriteString(" |")
				if c == nil {
					continue
				}
				if c.Linked {
					fmt.Fprintf(&b, " %s", c.Frame)
				}
				if c.First {
					b.WriteString("!")
				}
				fmt.Fprintf(&b, " %d ", c.Depth)
				for _, part := range c.Parts {
					if part.Differs {
						fmt.Fprintf(&b, "[%s]", part.Text)
					} else {
						b.WriteString(part.Text)
					}
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// What is equal is folded but for three lines beside a difference; a frame is linked where it
// begins, and where it differs.
func TestOutlines(t *testing.T) {
	a := stepsOf("1\ta\n1\tb\n1\tc\n1\td\n1\te\n2\t  said one\n2\t  f\n2\t  g\n3\th\n3\ti\n3\tj\n4\tk\n5\tl\n")
	b := stepsOf("1\ta\n1\tb\n1\tc\n1\td\n1\te\n2\t  said two\x1b\n2\t  f\n2\t  g\n3\th\n3\ti\n3\tj\n4\tk\n")
	const want = `What was asked, done and said differs in 2 places
-- 2 folded, 0 left
equal | 1.1! 0 a | 2.1! 0 a
equal | 0 b | 0 b
-- 0 folded, 0 left
equal | 1.1 0 c | 2.1 0 c
equal | 0 d | 0 d
equal | 0 e | 0 e
#1 changed | 1.2! 1 said [one] | 2.2! 1 said [two␛]
equal | 1 f | 1 f
equal | 1 g | 1 g
equal | 1.3! 0 h | 2.3! 0 h
equal | 0 i | 0 i
equal | 0 j | 0 j
equal | 1.4! 0 k | 2.4! 0 k
#2 only | 1.5! 0 l |
`
	if got := drawn(outlinesOf(a, b)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSameOutlines(t *testing.T) {
	a := stepsOf("1\ta\n2\tb\n")
	const want = `No difference in what was asked, done and said
-- 2 folded, 0 left
equal | 1.1! 0 a | 2.1! 0 a
equal | 1.2! 0 b | 2.2! 0 b
`
	if got := drawn(outlinesOf(a, a)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if p := outlinesOf(nil, nil); len(p.Stretches) != 0 {
		t.Errorf("got %v", p)
	}
}

// A page has a bounded number of lines, in pieces that are small, and says what it left out.
func TestLongOutlines(t *testing.T) {
	var a, b strings.Builder
	for i := range 8200 {
		fmt.Fprintf(&a, "%d\told %d\n", i+1, i)
		fmt.Fprintf(&b, "%d\tnew %d\n", i+1, i)
	}
	runs := outlineRuns{A: stepsOf(a.String())[:100], B: stepsOf(b.String())[:100], Room: 10_000, Command: "acptap diff a b"}
	runs.Frame = func(int, compare.Position) string { return "1.1" }
	p := runs.outlines()
	if n := len(p.Stretches[0].Lines); n < 20 || n > 35 || p.Size < 10_000 || p.Size > 10_500 {
		t.Errorf("got %d lines, %d bytes", n, p.Size)
	}
	p = outlinesOf(stepsOf(a.String()), stepsOf(b.String()))
	lines := 0
	for _, s := range p.Stretches {
		if len(s.Lines) == 0 || len(s.Lines) > 200 {
			t.Errorf("a stretch has %d lines", len(s.Lines))
		}
		lines += len(s.Lines)
	}
	if lines != 8000 {
		t.Errorf("got %d lines", lines)
	}
	if want := "Of the lines, the first 8,000 are shown: acptap diff a b has all that differ."; p.Left != want {
		t.Errorf("got %q, want %q", p.Left, want)
	}
	long := strings.Repeat("x", 10_000)
	p = outlinesOf(stepsOf("1\t"+long+" one end\n"), stepsOf("1\t"+long+" two end\n"))
	for side, want := range []string{"one", "two"} {
		parts := p.Stretches[0].Lines[0].Of[side].Parts
		if len(parts) != 3 || len(parts[0].Text) > 3000 || !strings.HasPrefix(parts[0].Text, "…") || parts[1].Text != want {
			t.Errorf("got %.200v", fmt.Sprint(parts))
		}
	}
}
