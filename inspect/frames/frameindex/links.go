package frameindex

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace/nested"
)

// The links say for which session of the agent's the servers in an order were started.
type links struct {
	order  *order
	read   nested.Links
	part   int // of the agent, that read is at
	linked []linkedPart
}

// A linkedPart is the tape of a server.
type linkedPart struct {
	part, above int // and what it is nested in
	link        string
	known       bool
}

// begin adds the tape of a server.
func (l *links) begin(part, above int, link string) {
	l.linked = append(l.linked, linkedPart{part: part, above: above, link: link})
	l.resolve()
}

// take takes a frame of a tape of the agent's that sets up a session, or answers that.
func (l *links) take(tape *record.Tape, part int, f *dialect.Frame) {
	if part != l.part {
		l.part = part
		l.read.Next()
	}
	whole := *f
	if whole.Raw == nil && whole.Size > 0 {
		var err error
		if whole, err = tape.Clone().Frame(f.Seq); err != nil {
			return // reading the frame again reports it
		}
	}
	l.read.Add(&whole)
	l.resolve()
}

// resolve notes what has become known.
func (l *links) resolve() {
	for i := range l.linked {
		one := &l.linked[i]
		if one.known {
			continue
		}
		session, ok := l.read.Session(one.link)
		if above := l.order.session(one.above); above != "" { // a server's server is of its session
			session, ok = above, true
		}
		if one.known = ok; ok {
			l.order.link(one.part, session)
		}
	}
}
