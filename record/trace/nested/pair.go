package nested

import (
	"slices"
	"sort"
	"time"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/record/trace"
)

// A session holds the tool calls of a session and the calls to its servers.
type session struct {
	tools   []*tool // in the order in which they began
	newest  map[string]*tool
	calls   []*Call // in order
	from    int     // the calls before this index are settled
	anchors []anchor
	loose   map[*trace.Entity][]*Call // by the preceding anchor
	changed bool
}

// An anchor is a prompt or a tool call. Calls that belong to no tool call are listed after
// it.
type anchor struct {
	*trace.Entity
	at    time.Time
	turn  *trace.Turn
	start time.Time // of its tape
}

// insert adds calls of one tape.
func (s *session) insert(calls []*Call) {
	if len(calls) == 0 {
		return
	}
	near := calls[0].Began.Add(-settleAfter)
	s.unsettle(sort.Search(s.from, func(i int) bool { return s.calls[i].Began.After(near) }))
	s.calls = append(s.calls, calls...)
	slices.SortFunc(s.calls, order)
}

// drop removes the calls of a tape.
func (s *session) drop(t *Tape) {
	s.unsettle(0)
	s.release()
	s.calls = slices.DeleteFunc(s.calls, func(c *Call) bool { return c.Tape == t })
	s.changed = true
}

// settle finalizes the joins of calls that were answered before a given time.
func (s *session) settle(before time.Time) {
	for s.from < len(s.calls) && !s.calls[s.from].Open() && s.calls[s.from].Ended.Before(before) {
		s.calls[s.from].settled = true
		s.from++
	}
}

func (s *session) unsettle(from int) {
	for _, c := range s.calls[from:s.from] {
		c.settled = false
	}
	s.from = from
}

// release undoes the joins of calls that are not settled.
func (s *session) release() {
	isOpen := func(c *Call) bool { return !c.settled }
	for _, t := range s.tools {
		t.calls = slices.DeleteFunc(t.calls, func(one Joined) bool { return isOpen(one.Call) })
	}
	for e, calls := range s.loose {
		if calls = slices.DeleteFunc(calls, isOpen); len(calls) == 0 {
			delete(s.loose, e)
		} else {
			s.loose[e] = calls
		}
	}
}

// pair joins the calls that are not settled: the best pairs first and, among equals, the
// earliest calls with the earliest tool calls. A tool call gets one call, except for the
// calls that name it by id.
func (s *session) pair() {
	s.release()
	for _, t := range s.tools {
		t.measure()
	}
	m := matcher{session: s, outputs: bounded.Map[*tool, []string]{Limit: 2 * (before + behind)}}
	var waiting [mostPoints*int(fits) + int(fits)][]match
	add := func(one match) {
		if one.tool != nil {
			waiting[one.rank] = append(waiting[one.rank], one)
		}
	}
	for i := s.from; i < len(s.calls); i++ {
		add(m.best(i, len(waiting)))
	}
	for rank := len(waiting) - 1; rank >= 0; rank-- {
		slices.SortFunc(waiting[rank], func(a, b match) int { return a.call - b.call })
		for _, one := range waiting[rank] {
			if one.isTaken() {
				if one = m.best(one.call, rank); one.tool == nil || one.rank < rank {
					add(one)
					continue
				}
			}
			one.tool.calls = append(one.tool.calls, Joined{s.calls[one.call], one.by})
			m.joined(one.call)
		}
		waiting[rank] = nil
	}
	s.hang(&m)
}

// hang attaches unjoined calls to the preceding anchors.
func (s *session) hang(m *matcher) {
	for i, c := range s.calls[s.from:] {
		if m.isJoined[s.from+i] {
			continue
		}
		n := sort.Search(len(s.anchors), func(k int) bool { return s.anchors[k].at.After(c.Began) })
		if n == 0 || !s.anchors[n-1].turn.Open() && s.anchors[n-1].start.Add(s.anchors[n-1].turn.Ended).Before(c.Began) {
			continue // made outside any turn
		}
		if s.loose == nil {
			s.loose = map[*trace.Entity][]*Call{}
		}
		s.loose[s.anchors[n-1].Entity] = append(s.loose[s.anchors[n-1].Entity], c)
	}
}

// best considers this many tool calls that began before and after the answer to a call. If
// more are open at once, those further away are not joined.
const (
	before = 256
	behind = 64
)

// A matcher finds tool calls for calls.
type matcher struct {
	*session
	outputs  bounded.Map[*tool, []string]
	isJoined map[int]bool
}

// A match is a tool call that a call may belong to.
type match struct {
	call int // index of the tool call
	tool *tool
	rank int // higher is better
	by   Evidence
}

// isTaken reports whether the tool call already belongs to another call.
func (m match) isTaken() bool { return m.by != ByID && len(m.tool.calls) > 0 }

func (m *matcher) joined(call int) {
	if m.isJoined == nil {
		m.isJoined = map[int]bool{}
	}
	m.isJoined[call] = true
}

// best returns the best available match of a call whose rank does not exceed most, the first
// if several are equal. Its tool is nil if there is none.
func (m *matcher) best(call, most int) match {
	best, c := match{call: call, rank: -1}, m.calls[call]
	if !c.IsTool() {
		return best
	}
	_, answered := c.span()
	middle := sort.Search(len(m.tools), func(i int) bool { return m.tools[i].began > answered })
	near := m.tools[max(middle-before, 0):min(middle+behind, len(m.tools))]
	only := m.only(call, near)
	for _, t := range near {
		f, ok := fitOf(c, &t.span)
		if !ok {
			continue
		}
		points, by := score(c, t, m.output)
		if t == only {
			points += forNoOther
		}
		one := match{call, t, points*int(fits) + int(f), by}
		if points >= enough && one.rank > best.rank && one.rank <= most && !one.isTaken() {
			best = one
		}
	}
	return best
}

// only returns the one tool call that was open when a call was answered and shares evidence
// with it. It returns nil if another tool call shares evidence with the call, or a
// neighbouring call with the tool call.
func (m *matcher) only(call int, near []*tool) *tool {
	var only *tool
	isLike := func(call int, t *tool) bool {
		f, ok := fitOf(m.calls[call], &t.span)
		if !ok || f != between {
			return false
		}
		points, _ := score(m.calls[call], t, m.output)
		return points > 0
	}
	for _, t := range near {
		if isLike(call, t) {
			if only != nil {
				return nil
			}
			only = t
		}
	}
	for _, i := range []int{call - 1, call + 1} {
		if only != nil && i >= 0 && i < len(m.calls) && isLike(i, only) {
			return nil
		}
	}
	return only
}

// output returns the texts that a tool call shows.
func (m *matcher) output(t *tool) []string {
	list, ok := m.outputs.Get(t)
	if !ok {
		list = outputsOf(t.ToolCall)
		m.outputs.Set(t, list)
	}
	return list
}
