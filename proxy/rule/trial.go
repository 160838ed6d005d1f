package rule

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Trial shows what rules would do to the frames of a tape, without a proxy.
type Trial struct {
	Unseen []uint64 // the first few frames that are too large for rules
	Large  int      // the number of all such frames

	set     *Set
	engines [2]*Engine
	at      time.Duration
	seq     uint64
	told    []*Hit // hits of the current frame
	hits    map[*Rule]*Hits
}

// Hits lists what one rule would do.
type Hits struct {
	Rule  *Rule
	Count int
	First []*Hit // the first few
}

// A Hit is what a rule would do to one frame.
type Hit struct {
	Seq  uint64
	Did  string
	Sent []string // lines sent instead of it or besides it, with directions; empty: it passes
}

// maxShown limits the hits per rule, and the frames, that a Trial shows.
const maxShown = 5

// Try begins a Trial.
func (s *Set) Try(seed uint64) *Trial {
	t := &Trial{set: s, engines: s.engines(seed), hits: map[*Rule]*Hits{}}
	for _, r := range s.rules {
		t.hits[r] = &Hits{Rule: r}
	}
	for _, e := range t.engines {
		e.now = func() time.Duration { return t.at }
		e.hit = t.hit
		e.Start(proxy.Handle{Signal: func(os.Signal) {}, HangUp: func() {}, Exit: func(int, os.Signal) {}})
	}
	return t
}

func (t *Trial) hit(r *Rule, _ *wire.Frame, did string) {
	h := t.hits[r]
	if h.Count++; len(h.First) < maxShown {
		one := &Hit{Seq: t.seq, Did: did}
		h.First = append(h.First, one)
		t.told = append(t.told, one)
	}
}

// Observe passes the next frame of the tape to the rules, if client or agent sent it.
func (t *Trial) Observe(f *wire.Frame) {
	if !f.Counts() || f.Dir == wire.AgentStderr || f.Stream != 0 {
		return
	}
	if f.Size > proxy.MaxFrame {
		if t.Large++; len(t.Unseen) < maxShown {
			t.Unseen = append(t.Unseen, f.Seq)
		}
		return
	}
	t.at, t.seq = f.At, f.Seq
	t.told = t.told[:0]
	var sent []string
	for _, g := range t.pass(wire.Frame{Dir: f.Dir, Raw: f.Raw, End: f.End, Size: f.Size}) {
		if g.Dir != wire.AgentStderr {
			for _, e := range t.engines {
				e.Pace(g)
			}
		}
		if g.Dir != f.Dir || !bytes.Equal(g.Raw, f.Raw) || g.Origin == wire.Injected {
			sent = append(sent, fmt.Sprintf("%v %s", g.Dir, wire.Clip(string(g.Raw), 1<<10)))
		}
	}
	for _, h := range t.told {
		h.Sent = sent[:min(len(sent), maxShown)]
	}
}

// pass runs a frame through the engines and returns what comes out.
func (t *Trial) pass(f wire.Frame) []wire.Frame {
	way := []*Engine{t.engines[nearClient], t.engines[nearAgent]}
	if f.Dir == wire.AgentToClient {
		slices.Reverse(way)
	}
	out := []wire.Frame{f}
	for _, e := range way {
		in := out
		out = nil
		for _, g := range in {
			if g.Dir != f.Dir {
				out = append(out, g)
				continue
			}
			out = e.Intercept(g, out)
		}
		out = slices.DeleteFunc(out, func(g wire.Frame) bool { return g.Kind == wire.Mark })
	}
	return out
}

// Hits returns the effects of all rules, in the order of the rules.
func (t *Trial) Hits() (list []Hits) {
	for _, r := range t.set.rules {
		list = append(list, *t.hits[r])
	}
	return list
}

// A Warning points out behavior of a rule that a user may not expect.
type Warning struct {
	Rule *Rule
	Text string
}

// Warnings returns warnings about all rules.
func (s *Set) Warnings() (list []Warning) {
	for i, r := range s.rules {
		if _, ok := r.action.(*lack); ok {
			continue
		}
		warn := func(format string, args ...any) {
			list = append(list, Warning{r, fmt.Sprintf(format, args...)})
		}
		if r.answersPermission() {
			warn("can answer a request for a permission in the user's place")
		}
		if method := r.bothOf(); method != "" {
			warn("hits the request %s and its response: add kind:request or kind:response", method)
		}
		if j := slices.IndexFunc(s.rules[:i], func(o *Rule) bool { return o.hides(r) }); j >= 0 {
			warn("is never reached: %s takes all of its frames", s.rules[j].Name)
		} else if j := slices.IndexFunc(s.rules[:i], func(o *Rule) bool { return r.options.counts() && o.thins(r) }); j >= 0 {
			warn("counts only the frames that %s leaves", s.rules[j].Name)
		}
	}
	return list
}

// may reports whether the rule may hit a frame of a method.
func (r *Rule) may(kind wire.Kind, dir wire.Direction, a dialect.Annotation) bool {
	f := dialect.Frame{Frame: wire.Frame{Kind: kind, Dir: dir, Size: 1}, Annotation: a}
	return r.Filter.May(&filter.Subject{Frame: &f})
}

// answersPermission reports whether the rule may decide a permission request of the agent.
func (r *Rule) answersPermission() bool {
	asked := dialect.Annotation{Method: dialect.RequestPermission}
	request := r.may(wire.Request, wire.AgentToClient, asked)
	response := r.may(wire.Response, wire.ClientToAgent, asked)
	switch a := r.action.(type) {
	case answer:
		return request || response
	case set, replace:
		return response
	case inject:
		return a.dir == wire.ClientToAgent && request
	}
	return false
}

// bothOf returns a method whose requests and responses the rule both hits, if its filter
// names methods; otherwise "".
func (r *Rule) bothOf() string {
	if r.Filter.IsZero() || r.may(wire.Request, wire.ClientToAgent, dialect.Annotation{Method: "any/other"}) || r.may(wire.Notification, wire.AgentToClient, dialect.Annotation{Method: "any/other"}) {
		return ""
	}
	for _, m := range dialect.Methods() {
		from, back := wire.ClientToAgent, wire.AgentToClient
		if m.From == dialect.AgentSide {
			from, back = back, from
		}
		a := dialect.Annotation{Method: m.Name}
		if m.Form != dialect.AsNotification && r.may(wire.Request, from, a) && r.may(wire.Response, back, a) {
			return m.Name
		}
	}
	return ""
}

// hides reports whether the rule keeps all frames from a later one.
func (r *Rule) hides(later *Rule) bool { return r.thins(later) && !r.options.limits() }

// thins reports whether the rule keeps some frames from a later one.
func (r *Rule) thins(later *Rule) bool {
	e, ok := r.action.(effect)
	if !ok || !e.ends() || r.options.near != later.options.near {
		return false
	}
	if _, timed := later.action.(pacing); timed {
		_, passes := r.action.(pass)
		if passes {
			return false
		}
	}
	return r.Filter.IsZero() || r.Filter.String() == later.Filter.String()
}

// counts reports whether an option counts frames.
func (o *options) counts() bool { return o.first > 0 || o.nth > 0 || o.every > 0 || o.after > 0 }

// limits reports whether an option excludes frames that match the filter.
func (o *options) limits() bool {
	return o.first > 0 || o.nth > 0 || o.every > 0 || o.after > 0 || o.chance < 1 || o.during > 0
}
