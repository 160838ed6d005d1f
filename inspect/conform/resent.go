package conform

import (
	"fmt"
	"hash/maphash"

	"github.com/acptap/acptap/proxy/wire"
)

// A resent records how often an agent sent a tool call's output again from the beginning.
type resent struct {
	updates int    // in a row, each starting with the output of the one before
	sum     int    // bytes of output in these updates
	length  int    // bytes of output in the latest one
	hash    uint64 // of the latest output, without its last resentEnd bytes
	told    bool
}

// Output that exceeds all of these limits counts as resent. agent-shell froze on far more.
const (
	resentBytes   = 256 << 10
	resentUpdates = 10
	resentTimes   = 8       // sum of all updates, as a multiple of the latest and longest
	resentEnd     = 16      // bytes at the end that may differ, such as a closing code fence
	resentLeast   = 1 << 10 // bytes; shorter frames do not count
)

// outputOf returns the text content of a tool call update, as JSON without its quotes, or nil
// if the content is not exactly one text.
func outputOf(s *Step) []byte {
	if s.Frame.Size < resentLeast { // most frames are, and reading their content takes time (BenchmarkCheck)
		return nil
	}
	var text []byte
	for i, item := range wire.Elements(s.Param("update", "content")) {
		text = wire.Get(item, "content", "text")
		if i > 0 {
			return nil
		}
	}
	if len(text) <= 2+resentEnd || text[0] != '"' {
		return nil
	}
	return text[1 : len(text)-1]
}

// add returns r after one more update.
func (r resent) add(text []byte) resent {
	if r.length == 0 || len(text) < r.length || maphash.Bytes(seed, text[:r.length-resentEnd]) != r.hash {
		r = resent{told: r.told}
	}
	r.updates++
	r.sum += len(text)
	r.length, r.hash = len(text), maphash.Bytes(seed, text[:len(text)-resentEnd])
	return r
}

// isResent reports whether the output exceeds the limits.
func (r *resent) isResent() bool {
	return r.sum > resentBytes && r.updates >= resentUpdates && r.sum >= resentTimes*r.length
}

// resends returns the record of the tool call that a step updates, after that update. ok is
// false if the step carries no output.
func (s *Step) resends(call *toolCall) (after resent, ok bool) {
	if s.resent.updates == 0 {
		if text := outputOf(s); text != nil {
			s.resent = call.resent.add(text)
		}
	}
	return s.resent, s.resent.updates > 0
}

func outputResent(s *Step, r *Report) {
	x := r.Session()
	if x == nil || s.Frame.Size < resentLeast {
		return
	}
	_, call, ok := s.Conn.tools.find(x, s.EntityID())
	if !ok || call == nil {
		return
	}
	now, ok := s.resends(call)
	if !ok {
		return
	}
	r.Tried()
	if !now.told && now.isResent() {
		r.Add(Evidence{
			Text: fmt.Sprintf("sent the output of the tool call of frame %d again with each of %d updates: %d KiB in all, of which the last has %d KiB", call.seq, now.updates, now.sum>>10, now.length>>10),
			Path: "update.content", Because: []uint64{call.seq},
		})
	}
}
