package record

import (
	"fmt"

	"github.com/acptap/acptap/proxy/wire"

	"github.com/acptap/acptap/record/portable"
)

// decodeInfo reads the facts of a tape, as its file and the catalogue store them. A listing
// may read a hundred thousand (BenchmarkCatalogue).
func (t *tags) decodeInfo(b []byte, i *Info) (all bool, err error) {
	*i = Info{}
	all, err = t.decode(b, i)
	if err == nil && i.Lines > portable.MaxSeq {
		err = fmt.Errorf("%s: %w", i.what(), ErrDamaged)
	}
	return all, err
}

func (i *Info) what() string  { return "the facts of a tape" }
func (i *Info) known() uint64 { return 53 }

func (i *Info) tags(t *tags) {
	s := &i.Start
	t.text(2, &i.Tape)
	t.time(3, &s.Time)
	t.texts(4, &s.Command)
	t.text(5, &s.Cwd)
	t.text(6, &s.Name)
	t.text(7, &s.Version)
	t.text(8, &s.Proto)
	pid := int64(s.PID)
	t.int(9, &pid)
	s.PID = int(pid)

	t.uint(10, &i.Frames)
	t.uint(11, &i.Lines)
	t.int(12, &i.Bytes)
	t.uint(13, &i.Failed)
	t.uint(14, &i.Invalid)
	t.int(15, &i.Lost)
	t.uint(16, &i.Sessions)
	t.uint(17, &i.Turns)
	t.int(18, (*int64)(&i.Last))
	t.bool(19, &i.Complete)
	t.bool(20, &i.Imported)
	t.time(21, &i.Ended)
	i.exitTags(t)

	c := &i.Connection
	enum(t, 27, &c.Protocol)
	enum(t, 28, &c.Dialect)
	enum(t, 29, &c.Proposal)
	t.bool(30, &c.Hybrid)
	t.text(31, &c.Version)
	t.text(32, &c.Client)
	t.text(33, &c.ClientVersion)
	t.text(34, &c.Agent)
	t.text(35, &c.AgentVersion)
	t.text(36, &c.AgentTitle)

	t.text(37, &s.Parent.Tape)
	t.text(38, &s.Parent.Link)
	t.text(39, &s.Parent.Server)
	t.text(40, &s.Transport)
	t.text(41, &s.Upstream)
	t.uint(42, &i.Rules)
	t.uint(43, &i.Failures)
	t.uint(44, &i.Streams)
	t.text(45, &i.Closed)
	t.bool(46, &i.Guessed)
	enum(t, 47, &i.Worst.How)
	t.text(48, &i.Worst.Text)
	t.uint(49, &i.Changed)
	t.bool(50, &s.Parent.Claimed)
	t.text(51, &c.ClientTitle)
	t.int(52, (*int64)(&i.First))
}

// exitTags handles tags 22 to 26, all but the first only if that is true.
func (i *Info) exitTags(t *tags) {
	exited := i.Exit != nil
	t.bool(22, &exited)
	if !exited {
		return
	}
	if i.Exit == nil {
		i.Exit = new(wire.Exit)
	}
	code := int64(i.Exit.Code)
	t.int(23, &code)
	i.Exit.Code = int(code)
	t.text(24, &i.Exit.Signal)
	t.text(25, &i.Exit.Error)
	t.numbers(26, i.Exit.Delivered[:])
}

// decodeSession reads the facts of a session with one run. It reuses s.Runs, if set.
func (t *tags) decodeSession(b []byte, s *SessionInfo) (all bool, err error) {
	*s = SessionInfo{Runs: s.Runs}
	if s.Runs == nil {
		s.Runs = make([]Run, 1)
	}
	return t.decode(b, s)
}

func (s *SessionInfo) what() string  { return "the facts of a session" }
func (s *SessionInfo) known() uint64 { return 28 }

func (s *SessionInfo) tags(t *tags) {
	t.text(2, &s.ID)
	t.text(3, &s.Agent)
	t.text(4, &s.Title)
	t.text(5, &s.Prompt)
	t.text(6, &s.Cwd)
	t.text(7, &s.Parent)
	t.text(8, &s.Expires)
	enum(t, 9, &s.Dialect)
	t.bool(10, &s.Closed)
	t.bool(11, &s.Deleted)
	t.bool(12, &s.opened)
	t.bool(13, &s.made)

	r := &s.Runs[0]
	t.text(14, &r.Tape)
	t.uint(15, &r.First)
	t.uint(16, &r.Last)
	t.uint(17, &r.Frames)
	t.uint(18, &r.Failed)
	t.uint(19, &r.Turns)
	t.time(20, &r.Began)
	t.time(21, &r.Ended)
	t.uint(22, &r.Failures)
	enum(t, 23, &r.Worst.How)
	t.text(24, &r.Worst.Text)
	t.uint(25, &r.Missing)
	t.float(26, &r.Cost.Amount)
	t.text(27, &r.Cost.Currency)
}
