package report

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/steps"
)

// A flow is what is gathered from frames as they are read.
type flow struct {
	bytes    [2]course // bytes sent by each side
	sent     [2]int64
	contexts []*context
	large    []largeFrame // largest first
}

// A context is the number of tokens in a session's context.
type context struct {
	course
	session *trace.Session
}

type largeFrame struct {
	run     int
	seq     uint64
	name    string
	size    int64
	at      time.Duration
	untimed bool
}

// take processes a frame that was just added to tr.
func (o *flow) take(run int, f *dialect.Frame, tr *trace.Trace) {
	if !f.Counts() {
		return
	}
	o.sent[f.Dir] += f.Size
	if at := sort.Search(len(o.large), func(i int) bool { return o.large[i].size < f.Size }); at < mostLarge {
		o.large = slices.Insert(o.large, at, largeFrame{run, f.Seq, frameName(f), f.Size, f.At, f.Untimed})
		o.large = o.large[:min(len(o.large), mostLarge)]
	}
	if f.Untimed {
		return
	}
	o.bytes[f.Dir].add(point{run, f.At, o.sent[f.Dir]})
	if f.Update == "usage_update" {
		o.use(run, f, tr)
	}
}

// frameName returns what to call a frame in a short list.
func frameName(f *dialect.Frame) string {
	name := termtext.Piece(f.Annotation.Name())
	switch {
	case name == "":
		return f.Kind.String()
	case f.Kind == wire.Response:
		return name + " response"
	}
	return name
}

// use records how full a context is according to a frame.
func (o *flow) use(run int, f *dialect.Frame, tr *trace.Trace) {
	for _, s := range slices.Backward(tr.Sessions) {
		u := s.Conversation.State.Usage
		if s.ID != f.Session || u == nil {
			continue
		}
		i := slices.IndexFunc(o.contexts, func(c *context) bool { return c.session == s })
		if i < 0 {
			if i = len(o.contexts); i == len(plotLines) {
				return
			}
			o.contexts = append(o.contexts, &context{session: s})
		}
		o.contexts[i].add(point{run, f.At, int64(min(u.Used, 1<<53))})
		return
	}
}

// plots returns the plots of bytes and tokens over time. Time without an open request is
// cut out.
func (r *reader) plots() []*plot {
	var spans []steps.Span
	for _, c := range r.trace.Calls {
		if !c.Untimed && !c.Open() {
			spans = append(spans, steps.Span{Run: c.Run, From: c.Began, To: c.Ended})
		}
	}
	for _, s := range r.sessions() {
		for _, t := range s.Conversation.Turns {
			if !t.Untimed {
				spans = append(spans, r.span(t))
			}
		}
	}
	a := newAxis(spans, idleBetweenCalls)
	if steps.Length(spans) == 0 {
		return nil
	}
	var list []*plot
	if most := max(r.flow.sent[0], r.flow.sent[1]); most > 0 {
		p := newPlot("Bytes sent", a, most, func(n int64) string { return strings.Replace(termtext.ByteSize(n), ".0 ", " ", 1) })
		for _, side := range []struct {
			dir  wire.Direction
			word string
		}{{wire.AgentToClient, "by the " + strings.ToLower(answering(r.trace.Runs[0].Dialect))}, {wire.ClientToAgent, "by the client"}} {
			p.line(a, r.flow.bytes[side.dir].all(), most, true, side.word, termtext.ByteSize(r.flow.sent[side.dir]))
		}
		list = append(list, p)
	}
	if p := r.contextPlot(a); p != nil {
		list = append(list, p)
	}
	return list
}

// contextPlot returns how full the sessions' contexts were, or nil if agents reported it
// too rarely.
func (r *reader) contextPlot(a *axis) *plot {
	most, points := int64(0), 0
	for _, c := range r.flow.contexts {
		points += len(c.all())
		for _, p := range c.all() {
			most = max(most, p.value)
		}
	}
	if most == 0 || points < 3 {
		return nil
	}
	p := newPlot("Tokens in context", a, most, termtext.Grouped)
	for _, c := range r.flow.contexts {
		word := "in the session"
		if len(r.flow.contexts) > 1 {
			word = cmp.Or(termtext.Brief(c.session.Title, 40), termtext.Brief(c.session.ID, 40))
		}
		u := c.session.Conversation.State.Usage
		value := termtext.Grouped(int64(min(u.Used, 1<<53)))
		if u.Size > 0 {
			value += " of " + termtext.Grouped(int64(min(u.Size, 1<<53)))
		}
		if u.Peak > u.Used {
			value += ", at most " + termtext.Grouped(int64(min(u.Peak, 1<<53)))
		}
		p.line(a, c.all(), most, false, word, value)
	}
	return p
}
