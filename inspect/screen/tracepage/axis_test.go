package tracepage

import (
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record/trace/steps"
)

func TestAxis(t *testing.T) {
	const s, ms, m = time.Second, time.Millisecond, time.Minute
	for _, tt := range []struct {
		name    string
		busy    []steps.Span
		columns int
		want    string // the heading; below it where each interval begins and ends
	}{
		{"one", []steps.Span{{Run: 0, From: 0, To: 10 * s}}, 40, `
│0 s    │2 s    │4 s    │6 s    │8 s
a                                      A
`},
		{"near each other", []steps.Span{{Run: 0, From: 0, To: 4 * s}, {Run: 0, From: 4200 * ms, To: 10 * s}}, 40, `
│0 s    │2 s    │4 s    │6 s    │8 s
a               b                      B
`},
		{"idle between", []steps.Span{{Run: 0, From: 1 * s, To: 5 * s}, {Run: 0, From: 10 * m, To: 10*m + 5*s}}, 41, `
│1 s│2 s     │4 s ╱│10 min │10m2s
a                A b                    B
`},
	} {
		a := newAxis(tt.busy, tt.columns)
		below := []byte(strings.Repeat(" ", tt.columns))
		for i, b := range tt.busy {
			below[a.column(b.Run, b.From)] = 'a' + byte(i)
			below[a.column(b.Run, b.To)] = 'A' + byte(i)
		}
		got := "\n" + strings.TrimRight(a.heading(), " ") + "\n" + strings.TrimRight(string(below), " ") + "\n"
		if got != tt.want {
			t.Errorf("%s: got%swant%s", tt.name, got, tt.want)
		}
	}
}

// TestAxisFits: whatever happened, everything has a column, what comes later does not
// stand before, and what is not empty has one of its own while there is room.
func TestAxisFits(t *testing.T) {
	for columns := 4; columns < 130; columns += 7 {
		for n := 1; n < 200; n = n*3/2 + 1 {
			var busy []steps.Span
			at := time.Duration(0)
			for i := range n {
				took := time.Duration(1) << (i * 13 % 41)
				busy = append(busy, steps.Span{Run: i * 3 / n, From: at, To: at + took})
				if at += took + time.Duration(1)<<(i*7%45); i+1 < n && i*3/n != (i+1)*3/n {
					at = 0
				}
			}
			a := newAxis(busy, columns)
			if w := len([]rune(a.heading())); w != columns {
				t.Fatalf("%d intervals in %d columns: the heading has %d", n, columns, w)
			}
			before := -1
			for i, b := range busy {
				from, to := a.column(b.Run, b.From), a.column(b.Run, b.To)
				if from < before || to < from || to >= columns {
					t.Fatalf("%d intervals in %d columns: number %d is from %d to %d, the one before begins in %d", n, columns, i, from, to, before)
				}
				before = from
			}
			for i, p := range a.parts[1:] {
				if 2*len(a.parts) <= columns && p.column <= a.parts[i].column {
					t.Fatalf("%d parts in %d columns: two in column %d", len(a.parts), columns, p.column)
				}
			}
		}
	}
}

func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		atLeast, want time.Duration
		label         string // of the third tick
	}{
		{0, time.Microsecond, "3 µs"},
		{30 * time.Microsecond, 50 * time.Microsecond, "150 µs"},
		{11 * time.Millisecond, 20 * time.Millisecond, "60 ms"},
		{500 * time.Millisecond, 500 * time.Millisecond, "1.5 s"},
		{300 * time.Microsecond, 500 * time.Microsecond, "1.5 ms"},
		{11 * time.Second, 20 * time.Second, "1 min"},
		{21 * time.Second, 30 * time.Second, "1m30s"},
		{6 * time.Minute, 10 * time.Minute, "30 min"},
		{21 * time.Minute, 30 * time.Minute, "90 min"},
		{6000 * time.Hour, 6144 * time.Hour, "18432 h"},
	} {
		got := steps.RoundTime(tt.atLeast)
		if label := steps.TickText(3*got, got); got != tt.want || label != tt.label {
			t.Errorf("%s: got %s, %s; want %s, %s", tt.atLeast, got, label, tt.want, tt.label)
		}
	}
}
