package nest

import (
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A listener is the shared part of this package's interceptors: they read what the client
// sends, and hold nothing back. The proxy calls its methods.
type listener struct{}

// Start does nothing.
func (listener) Start(proxy.Handle) {}

// Wants reports whether frames of a direction are read.
func (listener) Wants(dir wire.Direction) bool { return dir == wire.ClientToAgent }

// End does nothing.
func (listener) End(_ wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{}) {
	return out, nil
}

// Held returns nothing: no frame is ever held back.
func (listener) Held() []wire.Frame { return nil }

// rewritten returns a frame as the agent should get it. change returns nil to leave it
// unchanged.
func rewritten(f wire.Frame, change func(frame []byte) []byte) wire.Frame {
	if f.Dir == wire.ClientToAgent {
		if raw := change(f.Raw); raw != nil {
			f.Raw, f.Origin = raw, wire.Rewritten
		}
	}
	return f
}

// replaced returns a frame with servers' entries replaced by entry, which returns nil to
// keep one. The result is nil if all are kept.
func replaced(frame []byte, list []dialect.Server, entry func(entry []byte, s dialect.Server) []byte) (changed []byte) {
	done := 0
	for _, s := range list {
		if e := entry(frame[s.At.Start:s.At.End], s); e != nil {
			changed = append(append(changed, frame[done:s.At.Start]...), e...)
			done = s.At.End
		}
	}
	if done == 0 {
		return nil
	}
	return append(changed, frame[done:]...)
}
