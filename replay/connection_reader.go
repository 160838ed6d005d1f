package replay

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// A connectionReader reads one connection from a tape, frame by frame as the player asks
// for them. It can reread a frame.
type connectionReader struct {
	tape    *record.Tape
	chosen  rpc.Chosen
	endings []ending // in tape order

	ahead cursor // for next
	back  cursor // for readAgain

	from        uint64 // number of the first frame
	connections dialect.Connections
	over        bool // the next frame belongs to another connection
}

// An ending is the position of a session's last frame on the tape.
type ending struct {
	session string
	last    uint64
}

func newConnectionReader(start connectionStart, session string, p dialect.Protocol, sessions []record.SessionInfo) *connectionReader {
	r := &connectionReader{
		tape:   start.tape,
		chosen: rpc.Chosen{Session: session, Made: make(map[uint64]string)},

		ahead: cursor{tape: start.tape, at: start.from},
		back:  cursor{tape: start.tape},

		from:        start.from,
		connections: dialect.Connections{Protocol: p},
	}
	for _, one := range sessions {
		run := one.Runs[0]
		r.chosen.Made[run.First] = one.ID
		r.endings = append(r.endings, ending{one.ID, run.Last})
	}
	slices.SortFunc(r.endings, func(a, b ending) int { return cmp.Compare(a.last, b.last) })
	return r
}

func (r *connectionReader) close() {
	r.ahead.close()
	r.back.close()
}

// next returns the next frame to play, or nil at the end of the connection. The frame is
// valid until the next call.
func (r *connectionReader) next() (*dialect.Frame, error) {
	for !r.over {
		f, err := r.ahead.next()
		if f == nil {
			return nil, err
		}
		r.over = r.connections.StartsNext(f)
		if !r.over && r.has(f) {
			return f, nil
		}
	}
	return nil, nil
}

// has reports whether a frame is played: it crossed the client's end, and it belongs to the
// chosen part of the tape.
func (r *connectionReader) has(f *dialect.Frame) bool {
	switch {
	case !f.AtClient():
		return false
	case len(f.Entries) > 0:
		return slices.ContainsFunc(f.Entries, func(a dialect.Annotation) bool { return r.chosen.Has(f.Seq, &a) })
	}
	return r.chosen.Has(f.Seq, &f.Annotation)
}

// ended returns the sessions whose last frame is seq or earlier. It returns each session
// once.
func (r *connectionReader) ended(seq uint64) (sessions []string) {
	for len(r.endings) > 0 && r.endings[0].last <= seq {
		sessions = append(sessions, r.endings[0].session)
		r.endings = r.endings[1:]
	}
	return sessions
}

// readAgain returns a frame that next has already returned. It is valid until the next
// call of readAgain.
func (r *connectionReader) readAgain(seq uint64) (*dialect.Frame, error) {
	if r.back.stop == nil || r.back.at > seq || seq-r.back.at > rewind {
		r.back.close()
		r.back = cursor{tape: r.tape, at: seq}
	}
	for {
		f, err := r.back.next()
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

// rewind limits the frames that readAgain skips, to about as many as a block has. Looking
// up a frame further on is cheaper.
const rewind = 2048

// A cursor iterates over the frames of a tape. Only its tape must be set.
type cursor struct {
	tape *record.Tape
	at   uint64 // number of the next frame, or lower
	pull func() (dialect.Frame, error, bool)
	stop func()

	frame dialect.Frame // the frame that next returned last
}

// next returns the next frame, or nil at the end or with an error. The frame is valid
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
