package rule

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// An Engine applies rules to one connection. It is a proxy.Interceptor and a proxy.Pacer.
type Engine struct {
	set    *Set
	seed   uint64
	near   side
	now    func() time.Duration // time since the connection began
	handle proxy.Handle
	hit    func(r *Rule, f *wire.Frame, did string) // called for each hit; may be nil
	desk   *Desk                                    // where frames wait for a user; nil: no frame waits

	rules  []*counter           // rules that act when the Engine sees a frame
	first  [2][kinds][]*counter // the subset of rules that may match, by direction and kind of frame
	timed  []*counter           // rules that act when a frame is written
	seen   view                 // what the Engine has seen
	lanes  view                 // what has been written
	named  bool                 // the tape lists the rules at its start
	begun  bool
	ended  bool
	long   bool             // a line too long for rules has passed
	closed [2]bool          // by direction: whether the stream has ended
	ends   [2]chan struct{} // by direction: closed when the end may pass; nil: nothing holds it back

	noisy     [2]bool // the next frame of the direction waits for stderr
	stalled   [2]bool
	dead      bool // a rule has ended the agent
	postponed postponement
	asked     bounded.Map[string, string] // rule names by the ids of the requests that rules made
	ids       int
	calls     int     // incremented when Intercept begins and when it ends
	passing   passage // reused
}

// Chain returns inner with an Engine in front of it, at the client's end. It adds one behind
// it if any rule works near the agent, or if a user may add such a rule.
func (s *Set) Chain(seed uint64, inner ...proxy.Interceptor) (chain []proxy.Interceptor) {
	engines := s.engines(seed)
	chain = append(chain, engines[nearClient])
	chain = append(chain, inner...)
	if engines[nearAgent].named || s.desk != nil && len(inner) > 0 {
		chain = append(chain, engines[nearAgent])
	}
	if s.desk != nil {
		s.desk.engines, s.desk.rules = engines[:len(chain)-len(inner)], slices.Clone(s.rules)
	}
	return chain
}

func (s *Set) engines(seed uint64) (engines [2]*Engine) {
	for at := range engines {
		e := &Engine{set: s, seed: seed, near: side(at), desk: s.desk}
		e.asked.Limit = maxCounters
		for _, r := range s.rules {
			switch _, timed := r.action.(pacing); {
			case r.options.near != e.near:
			case timed:
				e.timed = append(e.timed, newCounter(r, seed))
			default:
				e.rules = append(e.rules, newCounter(r, seed))
			}
		}
		e.named = e.near == nearClient || len(e.rules)+len(e.timed) > 0
		e.seen, e.lanes = newView(e.rules), newView(e.timed)
		if s.desk != nil { // a session is held as a whole, and a user may add rules
			e.seen.knowAll()
			e.lanes.knowAll()
		}
		e.sort()
		engines[at] = e
	}
	return engines
}

// sort groups the rules by the kinds of frames they may match.
func (e *Engine) sort() {
	for dir := range e.first {
		for kind := range e.first[dir] {
			e.first[dir][kind] = nil
			for _, c := range e.rules {
				if c.Filter.CanSelect(wire.Kind(kind), wire.Direction(dir)) {
					e.first[dir][kind] = append(e.first[dir][kind], c)
				}
			}
		}
	}
}

// Start prepares the Engine for a connection. The proxy calls it.
func (e *Engine) Start(h proxy.Handle) {
	e.handle = h
	if e.now == nil {
		began := time.Now()
		e.now = func() time.Duration { return time.Since(began) }
	}
	e.desk.start(e)
}

// Intercept handles the next frame. The proxy calls it.
func (e *Engine) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame {
	e.calls++
	out = e.begin(out)
	s, env := e.seen.observe(f, e.now)
	if id, name, ours := e.answers(&f, env); ours {
		e.desk.answered(id, f.Raw)
		return append(out, note(f.Dir, name, "answer to a request of this rule", 1))
	}
	if e.stalled[f.Dir] || e.dead {
		return out
	}
	switch {
	case s.Kind == wire.Batch:
		f.Kind = s.Kind
		out = e.batch(f, s, out)
		e.passing = passage{}
	case !e.concerns(s):
		out = append(out, f)
	default:
		f.Kind = s.Kind
		p := e.passage(f, s, env)
		e.apply(p)
		p.wait()
		out = p.append(out, false)
		e.passing = passage{} // it may hold a large frame
	}
	e.seen.forget()
	e.calls++
	return e.desk.limit(e.advance(f.Dir, out), e)
}

// kinds is the number of kinds of frames.
const kinds = wire.Body + 1

// concerns reports whether any rule may act on a frame as it arrived. Most frames concern no
// rule, and pass without more work (BenchmarkRules in cmd/acptap).
func (e *Engine) concerns(s *filter.Subject) bool {
	if e.desk.isBusy() {
		return true
	}
	for _, c := range e.first[s.Dir][s.Kind] {
		if l, ok := c.action.(*lack); ok {
			if l.concerns(s, e.seen.tracker.Connection().Dialect) {
				return true
			}
		} else if c.Filter.Match(s) {
			return true
		}
	}
	return false
}

// stalls reports whether dir is blocked.
func (e *Engine) stalls(dir wire.Direction) bool { return dir != wire.AgentStderr && e.stalled[dir] }

// unstalled removes the frames of blocked directions from list, and adjusts the notes about
// them.
func (e *Engine) unstalled(list []wire.Frame) []wire.Frame {
	if e.stalled == [2]bool{} {
		return list
	}
	list = slices.DeleteFunc(list, func(f wire.Frame) bool { return f.Kind != wire.Mark && e.stalls(f.Dir) })
	for i, f := range list {
		if f.Kind == wire.Mark && e.stalls(f.Dir) {
			list[i] = withoutFrames(f)
		}
	}
	return list
}

// apply runs all rules on a frame.
func (e *Engine) apply(p *passage) {
	for _, c := range e.rules {
		if p.done {
			return
		}
		if c.off || c.holds && !e.desk.attended(c.owner) {
			continue
		}
		if l, ok := c.action.(*lack); ok {
			p.rule = c.Rule
			if did := l.act(p); did != "" {
				c.hits++
				p.tell(c.Rule, did)
				e.tell(c, &p.came, did)
			}
			continue
		}
		random, ok := c.hit(p.subject)
		if !ok {
			continue
		}
		p.rule, p.counter, p.random = c.Rule, c, random
		a := c.action.(effect)
		did := a.act(p)
		if did != "" {
			p.tell(c.Rule, did)
		}
		e.tell(c, &p.came, cmp.Or(did, c.Rule.text))
		p.done = p.done || a.ends()
	}
}

// tell reports a hit.
func (e *Engine) tell(c *counter, f *wire.Frame, did string) {
	e.desk.hit(c)
	if e.hit != nil {
		e.hit(c.Rule, f, did)
	}
}

// batch runs all rules on each entry of a batch. If any rule hits, the entries are sent as
// separate frames.
func (e *Engine) batch(f wire.Frame, s *filter.Subject, out []wire.Frame) []wire.Frame {
	var split []wire.Frame
	hit, whole, entries := false, *s, s.Entries // s changes when a rule sends something
	wire.Entries(f.Raw, func(i int, entry []byte) bool {
		env := wire.Scan(entry)
		one := dialect.Frame{Frame: f}
		one.Raw, one.Kind, one.Size, one.End = entry, env.Kind, int64(len(entry)), wire.LF
		if i < len(entries) {
			one.Annotation = entries[i]
		}
		sub := whole
		sub.Frame = &one
		p := e.passage(one.Frame, &sub, env)
		e.apply(p)
		p.wait()
		hit = hit || p.touched
		split = p.append(split, true)
		return !e.stalled[f.Dir] && !e.dead
	})
	if !hit {
		f.Kind = wire.Invalid // as the proxy showed it
		return append(out, f)
	}
	return append(out, split...)
}

// answers reports whether a frame responds to a request that a rule or a user made, and to
// which one. Such a response must not reach the peer, however long it is.
func (e *Engine) answers(f *wire.Frame, env wire.Envelope) (id []byte, name string, ours bool) {
	if e.asked.Len() == 0 {
		return nil, "", false
	}
	if env.Kind == wire.Oversized {
		env = wire.ScanWhole(f.Raw) // the id may be at the end
	}
	if env.MessageKind() != wire.Response {
		return nil, "", false
	}
	name, ours = e.asked.Get(string(env.ID))
	e.asked.Drop(string(env.ID))
	return env.ID, name, ours
}

// ownID returns the id of a request that a rule makes.
func (e *Engine) ownID(name string) []byte {
	e.ids++
	where := ""
	if e.near == nearAgent {
		where = "agent:"
	}
	id := fmt.Sprintf(`"acptap-rule:%s%d"`, where, e.ids)
	e.asked.Set(id, name)
	return []byte(id)
}

// begin writes the rules to the tape, once.
func (e *Engine) begin(out []wire.Frame) []wire.Frame {
	if e.begun {
		return out
	}
	e.begun = true
	if !e.named {
		return out
	}
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d", e.seed)
	for _, r := range e.set.rules {
		if r.options.near == e.near {
			fmt.Fprintf(&b, "\n@%s %s", r.Name, r.text)
		}
	}
	return append(out, note(wire.ClientToAgent, "rules", b.String(), 0))
}

// LongLine notes the first line that is too long for rules. The proxy calls it.
func (e *Engine) LongLine(dir wire.Direction, out []wire.Frame) []wire.Frame {
	out = e.begin(out)
	if e.long || e.near == nearAgent {
		return out
	}
	e.long = true
	return append(out, note(dir, "rules", "no rule sees a line over 16 MiB: this one, and those after it", 1))
}

// End handles the end of a stream. The proxy calls it.
func (e *Engine) End(dir wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{}) {
	out = e.begin(out)
	if dir == wire.AgentStderr {
		return out, nil
	}
	e.closed[dir] = true
	out = e.release(out, func(h *held) bool { return h.frame.Dir == dir })
	e.ends[dir] = make(chan struct{})
	e.waited()
	if dir == wire.AgentToClient && e.named && !e.ended {
		e.ended = true
		did := "every rule hit"
		if never := e.missed(); len(never) > 0 {
			did = "never hit: " + strings.Join(never, ", ")
		}
		out = append(out, note(dir, "rules", did, 0))
	}
	return out, e.ends[dir]
}

// waited releases the ends of streams that no longer have frames waiting before them.
func (e *Engine) waited() {
	for dir, end := range e.ends {
		if end != nil && !e.desk.waits(e, wire.Direction(dir)) {
			close(end)
			e.ends[dir] = nil
		}
	}
}

// missed returns the names of the rules that should have hit but never did.
func (e *Engine) missed() (names []string) {
	for _, r := range e.set.rules {
		for _, list := range [][]*counter{e.rules, e.timed} {
			for _, c := range list {
				if c.Rule == r && c.hits == 0 && !r.options.may {
					names = append(names, r.Name)
				}
			}
		}
	}
	return names
}

// Missed returns the names of the rules of a chain that should have hit but never did. It may
// be called once the proxy has returned.
func Missed(chain []proxy.Interceptor) (names []string) {
	for _, i := range chain {
		if e, ok := i.(*Engine); ok {
			names = append(names, e.missed()...)
		}
	}
	return names
}

// Pace says how a frame is written. The proxy calls it.
func (e *Engine) Pace(f wire.Frame) (pace proxy.Pace) {
	pace.AfterStderr, e.noisy[f.Dir] = e.noisy[f.Dir], false
	if len(e.timed) == 0 && e.desk == nil { // a user may add rules
		return pace
	}
	f.Kind = wire.Invalid
	s, _ := e.lanes.observe(f, e.now)
	defer e.lanes.forget()
	for _, c := range e.timed {
		if c.off {
			continue
		}
		random, ok := c.hit(s)
		if !ok {
			continue
		}
		one, did := c.action.(pacing).pace(&s.Frame.Frame, random)
		e.tell(c, &s.Frame.Frame, cmp.Or(did, c.Rule.text))
		if did == "" {
			continue
		}
		pace.Delay += one.Delay
		if one.Rate > 0 {
			pace.Rate = one.Rate
		}
		if one.Piece > 0 || one.Cuts != nil {
			pace.Piece, pace.Cuts, pace.Pause = one.Piece, one.Cuts, one.Pause
		}
		pace.Notes = append(pace.Notes, wire.Rule{Name: c.Name, Did: did, Frames: lines(f.Raw), Delay: seconds(one.Delay)})
	}
	return pace
}

// note returns a mark for the tape.
func note(dir wire.Direction, name, did string, frames int) wire.Frame {
	m := wire.Marked{Rule: &wire.Rule{Name: name, Did: wire.Clip(did, maxNote), Frames: frames}}
	return wire.Frame{Dir: dir, Kind: wire.Mark, Raw: m.JSON()}
}

// maxNote limits the text of a mark, in bytes.
const maxNote = 64 << 10

// A view is what one end of the chain has seen of a connection.
type view struct {
	tracker *dialect.Tracker
	past    *filter.Tracker // nil if no filter needs it
	plain   bool            // no rule depends on other frames or on the time
	seq     uint64
	start   time.Time
	method  string // of the last notification
	updates bool   // whether that method is an update

	frame   dialect.Frame  // the last one
	subject filter.Subject // refers to frame
}

func newView(rules []*counter) view {
	v := view{tracker: dialect.NewTracker(dialect.AnyProtocol), plain: true, start: time.Now()}
	past := false
	for _, c := range rules {
		v.plain = v.plain && c.Filter.IsPlain() && c.options.per == perConnection && c.options.during == 0
		past = past || c.Filter.NeedsPast() || c.options.per == perTurn
	}
	if past {
		v.remember()
	}
	return v
}

// knowAll prepares the view for any rule that a user may add.
func (v *view) knowAll() {
	v.plain = false
	v.remember()
}

func (v *view) remember() {
	if v.past == nil {
		v.past = &filter.Tracker{}
		v.past.Next(v.start)
	}
}

// observe handles the next frame and returns its meaning, which is valid until the next call.
func (v *view) observe(f wire.Frame, now func() time.Duration) (*filter.Subject, wire.Envelope) {
	v.seq++
	f.Seq = v.seq
	env := wire.Scan(f.Raw)
	f.Kind = env.Kind
	v.frame = dialect.Frame{Frame: f}
	switch {
	case v.plain && v.isUpdate(&env):
		v.frame.Method = v.method
	case v.plain:
		v.frame.Annotation, _ = v.tracker.Observe(&f, env)
	default:
		f.At = now()
		v.frame.At = f.At
		v.frame.Annotation, _ = v.tracker.Observe(&f, env)
		v.frame.Failed = dialect.Failed(env, &v.frame.Annotation)
	}
	if v.past != nil {
		v.subject = v.past.Observe(&v.frame)
	} else {
		v.subject = filter.Subject{Frame: &v.frame, Start: v.start}
	}
	return &v.subject, env
}

// isUpdate reports whether a message is an update. Most traffic is, and an update does not
// affect what plain rules learn about other messages.
func (v *view) isUpdate(env *wire.Envelope) bool {
	if env.Kind != wire.Notification {
		return false
	}
	if string(env.Method) != v.method {
		v.method = string(env.Method)
		v.updates = dialect.Does(v.method, dialect.TellsUpdate)
	}
	return v.updates
}

// forget drops the frame if it is large.
func (v *view) forget() {
	if v.frame.Size > 64<<10 {
		v.frame, v.subject = dialect.Frame{}, filter.Subject{}
	}
}

// lines returns the number of lines that a frame takes on the tape.
func lines(raw []byte) int { return 1 + bytes.Count(raw, []byte("\n")) }
