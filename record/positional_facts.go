package record

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Earlier versions wrote the facts of tapes and of sessions one behind the other,
// in the order in which they are read here.

// decodePositional reads facts of a tape behind their version.
func (i *Info) decodePositional(b []byte) (all bool, err error) {
	r := &reader{b: b}
	i.Tape = r.text()
	i.Start.Time = r.time()
	n := r.count()
	i.Start.Command = make([]string, 0, min(n, 64))
	for ; n > 0 && !r.bad; n-- {
		i.Start.Command = append(i.Start.Command, r.text())
	}
	i.Start.Cwd, i.Start.Name, i.Start.Version, i.Start.Proto = r.text(), r.text(), r.text(), r.text()
	i.Start.PID = int(r.uint())
	i.Frames, i.Lines, i.Bytes, i.Failed, i.Invalid = r.uint(), r.uint(), int64(r.uint()), r.uint(), r.uint()
	i.Lost, i.Sessions, i.Turns, i.Last = int64(r.uint()), r.uint(), r.uint(), time.Duration(r.uint())
	i.Complete = r.bool()
	i.Ended = r.time()
	if r.bool() {
		i.Exit = &wire.Exit{Code: int(int32(r.uint())), Signal: r.text(), Error: r.text()}
		for k := range i.Exit.Delivered {
			i.Exit.Delivered[k] = int64(r.uint())
		}
	}
	c := &i.Connection
	c.Protocol, c.Dialect, c.Proposal, c.Hybrid = dialect.Protocol(r.byte()), dialect.Dialect(r.byte()), dialect.Proposal(r.byte()), r.bool()
	c.Version, c.Client, c.ClientVersion, c.Agent, c.AgentVersion = r.text(), r.text(), r.text(), r.text(), r.text()
	if all = len(r.b) > 0; all { // it is younger than the others
		c.AgentTitle = r.text()
	}
	if i.Imported = i.Start.PID == 0; len(r.b) > 0 { // so is this; every proxy has a PID
		i.Imported = r.bool()
	}
	if r.bad {
		return false, fmt.Errorf("%s: %w", i.what(), ErrDamaged)
	}
	return all, nil
}

// decodePositional reads facts of a session behind their version.
func (s *SessionInfo) decodePositional(b []byte) error {
	r := &reader{b: b}
	for _, t := range []*string{&s.ID, &s.Agent, &s.Title, &s.Prompt, &s.Cwd, &s.Parent, &s.Expires} {
		*t = r.text()
	}
	s.Dialect = dialect.Dialect(r.byte())
	state := r.byte()
	s.Closed, s.opened, s.made = state&1 != 0, state&2 != 0, state&4 != 0
	s.Deleted = r.bool()
	runs := r.count()
	run := &s.Runs[0]
	run.Tape = r.text()
	for _, n := range []*uint64{&run.First, &run.Last, &run.Frames, &run.Failed, &run.Turns} {
		*n = r.uint()
	}
	run.Began, run.Ended = r.time(), r.time()
	if r.bad || runs != 1 { // what is stored is of one tape
		return fmt.Errorf("%s: %w", s.what(), ErrDamaged)
	}
	return nil
}
