package screen

import (
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// TestTapeOrder sorts tapes by each column, and the other way round, the newest first among
// equals.
func TestTapeOrder(t *testing.T) {
	tape := func(id, name string, took time.Duration, turns, failures uint64, cost float64) *tapeRow {
		r := &tapeRow{Info: record.Info{Tape: id, Start: record.Start{Name: name, Cwd: "/" + id}, Last: took, Turns: turns, Failures: failures}}
		r.Start.Time = time.Unix(int64(id[0]), 0)
		if cost > 0 {
			r.costs = []dialect.Cost{{Amount: cost, Currency: "USD"}}
		}
		return r
	}
	a, b, c := tape("a", "zed", 3, 1, 0, 0.5), tape("b", "one", 2, 5, 9, 0), tape("c", "two", 9, 1, 2, 0)
	for _, tt := range []struct {
		column     int
		want, back string
	}{
		{titleColumn, "abc", "cba"}, {agentColumn, "bca", "acb"}, {tookColumn, "cab", "bac"},
		{turnsColumn, "bca", "cab"}, {failedColumn, "bca", "acb"}, {costColumn, "acb", "cba"}, {ageColumn, "cba", "abc"},
	} {
		sorted := func(o tapeOrder) string {
			tapes, ids := []*tapeRow{c, b, a}, ""
			o.sort(tapes)
			for _, r := range tapes {
				ids += r.Tape
			}
			return ids
		}
		var o tapeOrder
		if tt.column != ageColumn {
			o.choose(tt.column)
		}
		if got := sorted(o); got != tt.want {
			t.Errorf("column %d: got %s, want %s", tt.column, got, tt.want)
		}
		o.choose(tt.column)
		if got := sorted(o); got != tt.back {
			t.Errorf("column %d, the other way: got %s, want %s", tt.column, got, tt.back)
		}
	}
}

// TestTapeColumns: at each width the headings are above their columns, and an agent's version
// is never cut off.
func TestTapeColumns(t *testing.T) {
	l := tapeList{now: time.Now}
	r := &tapeRow{Info: record.Info{Turns: 3, Start: record.Start{Time: time.Now()}}}
	r.Connection.AgentTitle, r.Connection.AgentVersion = "An Agent With A Rather Long Name", "0.100.0"
	for width := 1; width < 250; width++ {
		line, heading := l.tapeSpans(r, width, 0), l.heading(width).Spans
		if got := termtext.SpansWidth(line); width > 20 && got != width || got > width+outcomeColumns {
			t.Fatalf("width %d: a row has %d columns", width, got)
		}
		if got := termtext.SpansWidth(heading); got != termtext.SpansWidth(line) {
			t.Fatalf("width %d: the heading has %d columns", width, got)
		}
		text := termtext.SpansText(heading, false)
		if strings.Contains(text, "agent") && !strings.Contains(termtext.SpansText(line, false), "0.100.0") {
			t.Errorf("width %d: the version is missing in %q", width, termtext.SpansText(line, false))
		}
		for i, c := range tapeColumns(width) {
			if at := strings.LastIndex(text, c.name); at >= 0 && i > 0 && columnAt(width, at) != i {
				t.Errorf("width %d: a click on %s is on column %d", width, c.name, columnAt(width, at))
			}
		}
	}
}
