package rule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A lack makes a receiver appear not to support some methods.
type lack struct{ methods []string }

// lacks reads a line that lists unsupported methods.
func (s *Set) lacks(p *scanner, at int) error {
	l := &lack{}
	for p.blanks(); p.i < p.end; p.blanks() {
		from := p.i
		method := p.word()
		if _, ok := dialect.Lookup(dialect.AnyProtocol, method); !ok {
			return p.wrong(from, fmt.Sprintf("%q is not a method", method))
		}
		l.methods = append(l.methods, method)
	}
	if len(l.methods) == 0 {
		return p.wrong(p.i, "a method is missing, such as session/load")
	}
	text := "lacks " + strings.Join(l.methods, " ")
	s.entries = append(s.entries, entry(text))
	return s.append(p.source, at, &Rule{Name: p.where(at), Where: p.where(at), action: l, text: text})
}

// concerns reports whether act may change a frame. d is the dialect known so far.
func (l *lack) concerns(f *filter.Subject, d dialect.Dialect) bool {
	_, offers := offers(f, d)
	return offers || l.isCalled(f)
}

// isCalled reports whether a frame calls one of the methods.
func (l *lack) isCalled(f *filter.Subject) bool {
	return (f.Kind == wire.Request || f.Kind == wire.Notification) && slices.Contains(l.methods, f.Method)
}

// offers reports whether a frame declares a side's capabilities, and which side's.
func offers(f *filter.Subject, d dialect.Dialect) (side dialect.Side, ok bool) {
	switch {
	case f.Kind == wire.Request && f.Dir == wire.ClientToAgent && (d == dialect.MCPModern || f.Does(dialect.Initializes)):
		return dialect.ClientSide, true
	case f.Kind == wire.Response && f.Dir == wire.AgentToClient && f.Does(dialect.Initializes):
		return dialect.AgentSide, true
	}
	return side, false
}

// act removes the capabilities for the methods from initialize, and rejects calls of the
// methods in place of their receiver. It returns what it did, or "" for other frames.
func (l *lack) act(p *passage) string {
	f := p.subject
	if l.isCalled(f) {
		p.done = true
		if f.Kind == wire.Notification {
			p.withhold()
			return "drop " + f.Method
		}
		return p.reply("error -32601 to "+f.Method, func(id []byte) []byte {
			return wire.NewFailure(id, wire.MethodNotFound, "Method not found", nil)
		})
	}
	d := p.engine.seen.tracker.Connection().Dialect
	side, ok := offers(f, d)
	if !ok {
		return ""
	}
	var taken []string
	raw := f.Raw
	for _, method := range l.methods {
		for _, c := range dialect.Requires(d, method) {
			keys := c.Keys(d)
			if c.Side != side || keys == nil || wire.Get(raw, keys...) == nil {
				continue
			}
			raw = wire.Delete(raw, keys...)
			taken = append(taken, c.Path)
		}
	}
	if taken == nil {
		return ""
	}
	p.change(raw)
	return "take " + strings.Join(taken, ", ") + " out of " + f.Method
}
