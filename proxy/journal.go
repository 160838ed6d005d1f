package proxy

import (
	"os"

	"github.com/acptap/acptap/proxy/wire"
)

// A Journal receives every chunk of bytes before it is forwarded, and every other event.
// Its methods are called one at a time, from several goroutines, and never after Run has
// returned.
type Journal interface {
	// Append receives bytes of one direction. The chunks of the origins Wire and
	// Withheld, put together, are what the writer wrote; without an Interceptor they are
	// cut anywhere and all have the origin Wire. Append must not keep p. An error means
	// that the tape has a gap, not that the traffic stops.
	Append(dir wire.Direction, origin wire.Origin, p []byte) error

	// EOF says that the writer of a direction closed it.
	EOF(dir wire.Direction)

	// ReadFailed says why a direction can no longer be read. Its receiver sees the end of
	// the stream, though the writer has not closed it.
	ReadFailed(dir wire.Direction, err error)

	// Signal says that a signal arrived and is about to be passed on to the agent.
	Signal(sig os.Signal)

	// Fault says that a part of this process has panicked and is left out from here on:
	// an Interceptor, or the Journal itself if it can still note that.
	Fault(err error)

	// Note receives a frame of the kind Mark that an Interceptor returned: a note about
	// the bytes that come next.
	Note(dir wire.Direction, m wire.Marked)

	// Exit is the last call: how the agent ended, as in ExitError, and how many bytes of
	// each direction the receiver accepted.
	Exit(code int, sig os.Signal, delivered [wire.Directions]int64)

	// StartFailed is the only call if the agent could not be started: code and
	// err as in StartError.
	StartFailed(code int, err error)
}
