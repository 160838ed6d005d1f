// Package reading reads the tapes of a subject in one pass: one tape, a session that is on
// several, or the tapes of an agent with those of the MCP servers that it started. A Reader
// yields what is on them in order of time, and follows those that are still being recorded.
//
// However many tapes there are, no more of them are open at once than were recorded at
// once, and at most a few megabytes of frames are held back for sorting.
package reading

import (
	"context"
	"iter"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace/nested"
)

// A Reader reads tapes that belong together. It is for one goroutine, and reads only
// once.
type Reader struct {
	Parts  []*Part // the agent's first; the Reader may add more while it follows
	Fields bool    // recorded frames come without their bytes, as from record.Tape.Rows
	Clean  bool    // frames come without their secrets, as from record.Tape.Redacted
	Follow bool    // continue with what is being recorded, until all tapes have ended

	agents int           // number of the agent's Parts
	store  *record.Store // where to look for servers; nil: nowhere
	all    bool          // also servers of servers
	known  map[string]*Part
	listed map[string]bool // tapes that were in the store, and complete, when it was listed
	links  links
}

// New returns a Reader of the tapes of an agent, which must be sorted by time.
func New(agents []Part) *Reader {
	r := &Reader{known: map[string]*Part{}, listed: map[string]bool{}}
	var began time.Duration
	for i, p := range agents {
		if i > 0 {
			began = since(&p.Info, &agents[0].Info, began)
		}
		p.Began = began
		r.add(p)
		began += p.Info.Last
	}
	r.agents = len(r.Parts)
	return r
}

func (r *Reader) add(p Part) *Part {
	p.Index = len(r.Parts)
	if !p.IsServer() {
		p.Agent, p.Above = p.Index, p.Index
	}
	if r.Parts = append(r.Parts, &p); p.IsServer() || p.Store != nil { // files may have any id
		r.known[p.Info.Tape] = &p
	}
	return &p
}

// Agents returns the parts that are tapes of the agent.
func (r *Reader) Agents() []*Part { return r.Parts[:r.agents] }

// Servers returns the parts that are tapes of servers.
func (r *Reader) Servers() []*Part { return r.Parts[r.agents:] }

// An Event is what a Reader yields. It is valid until the next one.
type Event struct {
	Kind  Kind
	Part  *Part         // nil: belongs to no part
	At    time.Duration // since the agent's first tape began; if a frame's time is unknown, that of the previous frame
	Frame dialect.Frame
	Err   error // replaces frames that cannot be read
}

// A Kind says what an Event is about.
type Kind uint8

// The kinds.
const (
	Begins Kind = iota // nothing of the part was read earlier
	Read               // a frame, or an error in its place
	Ends               // the recording of the part has ended: no more frames will come
	Looked             // everything recorded before the look has been read
)

// Read yields what is on the tapes: the frames of each tape in their order, the agent's
// tapes one after another, and those of servers between them by time. Then it yields what
// was recorded meanwhile; what one look finds is sorted by time. Reading stops when ctx
// is done.
func (r *Reader) Read(ctx context.Context) iter.Seq[*Event] {
	return func(yield func(*Event) bool) {
		p := pass{Reader: r, yield: func(e *Event) bool {
			if e.Kind == Read && e.Err == nil && r.store != nil && !e.Part.IsServer() && nested.Concern(&e.Frame) {
				r.links.take(e.Part, &e.Frame)
				r.links.resolve(r.Servers(), r.Parts)
			}
			return ctx.Err() == nil && yield(e)
		}}
		if p.recorded() && r.Follow {
			p.follow(ctx)
		}
	}
}
