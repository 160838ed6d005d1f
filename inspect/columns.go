package inspect

import (
	"sort"
	"time"

	"github.com/acptap/acptap/inspect/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// columns are the fields of frames, up to the last. They stand one after the
// other, whatever numbers are left out: a tape may go from 1 to a billion.
type columns struct {
	leaves []*leaf
	abouts []dialect.Annotation
	jumps  []jump
	last   uint64
}

// A jump is where numbers do not go on by one: the frame with that number has that
// many frames before it.
type jump struct {
	seq   uint64
	place int
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
	bad         shape = 1 << 14
	failed      shape = 1 << 13
	untimed     shape = 1 << 12
	originShift       = 2
	kindShift         = 4
	endShift          = 8
)

func shapeOf(f *dialect.Frame) shape {
	s := shape(f.Dir) | shape(f.Origin)<<originShift | shape(f.Kind)<<kindShift | shape(f.End)<<endShift
	if f.Failed {
		s |= failed
	}
	if f.Untimed {
		s |= untimed
	}
	if frametext.IsProblem(f) {
		s |= bad
	}
	return s
}

// below returns how many frames have a smaller number, and whether the next one
// has that number.
func (c *columns) below(seq uint64) (n int, found bool) {
	if seq > c.last {
		n, _ = c.below(c.last)
		return n + min(len(c.jumps), 1), false
	}
	k := sort.Search(len(c.jumps), func(k int) bool { return c.jumps[k].seq > seq })
	if k == 0 {
		return 0, false
	}
	j := c.jumps[k-1]
	place := uint64(j.place) + (seq - j.seq)
	if k < len(c.jumps) && place >= uint64(c.jumps[k].place) {
		return c.jumps[k].place, false
	}
	return int(place), true
}

// number returns the number of the frame with n before it, and how many that
// follow are numbered on.
func (c *columns) number(n int) (seq uint64, more int) {
	k := sort.Search(len(c.jumps), func(k int) bool { return c.jumps[k].place > n })
	j := c.jumps[k-1]
	if seq = j.seq + uint64(n-j.place); k < len(c.jumps) {
		return seq, c.jumps[k].place - n - 1
	}
	return seq, int(c.last - seq)
}

// ahead returns the number of the frame that stands n frames behind the first one
// from a number on, or of the last.
func (c *columns) ahead(seq uint64, n int) uint64 {
	at, _ := c.below(seq)
	if all, _ := c.below(c.last + 1); at+n >= all {
		return c.last
	}
	seq, _ = c.number(at + n)
	return seq
}

// leaf returns where the fields of a frame stand, nil if there is no such frame.
func (c *columns) leaf(seq uint64) (x *leaf, i int) {
	n, found := c.below(seq)
	if !found {
		return nil, 0
	}
	return c.leaves[n/leafFrames], n % leafFrames
}

// frame makes f the frame with that number, without its bytes. It reports
// whether there is one.
func (c *columns) frame(seq uint64, f *dialect.Frame) bool {
	x, i := c.leaf(seq)
	if x == nil {
		return false
	}
	f.Annotation = c.abouts[x.about[i]]
	x.fields(i, seq, f)
	return true
}

// backward is the step to the frame before.
const backward = ^uint64(0)

// seek returns the first frame that fits, from a number on in steps of 1 or
// backward; 0 if there is none. fits is given the fields.
func (c *columns) seek(seq, step uint64, fits func(*dialect.Frame) bool) uint64 {
	if seq == 0 || seq > c.last {
		return 0
	}
	var f dialect.Frame
	n, found := c.below(seq)
	all, _ := c.below(c.last + 1)
	way := 1
	if step == backward {
		if way = -1; !found {
			n--
		}
	}
	for ; n >= 0 && n < all; n += way {
		seq, _ := c.number(n)
		if c.frame(seq, &f) && fits(&f) {
			return seq
		}
	}
	return 0
}

// fields sets what f has in columns of its own.
func (x *leaf) fields(i int, seq uint64, f *dialect.Frame) {
	s := x.shape[i]
	f.Seq, f.At, f.Size, f.Request = seq, x.at[i], x.size[i], x.answers[i]
	f.Dir, f.Origin, f.Kind = wire.Direction(s&3), wire.Origin(s>>originShift&3), wire.Kind(s>>kindShift&15)
	f.End, f.Failed, f.Untimed = wire.LineEnd(s>>endShift&3), s&failed != 0, s&untimed != 0
}

// each calls see with the frames of a stretch, without their bytes. A frame is
// valid until see returns.
func (c *columns) each(from, to uint64, see func(f *dialect.Frame, isBad bool)) {
	var f dialect.Frame
	about := ^uint32(0)
	n, _ := c.below(from)
	end, there := c.below(min(to, c.last))
	if there {
		end++
	}
	for n < end {
		seq, more := c.number(n)
		for stop := min(n+more+1, end); n < stop; n, seq = n+1, seq+1 {
			x, i := c.leaves[n/leafFrames], n%leafFrames
			if about != x.about[i] { // neighbours are alike, and copying takes longer than all else
				about = x.about[i]
				f.Annotation = c.abouts[about]
			}
			x.fields(i, seq, &f)
			see(&f, x.shape[i]&bad != 0)
		}
	}
}

// latency returns how long after its request a frame came. It reports whether
// the request is there, and both times are known.
func (c *columns) latency(f *dialect.Frame) (time.Duration, bool) {
	x, i := c.leaf(requestOf(f))
	if x == nil || f.Untimed || x.shape[i]&untimed != 0 {
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
