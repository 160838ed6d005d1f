package ship

import (
	"context"
	"slices"
	"time"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace/nested"
	"github.com/acptap/acptap/record/trace/spans"
)

// Tapes links the spans of a tape to other tapes of its store: from a server's call to
// the agent's tool call, and from a session's turn to the last one on an earlier tape. It
// reads those tapes on demand, keeps none open, and ignores what it cannot read. It is
// not safe for concurrent use.
type Tapes struct {
	Store *record.Store // nil: there are no other tapes

	agent   string         // the tape whose servers were read last
	servers *spans.Servers // nil: none
}

// Describe is TapeOf with links to other tapes.
func (r *Tapes) Describe(t *record.Tape, info *record.Info) (spans.Tape, error) {
	tape, err := TapeOf(t, info)
	if r.Store != nil {
		tape.Before = func(session string, at time.Time) (spans.Ref, bool) { return r.before(info.Tape, session, at) }
		if tape.Parent != "" {
			tape.Above = func(frame uint64, id string) (spans.Ref, bool) { return r.above(tape.Parent, info.Tape, frame, id) }
		}
	}
	return tape, err
}

// above implements spans.Tape.Above for a server of an agent.
func (r *Tapes) above(agent, server string, frame uint64, id string) (spans.Ref, bool) {
	if r.agent != agent {
		r.agent, r.servers = agent, r.readServers(agent)
	}
	if r.servers == nil {
		return spans.Ref{}, false
	}
	return r.servers.Above(server, frame, id)
}

// readServers reads the tapes of an agent and of its servers; nil if the agent's is
// missing.
func (r *Tapes) readServers(agent string) *spans.Servers {
	tapes, about, err := r.open(agent)
	if err == nil {
		err = tapes.AddServers(false)
	}
	if err != nil {
		return nil
	}
	s := spans.ServersOf(about)
	calls := map[*reading.Part]*nested.Tape{}
	for _, p := range tapes.Servers() {
		calls[p] = reading.CallsOf(&p.Info)
		s.Server(calls[p])
	}
	for e := range tapes.Read(context.Background()) {
		switch {
		case e.Kind != reading.Read || e.Err != nil:
		case e.Part.IsServer():
			calls[e.Part].Add(&e.Frame)
		default:
			s.Add(&e.Frame)
		}
	}
	for _, t := range calls {
		t.End()
	}
	s.End()
	return s
}

// open returns a reader of a tape, and describes the tape without links.
func (r *Tapes) open(id string) (*reading.Reader, spans.Tape, error) {
	t, err := r.Store.Open(id)
	if err != nil {
		return nil, spans.Tape{}, err
	}
	parts, err := reading.Agents(t)
	if err != nil {
		return nil, spans.Tape{}, err
	}
	parts[0].Store = r.Store
	about, err := TapeOf(t, &parts[0].Info)
	return reading.New(parts), about, err
}

// before implements spans.Tape.Before for a tape.
func (r *Tapes) before(tape, session string, at time.Time) (last spans.Ref, ok bool) {
	l, err := r.Store.List()
	if err != nil {
		return last, false
	}
	has := tapesWith(&l, session)
	own := slices.IndexFunc(l.Tapes, func(one record.Info) bool { return one.Tape == tape })
	for i := own - 1; i >= 0; i-- {
		info := &l.Tapes[i]
		if has[info.Tape] && info.Agent() == l.Tapes[own].Agent() {
			if last, ok = r.lastTurn(info, session, at); ok {
				return last, true
			}
		}
	}
	return last, false
}

// tapesWith returns the ids of the tapes with turns of a session.
func tapesWith(l *record.Listing, session string) map[string]bool {
	tapes := map[string]bool{}
	for _, list := range [][]record.SessionInfo{l.Sessions, l.Deleted} {
		for i := range list {
			for _, run := range list[i].Runs {
				if list[i].ID == session && run.Turns > 0 {
					tapes[run.Tape] = true
				}
			}
		}
	}
	return tapes
}

// lastTurn returns the last turn of a session on a tape among those that began before at.
func (r *Tapes) lastTurn(info *record.Info, session string, at time.Time) (last spans.Ref, ok bool) {
	tape, about, err := r.open(info.Tape)
	if err != nil {
		return last, false
	}
	var began time.Time
	take := func(sets []spans.Set) {
		for _, set := range sets {
			for _, s := range set.Spans {
				if s.Kind == spans.Turn && s.Session == session && s.Start.Before(at) && !s.Start.Before(began) {
					last, ok, began = spans.Ref{Trace: s.Trace, ID: s.ID}, true, s.Start
				}
			}
		}
	}
	var b spans.Builder
	b.Next(about)
	for e := range tape.Read(context.Background()) {
		if e.Kind == reading.Read && e.Err == nil {
			take(b.Add(&e.Frame))
		}
	}
	take(b.End())
	return last, ok
}
