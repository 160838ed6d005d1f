package tracepage

import (
	"slices"
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
│1 s         │4 s ╱│10 min │10m2s
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

// TestAxisFits: every time has a column, later times are never to the left of earlier ones,
// and a non-empty interval has its own column while there is room.
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

// TestAxisReadable: whatever an axis shows, it has a tick at its beginning, and no label touches
// another or leaves the columns.
func TestAxisReadable(t *testing.T) {
	const h = time.Hour
	for _, busy := range [][]steps.Span{
		{{}},                         // 0 ms
		{{From: 5 * h, To: 5*h - 1}}, // a clock that went back
		{{To: 30 * h}},
		{{To: 1}, {From: 30 * h, To: 30*h + time.Millisecond}},
		{{To: 30 * h}, {Run: 1, To: time.Microsecond}, {Run: 2, To: 10_000 * h}},
		{{From: 30 * h, To: 30*h + 5*time.Millisecond}},
		{{From: 23*time.Second + 999*time.Millisecond, To: 28 * time.Second}},
		{{From: 1<<62 - 1, To: 1<<63 - 1}},
	} {
		for columns := 4; columns < 200; columns++ {
			a := newAxis(busy, columns)
			heading := a.heading()
			if n := len([]rune(heading)); n != columns {
				t.Fatalf("%v in %d columns: the heading has %d", busy, columns, n)
			}
			labels := strings.Split(heading, "│")
			if len(busy) == 1 && len(slices.Compact(slices.Clone(labels))) < len(labels) {
				t.Errorf("%v in %d columns: two ticks of %q are the same", busy, columns, heading)
			}
			for i, label := range labels[1:] {
				label, _, cut := strings.Cut(label, string(cutSign))
				if trimmed := strings.TrimRight(label, " "); trimmed == "" || trimmed == label && i < len(labels)-2 && !cut {
					t.Fatalf("%v in %d columns: %q and the next label are one", busy, columns, heading)
				}
			}
			if a.parts[0].width > 16 && !strings.HasPrefix(heading, "│") {
				t.Errorf("%v in %d columns: %q does not say where it begins", busy, columns, heading)
			}
		}
	}
}
