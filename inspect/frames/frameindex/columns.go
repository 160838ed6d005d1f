package frameindex

import (
	"iter"
	"sort"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Columns holds the fields of a timeline's frames up to the last one. Numbers that no
// frame has take no space, since a tape's numbers may jump from 1 to a billion.
type Columns struct {
	chunks      []*chunk
	annotations []dialect.Annotation
	jumps       []jump
	Last        uint64
}

// A jump is a frame whose number does not follow the previous one; place is the number of
// frames before it.
type jump struct {
	seq   uint64
	place int
}

// chunkFrames is the number of frames in a chunk.
const chunkFrames = 1 << 12

// A chunk is a section of the columns.
type chunk struct {
	flags      [chunkFrames]flags
	annotation [chunkFrames]uint32 // index in annotations
	at         [chunkFrames]time.Duration
	size       [chunkFrames]int64
	request    [chunkFrames]uint64
	stream     atomic.Pointer[[chunkFrames]uint64] // nil if none of the frames has a stream
}

// setStream sets the stream of a frame that has not been published yet.
func (x *chunk) setStream(i int, stream uint64) {
	if stream == 0 {
		return
	}
	streams := x.stream.Load()
	if streams == nil {
		streams = new([chunkFrames]uint64)
		x.stream.Store(streams)
	}
	streams[i] = stream
}

// The flags hold a frame's small fields.
type flags uint16

const (
	redelivered flags = 1 << 14
	failed      flags = 1 << 13
	untimed     flags = 1 << 12
	originShift       = 2
	kindShift         = 4
	endShift          = 8
)

func flagsOf(f *dialect.Frame) flags {
	s := flags(f.Dir) | flags(f.Origin)<<originShift | flags(f.Kind)<<kindShift | flags(f.End)<<endShift
	if f.Failed {
		s |= failed
	}
	if f.Untimed {
		s |= untimed
	}
	if f.Redelivered {
		s |= redelivered
	}
	return s
}

// below returns how many frames have a number smaller than seq, and whether the next one
// is seq.
func (c *Columns) below(seq uint64) (n int, found bool) {
	if seq > c.Last {
		n, _ = c.below(c.Last)
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

// number returns the number of the frame that has n frames before it, and how many
// consecutive numbers follow.
func (c *Columns) number(n int) (seq uint64, more int) {
	k := sort.Search(len(c.jumps), func(k int) bool { return c.jumps[k].place > n })
	j := c.jumps[k-1]
	if seq = j.seq + uint64(n-j.place); k < len(c.jumps) {
		return seq, c.jumps[k].place - n - 1
	}
	return seq, int(c.Last - seq)
}

// ahead returns the number of the frame n frames after the first one at or above seq, or of
// the last frame.
func (c *Columns) ahead(seq uint64, n int) uint64 {
	at, _ := c.below(seq)
	if all, _ := c.below(c.Last + 1); at+n >= all {
		return c.Last
	}
	seq, _ = c.number(at + n)
	return seq
}

// chunk returns the chunk that holds a frame and the frame's index in it, or nil if there
// is no such frame.
func (c *Columns) chunk(seq uint64) (x *chunk, i int) {
	n, found := c.below(seq)
	if !found {
		return nil, 0
	}
	return c.chunks[n/chunkFrames], n % chunkFrames
}

// Frame fills in f's fields except its bytes, and reports whether the frame exists.
func (c *Columns) Frame(seq uint64, f *dialect.Frame) bool {
	x, i := c.chunk(seq)
	if x == nil {
		return false
	}
	f.Annotation = c.annotations[x.annotation[i]]
	x.fields(i, seq, f)
	return true
}

// Annotations yields the annotations of frames, each at least once.
func (c *Columns) Annotations() iter.Seq[*dialect.Annotation] {
	return func(yield func(*dialect.Annotation) bool) {
		for i := range c.annotations {
			if !yield(&c.annotations[i]) {
				return
			}
		}
	}
}

// Has reports whether a frame has the given number.
func (c *Columns) Has(seq uint64) bool {
	_, found := c.below(seq)
	return found
}

// Backward is the step that leads to the previous frame.
const Backward = ^uint64(0)

// Seek returns the first frame from seq on that fits accepts, moving by step, which is 1
// or Backward; 0 if there is none. fits receives the frame's fields.
func (c *Columns) Seek(seq, step uint64, fits func(*dialect.Frame) bool) uint64 {
	if seq == 0 || seq > c.Last {
		return 0
	}
	var f dialect.Frame
	n, found := c.below(seq)
	all, _ := c.below(c.Last + 1)
	way := 1
	if step == Backward {
		if way = -1; !found {
			n--
		}
	}
	for ; n >= 0 && n < all; n += way {
		seq, _ := c.number(n)
		if c.Frame(seq, &f) && fits(&f) {
			return seq
		}
	}
	return 0
}

// fields stores the fields of f that have their own columns.
func (x *chunk) fields(i int, seq uint64, f *dialect.Frame) {
	s := x.flags[i]
	f.Seq, f.At, f.Size, f.Request = seq, x.at[i], x.size[i], x.request[i]
	f.Dir, f.Origin, f.Kind = wire.Direction(s&3), wire.Origin(s>>originShift&3), wire.Kind(s>>kindShift&15)
	f.End, f.Failed, f.Untimed = wire.LineEnd(s>>endShift&3), s&failed != 0, s&untimed != 0
	f.Redelivered, f.Stream = s&redelivered != 0, 0
	if streams := x.stream.Load(); streams != nil {
		f.Stream = streams[i]
	}
}

// each calls see with each frame in a range, without its bytes. A frame is valid until
// see returns.
func (c *Columns) each(from, to uint64, see func(f *dialect.Frame)) {
	var f dialect.Frame
	annotation := ^uint32(0)
	n, _ := c.below(from)
	end, there := c.below(min(to, c.Last))
	if there {
		end++
	}
	for n < end {
		seq, more := c.number(n)
		for stop := min(n+more+1, end); n < stop; n, seq = n+1, seq+1 {
			x, i := c.chunks[n/chunkFrames], n%chunkFrames
			if annotation != x.annotation[i] { // neighbours often share one, and copying takes longer than everything else
				annotation = x.annotation[i]
				f.Annotation = c.annotations[annotation]
			}
			x.fields(i, seq, &f)
			see(&f)
		}
	}
}

// Latency returns the time from a frame's request to the frame. ok is false if the
// request or either time is unknown.
func (c *Columns) Latency(f *dialect.Frame) (time.Duration, bool) {
	x, i := c.chunk(RequestOf(f))
	if x == nil || f.Untimed || x.flags[i]&untimed != 0 {
		return 0, false
	}
	return f.At - x.at[i], true
}

// Silence returns how long a frame's session was silent before it, as dialect.Lull does, or 0
// if unknown. onTape reports whether a frame is on that tape.
func (c *Columns) Silence(f *dialect.Frame, onTape func(seq uint64) bool) time.Duration {
	before := c.Seek(f.Seq-1, Backward, func(g *dialect.Frame) bool {
		return g.Session == f.Session && g.Kind != wire.Stderr && g.Kind != wire.Mark && onTape(g.Seq)
	})
	x, i := c.chunk(before)
	if x == nil || f.Untimed || x.flags[i]&untimed != 0 {
		return 0
	}
	return f.At - x.at[i]
}

// Time returns when a frame crossed the wire, or 0 if there is no such frame.
func (c *Columns) Time(seq uint64) time.Duration {
	x, i := c.chunk(seq)
	if x == nil {
		return 0
	}
	return x.at[i]
}
