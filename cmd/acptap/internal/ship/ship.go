package ship

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/tapeid"
	"github.com/acptap/acptap/record/trace/spans"
)

// A Shipper delivers tapes to one destination, which the caller must have locked. Its
// fields must not change after Open. It is not safe for concurrent use.
type Shipper struct {
	Store    *record.Store
	To       *Destination
	Clients  map[otlp.Signal]*otlp.Client // one client for each signal to send
	Content  bool                         // include the conversation, without secrets
	Service  string
	Resource []spans.Attr

	Cumulative bool // points cover their tape from its beginning

	Dry      bool          // send and store nothing
	Again    bool          // also send what has already arrived
	Patience time.Duration // how long to try to reach the destination; 0: forever
	Tell     func(Event)

	head    Head
	cursors map[string]Cursor
	others  Tapes  // used for tapes when no other tape is live
	told    string // the kind of the last reported trouble

	seen    map[string]bool      // tapes already seen by follow
	settled map[string]time.Time // for each followed tape, until when it is known which tool calls led to calls of servers
}

// An Event is a report of a Shipper.
type Event struct {
	Kind    EventKind
	Tape    string
	Turns   int
	Spans   int
	Points  int    // of metrics
	Records int    // of logs
	Refused int    // number of permanently refused Spans, Points and Records
	Text    string // clean text on one line; empty: none
	Again   bool   // of Trouble: it will try again, not give up
}

// An EventKind is the kind of an Event.
type EventKind uint8

// The kinds.
const (
	Delivered  EventKind = iota // part of a tape was accepted, or refused because of Text
	Trouble                     // the destination currently accepts nothing
	Unreadable                  // a part of a tape cannot be read, or has no spans
)

// Main returns the client of the first signal, which gives the destination its name.
func (s *Shipper) Main() *otlp.Client {
	for _, signal := range otlp.Signals {
		if c := s.Clients[signal]; c != nil {
			return c
		}
	}
	panic("ship: a Shipper without signals")
}

// Open reads what has arrived, and forgets deleted tapes. If from is not nil, Open
// schedules the tapes since then for delivery too; the zero time adds all.
func (s *Shipper) Open(from *time.Time) (err error) {
	if s.head, s.cursors, err = s.To.Read(); err != nil {
		return err
	}
	there, err := s.Store.Tapes()
	if err != nil {
		return err
	}
	s.head.Name = s.Main().Name()
	if from != nil && (!s.head.Begun || from.Before(s.head.From)) {
		s.head.Begun, s.head.From = true, *from
	}
	var gone []string
	for tape := range s.cursors {
		if !slices.Contains(there, tape) {
			gone = append(gone, tape)
		}
	}
	return s.forget(gone...)
}

// forget forgets deleted tapes and stores the head.
func (s *Shipper) forget(tapes ...string) error {
	for _, tape := range tapes {
		if c, known := s.cursors[tape]; known && !c.Done {
			s.head.Pruned++
		}
		delete(s.cursors, tape)
	}
	return s.keep(func(u *Update) {
		for _, tape := range tapes {
			u.Forget(tape)
		}
	})
}

// put stores the cursor of a tape and the head.
func (s *Shipper) put(tape string, c Cursor) error {
	s.cursors[tape] = c
	return s.keep(func(u *Update) { u.Put(tape, c) })
}

// keep stores the head together with another change.
func (s *Shipper) keep(change func(*Update)) error {
	if s.Dry {
		return nil
	}
	return s.To.Update(func(u *Update) {
		u.Head = s.head
		change(u)
	})
}

// Waiting returns the tapes that may have something to deliver: first live ones, then the
// others, each ordered by age.
func (s *Shipper) Waiting() ([]string, error) {
	there, err := s.Store.Tapes()
	if err != nil {
		return nil, err
	}
	list := s.Store.Live()
	live := len(list)
	for _, tape := range there {
		if !slices.Contains(list[:live], tape) && s.wants(tape, false) {
			list = append(list, tape)
		}
	}
	return list, nil
}

// wants reports whether a tape may have something to deliver.
func (s *Shipper) wants(tape string, live bool) bool {
	c, known := s.cursors[tape]
	if known && !s.Again {
		return !c.Done
	}
	return known || live || Wants(&s.head, s.Store, tape)
}

// Wants reports whether a tape that has ended must be delivered, if nothing of it has
// arrived yet.
func Wants(head *Head, store *record.Store, tape string) bool {
	if !head.Begun || head.From.IsZero() {
		return head.Begun
	}
	began := tapeid.Time(tape)
	if began.IsZero() {
		if t, err := store.Open(tape); err == nil {
			if start, err := t.Start(); err == nil {
				began = start.Time
			}
		}
	}
	return !began.Before(head.From.Truncate(time.Millisecond)) // ids have no finer time
}

// All delivers the waiting tapes and, of live ones, the complete part.
func (s *Shipper) All(ctx context.Context) error {
	list, err := s.Waiting()
	if err != nil {
		return err
	}
	for _, id := range list {
		t, err := s.Store.Open(id)
		if err == nil {
			err = s.Tape(ctx, t, true)
		}
		if err = s.unlessUnreadable(id, err); err != nil {
			return err
		}
	}
	return nil
}

// An unreadableError concerns one tape and does not stop the others.
type unreadableError struct{ error }

func (e unreadableError) Unwrap() error { return e.error }

// unlessUnreadable reports an error that concerns one tape, and returns any other.
func (s *Shipper) unlessUnreadable(tape string, err error) error {
	var own unreadableError
	switch {
	case errors.Is(err, record.ErrNoTape): // it has been deleted
		return nil
	case errors.As(err, &own), errors.Is(err, record.ErrDamaged), errors.Is(err, record.ErrNewer):
		s.Tell(Event{Kind: Unreadable, Tape: tape, Text: err.Error()})
		return nil
	}
	return err
}

// Tape delivers the part of a tape that is complete and has not arrived. inStore says
// whether to record that: a tape from a file may be an excerpt of one in the store.
func (s *Shipper) Tape(ctx context.Context, t *record.Tape, inStore bool) error {
	info, err := t.Info()
	if err != nil {
		return unreadableError{err}
	}
	if info.Live && s.Content && s.Clients[otlp.Logs] != nil {
		return nil // a frame may contain the beginning of a secret
	}
	until, limited := s.limit(&info, inStore)
	if limited && until.Before(info.Start.Time) {
		return nil
	}
	d, err := s.begin(t, &info, inStore, s.Content)
	if err != nil || d.cursor.Done {
		return err
	}
	for f, err := range Frames(t, s.Content) {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			s.Tell(Event{Kind: Unreadable, Tape: d.tape, Text: err.Error()})
			continue
		case limited && info.Start.Time.Add(f.At).After(until):
			return d.flush(ctx)
		}
		if err := d.add(ctx, &f); err != nil {
			return err
		}
	}
	if info.Live || limited {
		return d.flush(ctx)
	}
	return d.end(ctx)
}

// limit returns the time up to which calls on a server's tape can be delivered while its
// agent is being recorded: the origin of a call is known once the turn has ended.
func (s *Shipper) limit(info *record.Info, inStore bool) (until time.Time, limited bool) {
	parent := info.Start.Parent.Tape
	if !inStore || parent == "" || !slices.Contains(s.Store.Live(), parent) {
		return until, false
	}
	return s.settled[parent], true
}

// begin starts the delivery of a tape.
func (s *Shipper) begin(t *record.Tape, info *record.Info, inStore, content bool) (*delivery, error) {
	others := &Tapes{}
	if _, limited := s.limit(info, inStore); limited || info.Live {
		others.Store = s.Store // as it is now
	} else if inStore {
		others = &s.others
		others.Store = s.Store
	}
	of, err := others.Describe(t, info)
	if err == nil && of.Start.IsZero() {
		err = ErrNoStart
	}
	if err != nil {
		return nil, unreadableError{fmt.Errorf("tape %s: %w", t.ID(), err)}
	}
	d := &delivery{shipper: s, tape: of.ID, spans: spans.Builder{Content: content, Logs: s.Clients[otlp.Logs] != nil, Service: s.Service, Resource: s.Resource}, meter: spans.Meter{Cumulative: s.Cumulative}, kept: inStore}
	if inStore && !s.Again {
		d.cursor = s.cursors[of.ID]
	}
	d.arrived = d.cursor.Seq
	d.spans.Next(of)
	return d, nil
}
