package replay

import (
	"fmt"
	"iter"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/internal/messages"
)

// A script is one connection on a tape, read from its beginning on and no
// further than what is played needs. Frames that must be seen a second time are
// read again from the tape.
type script struct {
	tape    *record.Tape
	session string            // the one that is played; empty: all are
	made    map[uint64]string // sessions by the number of the request that made them

	ahead cursor // what comes next
	back  cursor // where a frame was read again last

	from        uint64 // its first frame
	connections dialect.Connections
	over        bool // what follows is of another connection
}

func newScript(b beginning, session string, p dialect.Protocol) *script {
	return &script{tape: b.tape, session: session, from: b.from, ahead: cursor{tape: b.tape, at: b.from}, back: cursor{tape: b.tape}, connections: dialect.Connections{Protocol: p}}
}

func (s *script) close() {
	s.ahead.close()
	s.back.close()
}

// next returns the next frame, nil at the end of the connection. It is valid
// until the one after it is asked for.
func (s *script) next() (*dialect.Frame, error) {
	for !s.over {
		f, err := s.ahead.next()
		if f == nil {
			return nil, err
		}
		s.over = s.connections.StartsNext(f)
		if !s.over && s.has(f) {
			return f, nil
		}
	}
	return nil, nil
}

// has reports whether a frame is played: the client's as it sent them, the
// agent's as the client got them; and if one session was chosen, only that and
// what belongs to none.
func (s *script) has(f *dialect.Frame) bool {
	switch {
	case !f.AtClient():
		return false
	case len(f.Entries) > 0:
		return slices.ContainsFunc(f.Entries, func(a dialect.Annotation) bool { return s.concerns(f.Seq, &a) })
	}
	return s.concerns(f.Seq, &f.Annotation)
}

// concerns reports whether a message of a frame belongs to the session that was
// chosen, or to none. Who asked for a session and got none may have meant any
// other.
func (s *script) concerns(seq uint64, about *dialect.Annotation) bool {
	switch made := s.made[seq]; {
	case s.session == "", about.Session == s.session:
		return true
	case about.Session != "":
		return false
	case made != "":
		return made == s.session
	}
	return !messages.MakesSession(about.Method)
}

// again returns a frame that was given before. It is valid until the next call.
func (s *script) again(seq uint64) (*dialect.Frame, error) {
	if s.back.stop == nil || s.back.at > seq || seq-s.back.at > rewind {
		s.back.close()
		s.back = cursor{tape: s.tape, at: seq}
	}
	for {
		f, err := s.back.next()
		switch {
		case err != nil:
			return nil, err
		case f == nil || f.Seq > seq:
			return nil, fmt.Errorf("frame %d of the tape cannot be found again", seq)
		case f.Seq == seq:
			return f, nil
		}
	}
}

// rewind is how many frames are passed over before it is cheaper to look the
// wanted one up: about as many as a block holds.
const rewind = 2048

// A cursor goes over the frames of a tape. The zero value with a tape is ready to
// use.
type cursor struct {
	tape *record.Tape
	at   uint64 // the next frame is this one or a later one
	pull func() (dialect.Frame, error, bool)
	stop func()

	frame dialect.Frame // the last one
}

// next returns the next frame, nil at the end and beside an error. It is valid
// until the next call.
func (c *cursor) next() (*dialect.Frame, error) {
	if c.pull == nil {
		c.pull, c.stop = iter.Pull2(c.tape.Frames(c.at))
	}
	f, err, ok := c.pull()
	if err != nil || !ok {
		return nil, err
	}
	c.frame, c.at = f, f.Seq+1
	return &c.frame, nil
}

func (c *cursor) close() {
	if c.stop != nil {
		c.stop()
	}
	c.pull, c.stop = nil, nil
}
