package framepane

import (
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Place locates something wrong in a frame.
type Place struct {
	Entry int    // index in a batch, from 0; -1: the frame is not a batch
	Path  string // of the value, spelled as in dialect.Field, within params, result, or the message itself; empty: all of it
}

// underlined holds the values in a frame that are wrong.
type underlined struct {
	places   []Place
	values   []int32 // in text order
	brokenIn uint64  // the frame whose first underlined value is to be shown; 0: none
}

// Underline underlines the values at the given places. For a missing value it underlines
// the one that should contain it.
func (p *Pane) Underline(places []Place) {
	defer p.toUnderlined()
	if slices.Equal(p.places, places) || p.tree == nil {
		return
	}
	p.places, p.values = places, nil
	for _, place := range places {
		if n := p.tree.at(place); n >= 0 {
			p.values = append(p.values, n)
		}
	}
	slices.Sort(p.values)
	p.values = slices.Compact(p.values)
}

// RevealUnderlined makes Show put the cursor on the first underlined value of the frame
// with the given number.
func (p *Pane) RevealUnderlined(seq uint64) { p.brokenIn = seq }

// toUnderlined puts the cursor on the first underlined value, if RevealUnderlined
// requested it.
func (p *Pane) toUnderlined() {
	if p.brokenIn == 0 || p.brokenIn != p.Frame.Seq || len(p.values) == 0 || p.Form != asTree {
		return
	}
	p.brokenIn = 0
	p.GoTo(seqOf(p.values[0]))
}

// Underlines returns what is underlined on a row, as byte ranges of its spans' text.
func (p *Pane) Underlines(row page.Row) []page.Mark {
	if len(p.values) == 0 || p.Form != asTree {
		return nil
	}
	switch l := p.lines[row.Item]; {
	case l.part == around:
		return p.envelopeUnderlines()
	case l.part == beginning && p.isUnderlined(l.node):
		return []page.Mark{{From: p.margin(l), To: len(termtext.SpansText(row.Spans, false))}}
	}
	return nil
}

// isUnderlined reports whether a value, or one folded within it, is underlined.
func (p *Pane) isUnderlined(n int32) bool {
	i, found := slices.BinarySearch(p.values, n)
	return found || p.fold[n] && i < len(p.values) && p.values[i] < p.tree.nodes[n].end
}

// envelopeUnderlines returns what is underlined on the envelope's line.
func (p *Pane) envelopeUnderlines() (marks []page.Mark) {
	at := len(envelopeSign)
	for i, n := range p.envelope.values {
		if i > 0 {
			at += len(envelopeGap)
		}
		from := at + len(" ")
		at = from + len(p.envelopeValue(n))
		if p.isUnderlined(n) {
			marks = append(marks, page.Mark{From: from, To: at})
		}
	}
	return marks
}

// at returns the value at a place, or its nearest existing ancestor; -1 if that is the
// whole frame.
func (t *tree) at(place Place) int32 {
	message := int32(0)
	if place.Entry >= 0 {
		message = t.element(0, place.Entry)
	}
	steps := stepsOf(place.Path)
	if message < 0 || len(steps) == 0 {
		return -1
	}
	n := message
	if !slices.Contains(envelopeNames, steps[0]) {
		for _, body := range []string{"params", "result"} {
			if b := t.member(message, body); b >= 0 {
				n = b
				break
			}
		}
	}
	for _, step := range steps {
		next := t.memberAmong(n, step, t.nodes[n].children)
		if index, err := strconv.Atoi(step); err == nil && t.json[t.nodes[n].from] == '[' {
			next = t.element(n, index)
		}
		if next < 0 {
			break
		}
		n = next
	}
	if n == 0 {
		return -1
	}
	return n
}

// envelopeNames are a message's members (JSON-RPC 2.0).
var envelopeNames = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// element returns an array's element, or -1 if it does not exist.
func (t *tree) element(array int32, index int) int32 {
	if t.json[t.nodes[array].from] != '[' {
		return -1
	}
	for i := array + 1; i < t.nodes[array].end; i = t.nodes[i].end {
		if int(t.nodes[i].index) == index {
			return i
		}
	}
	return -1
}

// stepsOf splits a path such as update.content[0]["a.b"] into member names and element
// indexes.
func stepsOf(path string) (steps []string) {
	for path != "" {
		switch {
		case strings.HasPrefix(path, `["`):
			name := wire.ValueOf(path[1:])
			steps = append(steps, name.String())
			path = strings.TrimPrefix(path[min(1+len(name.Raw()), len(path)):], "]")
		case path[0] == '[':
			index, rest, _ := strings.Cut(path[1:], "]")
			steps, path = append(steps, index), rest
		default:
			path = strings.TrimPrefix(path, ".")
			end := strings.IndexAny(path, ".[")
			if end < 0 {
				end = len(path)
			}
			steps, path = append(steps, path[:end]), path[end:]
		}
	}
	return steps
}
