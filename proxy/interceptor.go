package proxy

import (
	"os"

	"github.com/acptap/acptap/proxy/wire"
)

// An Interceptor sees every whole frame of client and agent before it is passed on, and
// decides what goes out in its place. Several form a chain: each frame that one returns
// goes on to the next one in that frame's direction, so only what all of them let through
// reaches the receiver.
//
// Start, Intercept, End, Held and the acts given to Handle.Do are called one at a time
// across the whole chain, so an Interceptor needs no lock of its own. They must not block,
// and must not call Do. When one of them panics, its Interceptor is asked for what it Held
// and then left out: the others go on, and without any of them all bytes pass unchanged.
//
// An Interceptor appends the frames it sends to out and returns it. The frames leave in
// that order, and in the order of the calls. Dir, Raw and End say where a frame goes and
// what it is; Raw is copied before the next call. The origin on the tape follows from what
// is returned:
//
//   - f itself, unchanged: as it came;
//   - a frame whose Origin is Rewritten: Rewritten. It should replace f, or a frame that was
//     withheld earlier and is now let go. A replacement for a frame whose Origin is Injected
//     stays Injected, because no peer sent that frame;
//   - every other frame: Injected.
//
// A frame of the kind Mark is a note for the tape, placed before the frames that follow it
// in out. No other Interceptor is shown it. With it an Interceptor records that it was the
// one that changed those frames.
//
// If f does not come out at the end of the chain, it is recorded as Withheld, before all
// that is sent instead. What passes between two Interceptors is not recorded. A returned
// frame of AgentStderr is a line to the client's stderr; Interceptors do not see what the
// agent writes there.
type Interceptor interface {
	// Start is called once, before all other methods.
	Start(h Handle)

	// Intercept is called for each frame of client and agent. Dir, Origin, End, Size and
	// Raw of f are set; Raw is valid during the call. The Origin is not Wire if another
	// Interceptor made or changed f. Lines longer than 16 MiB pass without being shown.
	Intercept(f wire.Frame, out []wire.Frame) []wire.Frame

	// End is called when the client or the agent has closed its stream and the Interceptors
	// before this one, in the direction of the stream, have let the end pass. The end is
	// passed on when the returned channel is closed; nil means at once. Until then there is
	// time to send what is still held or being made. Run does not wait for the channel if
	// the receiver takes no more, or when Run is over.
	End(dir wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{})

	// Held returns the frames that were withheld, and still waited to be let go when the
	// call that panicked began, as they came and in that order. What that call was shown is
	// not among them. All of them are passed on.
	Held() []wire.Frame
}

// A Selector is an Interceptor that need not see both directions. A direction that no
// member of the chain wants is not cut into frames: its bytes pass as they come.
type Selector interface {
	// Wants reports whether Intercept wants frames of dir, which is ClientToAgent or
	// AgentToClient. It is called before Start. End is called for both directions
	// regardless.
	Wants(dir wire.Direction) bool
}

// LongLines is implemented by an Interceptor that wants to know of lines too long to be shown
// to it.
type LongLines interface {
	// LongLine is called before the first bytes of such a line of dir pass. It is called as
	// Intercept is.
	LongLine(dir wire.Direction, out []wire.Frame) []wire.Frame
}

// A Handle lets an Interceptor act on its own initiative at any time, from any of its
// goroutines: for a timer, or a long replay.
type Handle struct {
	// Do calls act, sends what it returns, and returns when the receivers have read that
	// or Run has ended. It returns false without calling act if Run has ended or a call
	// has panicked, and also if act itself panics.
	Do func(act func(out []wire.Frame) []wire.Frame) bool

	// The functions below may also be called within Intercept, End and acts. They return
	// at once, and do nothing once Run has ended.

	// Signal sends a signal to the agent, as if this process had received it.
	Signal func(sig os.Signal)

	// HangUp closes the client's stdout after everything already sent there and what the
	// current call sends. The agent does not learn of it. Its later output is on the
	// tape, but not among the bytes delivered.
	HangUp func()

	// Exit ends the client's stdout as HangUp does, and kills the agent. Run returns code
	// and sig as the agent's, and the tape records them.
	Exit func(code int, sig os.Signal)

	// Hurry is closed when all waiting must end: when a signal asks the process to
	// end, the context of Run ends, the client has left, Exit is called, or Run is over.
	Hurry <-chan struct{}
}
