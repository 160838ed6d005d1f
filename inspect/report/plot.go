package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	h "github.com/acptap/acptap/inspect/html"
)

// A course is how a number changed over time. If there are too many samples to draw, it
// keeps the largest of every few.
type course struct {
	points []point
	every  int   // it keeps the largest of this many samples
	passed int   // samples since the last kept one
	held   point // the largest of them
}

// A point is a value that holds from a given time onward.
type point struct {
	run   int
	at    time.Duration
	value int64
}

// maxPoints limits the points of a course to more than a screen can show.
const maxPoints = 1 << 11

// add adds a sample. Samples come in time order.
func (c *course) add(p point) {
	c.every = max(c.every, 1)
	if c.passed == 0 || p.value >= c.held.value {
		c.held = p
	}
	if c.passed++; c.passed < c.every {
		return
	}
	c.passed = 0
	if c.points = append(c.points, c.held); len(c.points) < maxPoints {
		return
	}
	c.every *= 2
	for i := range maxPoints / 2 {
		a, b := c.points[2*i], c.points[2*i+1]
		if b.value >= a.value {
			a = b
		}
		c.points[i] = a
	}
	c.points = c.points[:maxPoints/2]
}

// all returns the points, including samples after the last kept one.
func (c *course) all() []point {
	if c.passed == 0 {
		return c.points
	}
	return append(c.points[:len(c.points):len(c.points)], c.held)
}

// A plot is a set of step lines over time.
type plot struct {
	Title string
	Lines []plotLine
	Rules []plotRule
	Ticks []tick
	Idle  bool     // idle time is cut out, and the ticks say how much
	Cuts  []string // positions of the cuts
}

func (p *plot) html() h.Node {
	hidden := h.Aria("hidden", "true")
	return h.Group{h.El("figure", h.Class("plot"),
		h.El("figcaption", h.H3(h.Text(p.Title)), h.Ul(h.Each(p.Lines, func(l plotLine) h.Node {
			return h.Li(h.SVG(h.Class("sample"), h.Width("24"), h.Height("10"), hidden, l.path("M0 5H24")), h.Text(l.Word+" "), h.B(h.Text(l.Value)))
		}))), h.NL,
		h.Div(h.Class("drawn", h.If(p.Idle, "idle")), hidden,
			h.SVG(h.Width("56"), h.Height("140"), h.Each(p.Rules, func(r plotRule) h.Node {
				return h.El("text", h.Attr("x", "48"), h.Attr("y", r.Y), h.Attr("dy", "4"), h.Attr("text-anchor", "end"), h.Text(r.Text))
			})), h.NL,
			h.Div(h.SVG(h.Width("100%"), h.Height("140"),
				h.Each(p.Rules, func(r plotRule) h.Node {
					return h.Shape("line", h.Class("rule"), h.Attr("x2", "100%"), h.Attr("y1", r.Y), h.Attr("y2", r.Y))
				}),
				h.Each(p.Cuts, func(x string) h.Node {
					return h.Shape("line", h.Class("cut-out"), h.Attr("x1", x), h.Attr("x2", x), h.Attr("y2", "120"))
				}),
				h.SVG(h.Width("100%"), h.Height("120"), h.Attr("viewBox", "0 0 1000 120"), h.Attr("preserveAspectRatio", "none"),
					h.Each(p.Lines, func(l plotLine) h.Node { return l.path(l.Path) })),
				h.Each(p.Ticks, func(t tick) h.Node { return t.html("137") }))))), h.NL}
}

// A plotLine is one line, with a label next to one of its samples.
type plotLine struct {
	Class string
	Path  string
	Word  string
	Value string // what the line shows, in words
}

func (l plotLine) path(d string) h.Node { return h.Shape("path", h.Class(l.Class), h.Attr("d", d)) }

// A plotRule is a horizontal line at a round number.
type plotRule struct{ Y, Text string }

// The size of a plot. The page stretches it to its own width.
const (
	plotWidth  = 1000
	plotHeight = 120 // px
	mostCuts   = 40  // number of marked cuts
)

// plotLines are the classes of the lines of a plot.
var plotLines = []string{"line0", "line1", "line2", "line3", "line4", "line5"}

// newPlot returns a plot without lines on a time axis, for numbers up to most. text
// formats a number.
func newPlot(title string, a *axis, most int64, text func(int64) string) *plot {
	p := &plot{Title: title, Idle: len(a.parts) > 1}
	if p.Ticks = a.ticks(); p.Ticks == nil {
		p.Ticks = a.gaps()
	}
	if len(a.parts) <= mostCuts {
		for i := 1; i < len(a.parts); i++ {
			p.Cuts = append(p.Cuts, percent((a.parts[i].x+a.parts[i-1].x+a.parts[i-1].width)/2))
		}
	}
	step := roundNumber(most)
	for v := int64(0); v <= most; v += step {
		p.Rules = append(p.Rules, plotRule{oneDigit(height(v, most)), text(v)})
	}
	return p
}

// roundNumber returns the smallest of 1, 2, 5, 10, 20 … that fits into most at most four
// times.
func roundNumber(most int64) int64 {
	for unit := int64(1); unit < math.MaxInt64/20; unit *= 10 {
		for _, n := range []int64{1, 2, 5} {
			if most/(n*unit) <= 4 {
				return n * unit
			}
		}
	}
	return math.MaxInt64 / 2
}

// height returns the position of a number; most is almost at the top.
func height(v, most int64) float64 {
	return plotHeight - (plotHeight-4)*float64(v)/float64(max(most, 1))
}

func oneDigit(x float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", x), ".0") }

// line adds a line through points, in order. fromZero means that the number was 0 before.
func (p *plot) line(a *axis, points []point, most int64, fromZero bool, word, value string) {
	type corner struct{ x, y float64 }
	var corners []corner
	if fromZero {
		corners = append(corners, corner{0, plotHeight})
	}
	for _, one := range points {
		c := corner{a.at(one.run, one.at) * plotWidth / 100, height(one.value, most)}
		if n := len(corners); n > 0 && c.x-corners[n-1].x < 1 && n > 1 { // too close to distinguish
			corners[n-1].y = min(corners[n-1].y, c.y) // keep the largest
			continue
		}
		corners = append(corners, c)
	}
	var path strings.Builder
	for i, c := range corners {
		switch {
		case i == 0:
			fmt.Fprintf(&path, "M%s %s", oneDigit(c.x), oneDigit(c.y))
		case c.y != corners[i-1].y:
			fmt.Fprintf(&path, "H%sV%s", oneDigit(c.x), oneDigit(c.y))
		}
	}
	fmt.Fprintf(&path, "H%d", plotWidth)
	p.Lines = append(p.Lines, plotLine{plotLines[len(p.Lines)%len(plotLines)], path.String(), word, value})
}

// A histogram counts durations from 0.1 ms to 100 s, with four bars per power of ten. The
// first and last bars include shorter and longer ones.
type histogram []histogramBar

type histogramBar struct{ X, Y, Height int } // px

func (b histogramBar) html() h.Node {
	return h.Shape("rect", h.Attr("x", fmt.Sprint(b.X)), h.Attr("y", fmt.Sprint(b.Y)), h.Width("5"), h.Height(fmt.Sprint(b.Height)))
}

// The size of a histogram.
const (
	shortest      = 1e5 // ns
	perDecade     = 4
	histogramBars = 6 * perDecade
	barWidth      = 6 // px, including the space after it
	barHeight     = 20
)

// newHistogram returns the histogram of times, each with its count.
func newHistogram(times func(yield func(ns, count int64) bool)) histogram {
	var counts [histogramBars]int64
	most := int64(0)
	for ns, count := range times {
		at := int(math.Floor(perDecade*math.Log10(float64(max(ns, 1))/shortest) + 1e-9)) // keeps rounding from making 1 ms slightly less
		at = min(max(at, 0), histogramBars-1)
		counts[at] += count
		most = max(most, counts[at])
	}
	var bars histogram
	for i, n := range counts {
		if n > 0 {
			h := max(int(barHeight*n/most), 2) // keeps one among many visible
			bars = append(bars, histogramBar{i * barWidth, barHeight - h, h})
		}
	}
	return bars
}
