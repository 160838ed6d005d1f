package proxy

import (
	"os"

	"github.com/acptap/acptap/proxy/wire"
)

// An Interceptor sees every whole frame of client and agent before it is passed
// on, and decides what goes out in its place. Several form a chain: what one
// returns for a frame goes on to the next one in the direction of each frame that
// it returns, so that only what all of them let through reaches the receiver.
//
// The methods of one, and the acts that it hands to Handle.Do, are called one at a
// time, and never while those of another in the chain are, so none needs a lock of
// its own. They must not block, and must not call Do. After the first of them that
// panics the Interceptor is asked what it has Held, and then left alone: the others
// go on, and without any of them all bytes pass as they come.
//
// What they are to send they append to out and return. The frames leave in that
// order, and in the order of the calls. Dir, Raw and End say where a frame goes
// and what it is; Raw is copied before the next call. The origin on the tape
// follows from what is returned:
//
//   - f itself, unchanged: as it came;
//   - a frame whose Origin is Rewritten: that. It should follow f, or what f
//     was, being withheld, or be a frame that was withheld and is now let go.
//     What takes the place of a frame whose Origin is Injected stays Injected:
//     nobody has sent it;
//   - every other frame: Injected.
//
// A frame of the kind Mark is a note for the tape, which stands there before the
// frames that follow it in out. No other Interceptor is shown it. It is how one
// tells that it was the one that has changed them.
//
// If f is not among what comes out at the end of the chain, it is recorded as
// Withheld, before all that is sent instead. Of what passes between two
// Interceptors nothing is recorded. A frame of AgentStderr that one returns is a
// line to the client's stderr; what the agent writes there is shown to nobody.
type Interceptor interface {
	// Start is called once, before all other methods.
	Start(h Handle)

	// Intercept is called for each frame of client and agent. Of f there are
	// set Dir, Origin, End, Size and Raw, which is valid during the call. The
	// Origin is not Wire if another Interceptor made or changed f. Lines longer
	// than 16 MiB pass without being shown.
	Intercept(f wire.Frame, out []wire.Frame) []wire.Frame

	// End is called when the client or the agent has closed its stream, and the
	// Interceptors before this one, in the direction of the stream, have let that
	// pass. It is passed on when the channel that it returns is closed; nil is at
	// once. Until then there is time to send what is still held, or being made. It
	// is not waited for if the receiver takes no more, or Run is over.
	End(dir wire.Direction, out []wire.Frame) ([]wire.Frame, <-chan struct{})

	// Held returns what was withheld and waited to be let go when the call began
	// that has panicked, as it came and in that order. What that call was shown
	// is not among it. All of that is passed on.
	Held() []wire.Frame
}

// A Selector is an Interceptor that need not see both directions. A direction that
// none of a chain wants is not cut into frames: its bytes pass as they come.
type Selector interface {
	// Wants reports whether frames of dir, which is ClientToAgent or
	// AgentToClient, are to be shown to Intercept. It is called before Start. End
	// is called for both directions all the same.
	Wants(dir wire.Direction) bool
}

// A Handle lets an Interceptor act by itself, at any time and from any goroutine
// of its own: a timer, a long replay.
type Handle struct {
	// Do calls act, sends what it returns, and returns when the receivers have
	// taken it or Run is over. It returns false, without having called act, if Run
	// is over or a call has panicked, and also if act itself does.
	Do func(act func(out []wire.Frame) []wire.Frame) bool

	// The others may be called within Intercept, End and acts too, return at
	// once, and do nothing when Run is over.

	// Signal sends a signal to the agent, as one that came to this process.
	Signal func(sig os.Signal)

	// HangUp closes the client's stdout, behind what has been sent there and what
	// the call sends that is under way. The agent does not learn of it. What it
	// still says is on the tape, but not among the bytes delivered.
	HangUp func()

	// Exit ends the client's stdout as HangUp does, and kills the agent. Run
	// returns code and sig as the agent's, and they are so on the tape.
	Exit func(code int, sig os.Signal)
}
