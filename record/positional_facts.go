package record

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/internal/varint"
)

// Earlier versions wrote the facts of tapes and of sessions one behind the other,
// in the order in which they are read here.

// decodePositional reads facts of a tape behind their version.
func (i *Info) decodePositional(b []byte) error {
	r := &varint.Reader{B: b}
	i.Tape = r.Text()
	i.Start.Time = r.Time()
	n := r.Count()
	i.Start.Command = make([]string, 0, min(n, 64))
	for ; n > 0 && !r.Bad; n-- {
		i.Start.Command = append(i.Start.Command, r.Text())
	}
	i.Start.Cwd, i.Start.Name, i.Start.Version, i.Start.Proto = r.Text(), r.Text(), r.Text(), r.Text()
	i.Start.PID = int(r.Uint())
	i.Frames, i.Lines, i.Bytes, i.Failed, i.Invalid = r.Uint(), r.Uint(), int64(r.Uint()), r.Uint(), r.Uint()
	i.Lost, i.Sessions, i.Turns, i.Last = int64(r.Uint()), r.Uint(), r.Uint(), time.Duration(r.Uint())
	i.Complete = r.Bool()
	i.Ended = r.Time()
	if r.Bool() {
		i.Exit = &wire.Exit{Code: int(int32(r.Uint())), Signal: r.Text(), Error: r.Text()}
		for k := range i.Exit.Delivered {
			i.Exit.Delivered[k] = int64(r.Uint())
		}
	}
	c := &i.Connection
	c.Protocol, c.Dialect, c.Proposal, c.Hybrid = dialect.Protocol(r.Byte()), dialect.Dialect(r.Byte()), dialect.Proposal(r.Byte()), r.Bool()
	c.Version, c.Client, c.ClientVersion, c.Agent, c.AgentVersion = r.Text(), r.Text(), r.Text(), r.Text(), r.Text()
	if len(r.B) > 0 { // it is younger than the others
		c.AgentTitle = r.Text()
	}
	if i.Imported = i.Start.PID == 0; len(r.B) > 0 { // so is this; every proxy has a PID
		i.Imported = r.Bool()
	}
	if r.Bad {
		return fmt.Errorf("%s: %w", i.what(), ErrDamaged)
	}
	return nil
}

// decodePositional reads facts of a session behind their version.
func (s *SessionInfo) decodePositional(b []byte) error {
	r := &varint.Reader{B: b}
	for _, t := range []*string{&s.ID, &s.Agent, &s.Title, &s.Prompt, &s.Cwd, &s.Parent, &s.Expires} {
		*t = r.Text()
	}
	s.Dialect = dialect.Dialect(r.Byte())
	state := r.Byte()
	s.Closed, s.opened, s.made = state&1 != 0, state&2 != 0, state&4 != 0
	s.Deleted = r.Bool()
	runs := r.Count()
	run := &s.Runs[0]
	run.Tape = r.Text()
	for _, n := range []*uint64{&run.First, &run.Last, &run.Frames, &run.Failed, &run.Turns} {
		*n = r.Uint()
	}
	run.Began, run.Ended = r.Time(), r.Time()
	if r.Bad || runs != 1 { // what is stored is of one tape
		return fmt.Errorf("%s: %w", s.what(), ErrDamaged)
	}
	return nil
}
