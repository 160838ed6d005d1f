package shim

import (
	"bytes"
	"cmp"
	"errors"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

// A history is what was said in a session until now: its own stretch, and
// before that, of a fork, those of the sessions it came from. Stretches are in
// order.
type history struct {
	stretches []stretch
}

// A stretch is the conversation of one session.
type stretch struct {
	*trace.Conversation
	id     string
	epochs []epoch // by the runs of the conversation
	first  int     // number of the first of them in the history
	turns  int     // only the first of its turns count, with what came before; -1: all
	live   int     // the run that is this connection's and goes on; -1: none
	stage1 bool    // its client is of the first days of version 2: no whole messages, and tool_call
}

// empty reports whether there is nothing to show.
func (h *history) empty() bool {
	for _, s := range h.stretches {
		if len(s.Entities) > 0 {
			return false
		}
	}
	return true
}

// lookUp begins to find out which sessions the store has. It is called in an
// act, and whenever the agent may give an id that it has given before.
func (s *Shim) lookUp() {
	s.lookups++
	s.spawn(func() {
		l, _ := s.Store.List() // one that cannot be read has nothing to confuse
		s.do(func(out []wire.Frame) []wire.Frame {
			for _, one := range slices.Concat(l.Sessions, l.Deleted) {
				if one.Agent == s.Agent && one.Runs[0].Tape != s.Tape {
					s.known[one.ID] = true
				}
			}
			s.lookups--
			if s.lookups > 0 {
				return out
			}
			parked := s.parked
			s.parked = nil
			for _, f := range parked {
				s.kept.drop(f)
				if m := read(again(f)); m.env.Method != nil {
					out = s.message(m, out)
				} else {
					out = s.settled(s.made(m, out))
				}
			}
			return out
		})
	})
}

// offered returns the sessions that may be listed and loaded here: those that
// somebody has opened, and not only asked for. Where an agent has used an id
// again, or several agents have, it names only one.
func (s *Shim) offered(l record.Listing) []record.SessionInfo {
	best := map[string]record.SessionInfo{}
	for _, one := range slices.Concat(l.Sessions, l.Deleted) {
		_, _, turns := one.Total()
		if !s.AnyAgent && one.Agent != s.Agent || one.Cwd == "" && turns == 0 {
			continue
		}
		if other, ok := best[one.ID]; !ok || s.prefers(one, other) {
			best[one.ID] = one
		}
	}
	maps.DeleteFunc(best, func(_ string, one record.SessionInfo) bool { return one.Deleted })
	return slices.Collect(maps.Values(best))
}

// prefers reports whether an id that both have names a rather than b: that of this
// agent, then that in which something was said, then the later one.
func (s *Shim) prefers(a, b record.SessionInfo) bool {
	if own := a.Agent == s.Agent; own != (b.Agent == s.Agent) {
		return own
	}
	_, _, said := a.Total()
	if _, _, other := b.Total(); (said > 0) != (other > 0) {
		return said > 0
	}
	return a.Updated().After(b.Updated())
}

// torn reports whether a part of a session could not be recorded, as on a full
// disk. To show the rest as if it were all would deceive both the client and the
// agent.
func (s *Shim) torn(one record.SessionInfo, l record.Listing) bool {
	return slices.ContainsFunc(one.Runs, func(r record.Run) bool {
		if info := tapeOf(l, r); info == nil || info.Lost == 0 {
			return false
		}
		tape, err := s.Store.Open(r.Tape)
		if err != nil {
			return false
		}
		for f, err := range tape.Frames(r.First) {
			switch {
			case err != nil:
			case f.Seq > r.Last:
				return false
			case f.Kind == wire.Mark && wire.ReadMark(f.Frame).Gap > 0:
				return true
			}
		}
		return false
	})
}

// tapeOf returns what is known of the tape of a run, nil if it is not there.
func tapeOf(l record.Listing, r record.Run) *record.Info {
	i, ok := slices.BinarySearchFunc(l.Tapes, r.Tape, func(t record.Info, id string) int { return cmp.Compare(t.Tape, id) })
	if !ok {
		return nil
	}
	return &l.Tapes[i]
}

// find returns a session of the store that may be loaded, and all that is in
// the store with it. Errors are faults.
func (s *Shim) find(id string) (record.SessionInfo, record.Listing, error) {
	l, err := s.Store.List()
	if err != nil {
		return record.SessionInfo{}, l, unreadable("store", err)
	}
	offered := s.offered(l)
	i := slices.IndexFunc(offered, func(one record.SessionInfo) bool { return one.ID == id })
	if i < 0 {
		return record.SessionInfo{}, l, notFound(id)
	}
	one := offered[i]
	if s.torn(one, l) {
		return record.SessionInfo{}, l, fault{internalError, "a part of the session could not be recorded", nil}
	}
	return one, l, nil
}

// busyElsewhere reports whether another proxy that runs now has the session, and
// has gone on with it.
func (s *Shim) busyElsewhere(one record.SessionInfo, l record.Listing) bool {
	return !one.Closed && slices.ContainsFunc(one.Runs, func(r record.Run) bool {
		tape := tapeOf(l, r)
		return tape != nil && tape.Live && r.Tape != s.Tape && r.Turns > 0
	})
}

// read returns the history of a session, as it was when the client asked for it
// in request: what it sent behind that is none yet. Parts of tapes that cannot be
// read are left out.
func (s *Shim) read(one record.SessionInfo, l record.Listing, request message) (*history, error) {
	h := &history{}
	all := slices.Concat(l.Sessions, l.Deleted)
	lineage := []record.SessionInfo{one}
	for len(lineage) <= maxForks && one.Parent != "" {
		var found *record.SessionInfo // the latest of that id, before the fork
		for i := range all {
			p := &all[i]
			if p.ID == one.Parent && p.Agent == one.Agent && !p.Began().After(one.Began()) && (found == nil || p.Began().After(found.Began())) {
				found = p
			}
		}
		if found == nil {
			break
		}
		one = *found
		lineage = append(lineage, one)
	}
	epochs := 0
	for i, one := range slices.Backward(lineage) {
		part, starts, err := s.traced(one, request)
		if err != nil {
			return nil, err
		}
		part.first = epochs
		if i > 0 {
			part.turns = finished(part.Conversation, starts, lineage[i-1].Began())
		}
		h.stretches = append(h.stretches, part)
		epochs += len(part.epochs)
	}
	return h, nil
}

// maxForks is how many forks of forks are followed.
const maxForks = 64

// finished returns how many turns of a conversation had ended at a time; with
// the zero time, how many have ended by now. starts is when its runs began.
func finished(c *trace.Conversation, starts []time.Time, at time.Time) int {
	for i, t := range c.Turns {
		if t.Open() || !at.IsZero() && starts[t.Run].Add(t.Ended).After(at) {
			return i
		}
	}
	return len(c.Turns)
}

// traced returns what happened in a session on all of its tapes, as its clients
// saw it until request, and when each tape began.
func (s *Shim) traced(one record.SessionInfo, request message) (part stretch, starts []time.Time, err error) {
	part = stretch{Conversation: &trace.Conversation{}, id: one.ID, turns: -1, live: -1}
	var t trace.Trace
	for _, run := range one.Runs {
		tape, err := s.Store.Open(run.Tape)
		if errors.Is(err, record.ErrNoTape) {
			continue // deleted meanwhile
		}
		if err != nil {
			return part, nil, err
		}
		info, err := tape.Info()
		if err != nil {
			return part, nil, err
		}
		starts = append(starts, info.Start.Time)
		e := epoch{tape: tape, run: run, connection: info.Connection, live: info.Live}
		if run.Tape == s.Tape {
			e.until = request
		}
		part.epochs = append(part.epochs, e)
		t.Next(e.connection)
		for f := range e.frames(one.ID) {
			t.Add(f)
			if e.connection.Dialect == dialect.ACPv2Early && f.Origin.Sent() {
				part.stage1 = part.stage1 || f.Update == "tool_call" // until 2026-06-08
			}
		}
	}
	for _, found := range t.Sessions { // of an id that was given twice, the last
		if found.ID == one.ID {
			part.Conversation = &found.Conversation
		}
	}
	return part, starts, nil
}

// An epoch is one run of a session: what the ids of an agent process are unique
// in.
type epoch struct {
	tape       *record.Tape
	run        record.Run
	connection dialect.Connection
	live       bool    // the tape is being recorded
	until      message // where it ends on this connection's tape
}

// frames yields the frames of the session. What cannot be read is left out: the
// rest is worth showing.
func (e *epoch) frames(id string) iter.Seq[*dialect.Frame] {
	return func(yield func(*dialect.Frame) bool) {
		for f, err := range e.tape.Frames(e.run.First) {
			if err != nil {
				continue
			}
			if e.until.is(&f) {
				return
			}
			if belongs(&f, id, e.run) {
				if f.Kind == wire.Unchecked && f.Size <= maxWhole {
					f.Raw = whole(e.tape, f)
				}
				if !yield(&f) {
					return
				}
			}
			if f.Seq >= e.run.Last && !e.live {
				return
			}
		}
	}
}

// maxWhole is how large a frame may be of which all is replayed: a picture is in
// one line. The proxy shows the shim none that are larger.
const maxWhole = 16 << 20

// whole returns all bytes of a frame of which a tape gives only the beginning at
// first, or that beginning if the rest cannot be read.
func whole(t *record.Tape, f dialect.Frame) []byte {
	var b bytes.Buffer
	if t.WriteFrame(&b, f.Seq) != nil {
		return f.Raw
	}
	return b.Bytes()
}

// sameDir compares two working directories as text: a link may lead elsewhere
// tomorrow.
func sameDir(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) }

// belongs reports whether a frame, or an entry of a batch, is of a session.
func belongs(f *dialect.Frame, id string, run record.Run) bool {
	return f.Session == id || f.Seq == run.First ||
		slices.ContainsFunc(f.Entries, func(a dialect.About) bool { return a.Session == id })
}
