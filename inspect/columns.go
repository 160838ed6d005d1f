package inspect

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// columns are the fields of frames, up to the last.
type columns struct {
	leaves []*leaf
	abouts []dialect.About
	last   uint64
}

// leafFrames is how many frames a leaf has.
const leafFrames = 1 << 12

// A leaf is a stretch of the columns.
type leaf struct {
	shape   [leafFrames]shape
	about   [leafFrames]uint32 // place in abouts
	at      [leafFrames]time.Duration
	size    [leafFrames]int64
	answers [leafFrames]uint64
}

// A shape is the small fields of a frame.
type shape uint16

const (
	present     shape = 1 << 15 // else there is no frame with that number
	bad         shape = 1 << 14
	failed      shape = 1 << 13
	originShift       = 2
	kindShift         = 4
	endShift          = 8
)

func shapeOf(f *dialect.Frame) shape {
	s := present | shape(f.Dir) | shape(f.Origin)<<originShift | shape(f.Kind)<<kindShift | shape(f.End)<<endShift
	if f.Failed {
		s |= failed
	}
	if isBad(f) {
		s |= bad
	}
	return s
}

// isBad reports whether a frame is an error, or junk, as they are counted of a
// tape, or a mark of a loss or a fault. How the agent ended is neither: many
// clients end it by a signal.
func isBad(f *dialect.Frame) bool {
	if f.Kind == wire.Mark {
		m := wire.ReadMark(f.Frame)
		return m.Gap != 0 || m.Damage != 0 || m.Error != "" || m.Fault != ""
	}
	return f.Failed || f.Kind == wire.Junk
}

// leaf returns where the fields of a frame stand, nil if there is no such frame.
func (c *columns) leaf(seq uint64) (x *leaf, i int) {
	if seq == 0 || seq > c.last {
		return nil, 0
	}
	x, i = c.leaves[(seq-1)/leafFrames], int((seq-1)%leafFrames)
	if x.shape[i]&present == 0 {
		return nil, 0
	}
	return x, i
}

// frame makes f the frame with that number, without its bytes. It reports
// whether there is one.
func (c *columns) frame(seq uint64, f *dialect.Frame) bool {
	x, i := c.leaf(seq)
	if x == nil {
		return false
	}
	f.About = c.abouts[x.about[i]]
	x.fields(i, seq, f)
	return true
}

// backward is the step to the frame before.
const backward = ^uint64(0)

// seek returns the first frame that fits, from a number on in steps of 1 or
// backward; 0 if there is none. fits is given the fields.
func (c *columns) seek(seq, step uint64, fits func(*dialect.Frame) bool) uint64 {
	var f dialect.Frame
	for ; seq > 0 && seq <= c.last; seq += step {
		if c.frame(seq, &f) && fits(&f) {
			return seq
		}
	}
	return 0
}

// fields sets what f has in columns of its own.
func (x *leaf) fields(i int, seq uint64, f *dialect.Frame) {
	s := x.shape[i]
	f.Seq, f.At, f.Size, f.Answers = seq, x.at[i], x.size[i], x.answers[i]
	f.Dir, f.Origin, f.Kind = wire.Direction(s&3), wire.Origin(s>>originShift&3), wire.Kind(s>>kindShift&15)
	f.End, f.Failed = wire.LineEnd(s>>endShift&3), s&failed != 0
}

// each calls see with the frames of a stretch, without their bytes. A frame is
// valid until see returns.
func (c *columns) each(from, to uint64, see func(f *dialect.Frame, isBad bool)) {
	var f dialect.Frame
	about := ^uint32(0)
	for seq := from; seq <= min(to, c.last); seq++ {
		x, i := c.leaves[(seq-1)/leafFrames], int((seq-1)%leafFrames)
		if x.shape[i]&present == 0 {
			continue
		}
		if about != x.about[i] { // neighbours are alike, and copying takes longer than all else
			about = x.about[i]
			f.About = c.abouts[about]
		}
		x.fields(i, seq, &f)
		see(&f, x.shape[i]&bad != 0)
	}
}

// latency returns how long after its request a frame came. It reports whether
// the request is there.
func (c *columns) latency(f *dialect.Frame) (time.Duration, bool) {
	x, i := c.leaf(requestOf(f))
	if x == nil {
		return 0, false
	}
	return f.At - x.at[i], true
}

// time returns when a frame crossed the wire; 0 if there is no such frame.
func (c *columns) time(seq uint64) time.Duration {
	x, i := c.leaf(seq)
	if x == nil {
		return 0
	}
	return x.at[i]
}
