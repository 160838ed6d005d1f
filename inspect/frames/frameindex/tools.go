package frameindex

import (
	"context"
	"sync"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/bounded"
)

// Tools is a Sink that remembers what earlier frames said about a frame's tool call if the
// frame does not say it itself: the title, and the options of the question that the frame
// answers. It is safe for concurrent use. Memory is bounded: the oldest frames are forgotten.
type Tools struct {
	onChange func()                  // called when there is more
	trackers map[int]*filter.Tracker // by part; only the reading goroutine uses them

	mu    sync.Mutex
	known bounded.Map[uint64, filter.Tool] // by the frame's number
}

// NewTools returns Tools that know nothing yet.
func NewTools(onChange func()) *Tools {
	return &Tools{onChange: onChange, trackers: map[int]*filter.Tracker{}}
}

// maxTools limits the frames whose tool calls are known, to about 10 MB.
const maxTools = 1 << 16

// Begin implements Sink.
func (x *Tools) Begin(context.Context, *Timeline) {}

// End implements Sink.
func (x *Tools) End(bool) {}

// Take processes the next event.
func (x *Tools) Take(e *Event) {
	if e.Number == 0 || e.Err != nil || !filter.AboutTool(&e.Frame) {
		return
	}
	t := x.trackers[e.Place]
	if t == nil {
		t = &filter.Tracker{}
		x.trackers[e.Place] = t
	}
	tool := t.Observe(&e.Frame).Tool
	if tool.Title == "" && tool.Options == nil || filter.ToolOf(&e.Frame).Title != "" {
		return
	}
	tool.ID = ""
	x.mu.Lock()
	x.known.Limit = maxTools
	x.known.Set(e.Number, tool)
	x.mu.Unlock()
	x.onChange()
}

// Of returns what is known about a frame's tool call. A nil Tools knows nothing.
func (x *Tools) Of(seq uint64) (filter.Tool, bool) {
	if x == nil {
		return filter.Tool{}, false
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.known.Get(seq)
}
