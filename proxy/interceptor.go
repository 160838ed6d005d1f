package proxy

import "github.com/acptap/acptap/proxy/wire"

// An Interceptor sees every whole frame of client and agent before it is passed
// on, and decides what goes out in its place. Its methods, and the acts it hands
// to Handle.Do, are called one at a time, so it needs no lock of its own. They
// must not block, and must not call Do. After the first of them that panics it is asked
// what it has Held, and then left alone: all bytes pass as they come.
//
// What they are to send they append to out and return. The frames leave in that
// order, and in the order of the calls. Dir, Raw and End say where a frame goes
// and what it is; Raw is copied before the next call. The origin on the tape
// follows from what is returned:
//
//   - f itself, unchanged: Wire;
//   - a frame whose Origin is Rewritten: that. It should follow f, or what f
//     was, being withheld, or be a frame that was withheld and is now let go;
//   - every other frame: Injected.
//
// If f is not among what is returned for it, it is recorded as Withheld, before
// all that is sent instead.
type Interceptor interface {
	// Start is called once, before all other methods.
	Start(h Handle)

	// Intercept is called for each frame of client and agent. Of f there are
	// set Dir, End, Size and Raw, which is valid during the call. Lines longer
	// than 16 MiB pass without being shown.
	Intercept(f wire.Frame, out []wire.Frame) []wire.Frame

	// End is called when the client or the agent has closed its stream. That is
	// passed on when the channel that it returns is closed; nil is at once. Until
	// then there is time to send what is still held, or being made. It is not
	// waited for if the receiver takes no more, or Run is over.
	End(dir wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{})

	// Held returns what was withheld and waited to be let go when the call began
	// that has panicked, as it came and in that order. What that call was shown
	// is not among it. All of that is passed on.
	Held() []wire.Frame
}

// A Handle lets an Interceptor act by itself, at any time and from any goroutine
// of its own: a timer, a long replay.
type Handle struct {
	// Do calls act, sends what it returns, and returns when the receivers have
	// taken it or Run is over. It returns false, without having called act, if Run
	// is over or a call has panicked, and also if act itself does.
	Do func(act func(out []wire.Frame) []wire.Frame) bool
}

const (
	// maxFrame is how long a line may be to be shown to an Interceptor.
	maxFrame = 16 << 20

	// maxBacklog is how many bytes that were sent against the stream may wait
	// before the stream is read on.
	maxBacklog = 1 << 20

	// maxKept is how large a buffer is kept for the next use.
	maxKept = 1 << 20
)
