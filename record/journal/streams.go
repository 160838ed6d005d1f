package journal

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/disk"
)

// streams are the open streams of a tape, and the slots of their bytes.
type streams struct {
	last uint64 // number of the last one
	open map[uint64]*openStream
	free []uint16 // released slots
	used uint16   // number of slots ever used
}

// An openStream has a direction that has not ended. Without a slot, it is not recorded.
type openStream struct {
	slot  uint16
	ended [2]bool
	bytes [2]int64 // sent in each direction
}

// begin numbers the next stream and assigns it the most recently released slot.
func (s *streams) begin() (uint64, *openStream) {
	one := new(openStream)
	switch n := len(s.free); {
	case n > 0:
		one.slot, s.free = s.free[n-1], s.free[:n-1]
	case s.used < math.MaxUint16:
		s.used++
		one.slot = s.used
	}
	if s.open == nil {
		s.open = map[uint64]*openStream{}
	}
	s.last++
	s.open[s.last] = one
	return s.last, one
}

// end ends a direction of a stream, and the stream when both have ended.
func (s *streams) end(stream uint64, dir wire.Direction) {
	one := s.open[stream]
	if one.ended[dir] = true; !one.ended[wire.ClientToAgent] || !one.ended[wire.AgentToClient] {
		return
	}
	delete(s.open, stream)
	if one.slot != 0 {
		s.free = append(s.free, one.slot)
	}
}

var (
	errNoSlot   = errors.New("65,535 streams are open already")
	errNoStream = errors.New("there is no such stream, or the direction of it has ended")
)

// Open records the head of a request, which begins a stream, and returns the stream's
// number. The head is on the tape when Open returns.
func (j *Writer) Open(h wire.HTTP) (stream uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !slices.Contains(j.needs, disk.NeedsStreams) {
		j.needs = append(j.needs, disk.NeedsStreams)
		j.advance() // if that fails, the records still say so
	}
	stream, one := j.streams.begin()
	if one.slot == 0 {
		j.tell(errNoSlot)
		return stream
	}
	h = clipped(h)
	h.Stream = stream
	j.append(wire.ClientToAgent, KindStream, one.slot, wire.Marked{HTTP: &h}.JSON())
	return stream
}

// Head records the head of a response on a stream, before it is passed on. The origin is
// Injected if acptap responds itself. A stream may have several heads, such as 1xx.
func (j *Writer) Head(stream uint64, origin wire.Origin, h wire.HTTP) {
	j.mu.Lock()
	defer j.mu.Unlock()
	h = clipped(h)
	h.Stream, h.Origin = stream, origin
	j.markStream(stream, wire.AgentToClient, wire.Marked{HTTP: &h})
}

// AppendStream records bytes of one direction of a stream, as Append does: HTTP bodies
// without their transfer coding, WebSockets with their frame headers.
func (j *Writer) AppendStream(stream uint64, dir wire.Direction, origin wire.Origin, p []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	one := j.streams.open[stream]
	if one == nil || dir > wire.AgentToClient || one.ended[dir] {
		return errNoStream
	}
	if origin.Sent() {
		one.bytes[dir] += int64(len(p))
	}
	if one.slot == 0 {
		j.offsets[dir] += int64(len(p))
		j.lost[dir] += int64(len(p))
		return errNoSlot
	}
	return j.appendAll(dir, Kind(origin), one.slot, p)
}

// EndStream records that a direction of a stream has ended, by whom and why. It counts
// the bytes itself. After the first call for a direction, nothing more of it is recorded.
func (j *Writer) EndStream(stream uint64, dir wire.Direction, e wire.StreamEnd) {
	j.mu.Lock()
	defer j.mu.Unlock()
	one := j.streams.open[stream]
	if one == nil || dir > wire.AgentToClient || one.ended[dir] {
		return
	}
	e.Stream, e.Bytes, e.Error = stream, one.bytes[dir], wire.Clip(e.Error, maxValue)
	e.Trailers = clippedHeaders(e.Trailers)
	j.markStream(stream, dir, wire.Marked{End: &e})
	j.streams.end(stream, dir)
}

// markStream records an event on a stream. Called with mu held.
func (j *Writer) markStream(stream uint64, dir wire.Direction, m wire.Marked) {
	if one := j.streams.open[stream]; one != nil && one.slot != 0 {
		j.append(dir, KindStream, one.slot, m.JSON())
	}
}

// Limits on a head, and on trailers, on the tape, in bytes and lines: a mark must fit
// into one record. In the worst case JSON is six times as long.
const (
	maxTarget  = 8 << 10
	maxValue   = 2 << 10
	maxHeaders = 128
	maxHeadSum = 24 << 10
)

// clipped returns a head of bounded size: it cuts long values, and omits lines beyond the
// bounds.
func clipped(h wire.HTTP) wire.HTTP {
	h.Method, h.Target, h.Protocol = wire.Clip(h.Method, maxValue), wire.Clip(h.Target, maxTarget), wire.Clip(h.Protocol, maxValue)
	h.Headers = clippedHeaders(h.Headers)
	if h.Rewritten != nil {
		r := *h.Rewritten
		r.Target, r.Headers = wire.Clip(r.Target, maxTarget), clippedHeaders(r.Headers)
		r.Removed = r.Removed[:min(len(r.Removed), maxHeaders)]
		h.Rewritten = &r
	}
	return h
}

func clippedHeaders(all []wire.Header) []wire.Header {
	if fits(all) {
		return all
	}
	var kept []wire.Header
	sum := 0
	for _, h := range all[:min(len(all), maxHeaders)] {
		h.Name, h.Value, h.Scheme = wire.Clip(h.Name, maxValue), wire.Clip(h.Value, maxValue), wire.Clip(h.Scheme, maxValue)
		sum += len(h.Name) + len(h.Value) + len(h.Scheme) + len(strings.Join(h.Cookies, ""))
		if sum > maxHeadSum {
			break
		}
		kept = append(kept, h)
	}
	return kept
}

// fits reports whether headers are far below the bounds, as most are.
func fits(all []wire.Header) bool {
	sum := 0
	for _, h := range all {
		sum += len(h.Name) + len(h.Value) + len(h.Scheme) + len(strings.Join(h.Cookies, ""))
	}
	return len(all) <= maxHeaders && sum <= maxValue
}

// Closed records why the connection of a tape with streams ended, in place of Exit. Nothing
// may be recorded afterwards.
func (j *Writer) Closed(why string) {
	j.mark(wire.AgentToClient, KindExit, wire.Marked{Closed: why})
}
