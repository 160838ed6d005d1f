package shim

import (
	"bytes"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

// A history is what has happened in a session. The history of a fork begins with a part
// for each of its ancestors, oldest first. Its own part comes last.
type history struct {
	parts    []sessionPart
	settings *trace.State // the mode, model and options to restore; nil: none
}

// A sessionPart is the conversation of one session of a history.
type sessionPart struct {
	*trace.Conversation
	id         string
	epochs     []epoch // by run of the conversation
	first      int     // number of the first epoch in the history
	turns      int     // number of turns that count; what precedes the first turn always counts; -1: all
	live       int     // the run that continues on this connection; -1: none
	earlyDraft bool    // recorded in the early draft of version 2, from the time when it had tool_call and sent messages only in chunks
}

// own returns the session's own part.
func (h *history) own() *sessionPart { return &h.parts[len(h.parts)-1] }

// empty reports whether there is nothing to show.
func (h *history) empty() bool {
	for _, p := range h.parts {
		if len(p.Entities) > 0 {
			return false
		}
	}
	return true
}

// entities yields the part's entities that count (see sessionPart.turns). What subagents did
// is not among them: it belongs to sessions that the client does not load.
func (p *sessionPart) entities() iter.Seq[*trace.Entity] {
	return func(yield func(*trace.Entity) bool) {
		for _, e := range p.Entities {
			if (p.turns < 0 || e.Turn <= p.turns) && !e.BySubagent() && !yield(e) {
				return
			}
		}
	}
}

// cutOff returns the last entity of each turn that is unfinished because the recording
// ends in it.
func (p *sessionPart) cutOff() map[*trace.Entity]bool {
	last := map[int]*trace.Entity{}
	for e := range p.entities() {
		last[e.Turn] = e
	}
	cut := map[*trace.Entity]bool{}
	for _, t := range p.Turns {
		if e := last[t.Number]; e != nil && t.Open() && t.Run != p.live {
			cut[e] = true
		}
	}
	return cut
}

// epochs returns the number of epochs in all parts.
func (h *history) epochs() int {
	last := h.own()
	return last.first + len(last.epochs)
}

// readHistory returns a session's history as of the moment when the client sent request.
// It leaves out unreadable frames.
func (s *Shim) readHistory(one record.SessionInfo, l record.Listing, request message) (*history, error) {
	h, own := &history{}, one
	all := slices.Concat(l.Sessions, l.Deleted)
	lineage := []record.SessionInfo{one}
	for len(lineage) <= maxForks && one.Parent != "" {
		var found *record.SessionInfo // the latest with that id, before the fork
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
			part.turns = lastFinished(part.Conversation, starts, lineage[i-1].Began())
		}
		h.parts = append(h.parts, part)
		epochs += len(part.epochs)
	}
	h.settings = s.recordedSettings(own, l, h.own())
	return h, nil
}

// maxForks limits how many generations of forks are followed.
const maxForks = 64

// lastFinished returns the number of the last turn that had ended by a given time, or by
// now if the time is zero. Earlier turns may have been cut off. starts has the times at
// which the conversation's runs began.
func lastFinished(c *trace.Conversation, starts []time.Time, at time.Time) int {
	for _, t := range slices.Backward(c.Turns) {
		if !t.Open() && (at.IsZero() || !starts[t.Run].Add(t.Ended).After(at)) {
			return t.Number
		}
	}
	return 0
}

// traced reads what happened in a session, on all of its tapes, before request. starts
// has the times at which these tapes began.
func (s *Shim) traced(one record.SessionInfo, request message) (part sessionPart, starts []time.Time, err error) {
	part = sessionPart{Conversation: &trace.Conversation{}, id: one.ID, turns: -1, live: -1}
	var t trace.Trace
	for _, run := range one.Runs {
		tape, err := s.Store.Open(run.Tape)
		if errors.Is(err, record.ErrNoTape) {
			continue // it was just deleted
		}
		if err != nil {
			return part, nil, err
		}
		info, err := tape.Info()
		if err != nil {
			return part, nil, err
		}
		starts = append(starts, info.Start.Time)
		e := epoch{tape: tape, run: run, connection: info.Connection, growing: info.Live}
		if run.Tape == s.Tape {
			e.until = request
		}
		part.epochs = append(part.epochs, e)
		t.Next(e.connection)
		for f := range e.frames(one.ID) {
			select {
			case <-s.ends.closed:
				return part, nil, errOver
			default:
			}
			t.Add(f)
			if e.connection.Dialect == dialect.ACPv2Early && f.Origin.Sent() {
				part.earlyDraft = part.earlyDraft || f.Update == "tool_call" // until 2026-06-08
			}
		}
	}
	for _, found := range t.Sessions { // if an id was used twice, the last one counts
		if found.ID == one.ID {
			part.Conversation = &found.Conversation
		}
	}
	return part, starts, nil
}

// An epoch is one run of a session, with one agent process. The ids of the agent's
// messages and tool calls are unique only within an epoch.
type epoch struct {
	tape       *record.Tape
	run        record.Run
	connection dialect.Connection
	growing    bool    // the tape is still being recorded
	until      message // on the tape of this connection: the epoch ends before this request
}

// frames yields the frames of a session. It skips unreadable ones: the rest is still
// worth showing.
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
				if f.Kind == wire.Oversized && f.Size <= maxWhole {
					f.Raw = whole(e.tape, f)
				}
				if !yield(&f) {
					return
				}
			}
			if f.Seq >= e.run.Last && !e.growing {
				return
			}
		}
	}
}

// maxWhole limits the size of frames that are read whole: an image is a single line. The
// proxy gives the shim no larger frames either.
const maxWhole = 16 << 20

// whole returns all bytes of a long frame, or its beginning if the rest is unreadable.
func whole(t *record.Tape, f dialect.Frame) []byte {
	var b bytes.Buffer
	if t.WriteFrame(&b, f.Seq) != nil {
		return f.Raw
	}
	return b.Bytes()
}

// belongs reports whether a frame, or an entry of a batch, belongs to a session.
func belongs(f *dialect.Frame, id string, run record.Run) bool {
	return f.Session == id || f.Seq == run.First ||
		slices.ContainsFunc(f.Entries, func(a dialect.Annotation) bool { return a.Session == id })
}
