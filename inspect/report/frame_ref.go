package report

import (
	"fmt"
	"strconv"

	h "github.com/acptap/acptap/inspect/html"
)

// A frameRef is a frame of one of the page's tapes. These are numbered from 1: first the
// agent's, then those of its servers, then all of a second run.
type frameRef struct {
	tape  int
	seq   uint64
	alone bool // the frame is on the page's only tape, not counting servers' tapes
}

// String returns the frame's number for commands and links: 17, or 2.17 on the second of
// several tapes.
func (f frameRef) String() string {
	if f.alone {
		return strconv.FormatUint(f.seq, 10)
	}
	return fmt.Sprintf("%d.%d", f.tape, f.seq)
}

// ID returns the id of the element about the frame.
func (f frameRef) ID() string { return "e-" + f.String() }

// data is the attribute from which the script knows an element's frame.
func (f frameRef) data() h.Node { return h.Data("frame", f.String()) }

// link leads to the frame in the list.
func (f frameRef) link() h.Node { return h.Link("frame-" + f.String()) }

// frame returns a frame of one of the agent's tapes.
func (r *reader) frame(run int, seq uint64) frameRef {
	return frameRef{r.before + run + 1, seq, r.side == "" && len(r.in.Tapes) == 1}
}

// serverFrame returns a frame of a tape, which may belong to one of the agent's servers.
func (r *reader) serverFrame(tape string, seq uint64) frameRef {
	for i, t := range r.in.Servers {
		if t.Info.Tape == tape {
			return frameRef{r.before + len(r.in.Tapes) + 1 + i, seq, false}
		}
	}
	for i, t := range r.in.Tapes {
		if t.Info.Tape == tape {
			return r.frame(i, seq)
		}
	}
	return r.frame(0, seq)
}
