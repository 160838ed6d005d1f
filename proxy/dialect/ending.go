package dialect

import (
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// An ending records what the client has done so far to end its agent.
type ending struct {
	Signals []string `json:"signals,omitempty"` // signals passed on, each listed once
	Left    bool     `json:"left,omitempty"`    // the client has closed its side
}

// maxSignals limits how many signals are remembered. There are rarely more.
const maxSignals = 32

// signalled records a signal that was passed on.
func (e *ending) signalled(name string) {
	if len(e.Signals) < maxSignals && len(name) <= 64 && !slices.Contains(e.Signals, name) {
		e.Signals = append(e.Signals, name)
	}
}

// isFailure reports whether the agent ended in a way that its client did not want. These
// are fine: status 0; a signal that was passed on; and a terminating signal once the
// client has left or has asked the agent to end, because then the client, or acptap on
// its behalf, lost patience.
func (e *ending) isFailure(x *wire.Exit) bool {
	by := x.Signal
	if by == "" {
		by = signalOf(x.Code)
	}
	switch {
	case x.Error != "":
		return true
	case by == "":
		return x.Code != 0
	case slices.Contains(e.Signals, by):
		return false
	}
	asked := e.Left || slices.ContainsFunc(e.Signals, func(name string) bool { return endsPrograms[name] != 0 })
	return !asked || endsPrograms[by] == 0
}

// endsPrograms has the signals that end a program or ask it to end, by their names in
// os.Signal, with their numbers, which are the same on all systems.
var endsPrograms = map[string]int{"hangup": 1, "interrupt": 2, "quit": 3, "killed": 9, "broken pipe": 13, "terminated": 15}

// controlC is the exit status of programs that Windows terminates on Ctrl-C.
const controlC = 0xC000013A

// signalOf returns the signal that an exit status encodes: some programs exit with the
// status that a shell reports for a signal.
func signalOf(code int) string {
	if uint32(code) == controlC {
		return "interrupt"
	}
	for name, number := range endsPrograms {
		if code == 128+number {
			return name
		}
	}
	return ""
}

// mark handles a mark. Once the agent has ended, nothing on its connection is open; on an
// imported tape the frames of another connection may follow.
func (t *Tracker) mark(f *wire.Frame) (happened Events) {
	m := wire.ReadMark(*f)
	switch {
	case m.Gap != 0 || m.Damage != 0 || m.Error != "" || m.Fault != "":
		t.pace.forget(f.At)
		return BytesLost
	case m.Signal != "":
		t.ending.signalled(m.Signal)
	case m.EOF && f.Dir == wire.ClientToAgent:
		t.ending.Left = true
	case m.HTTP != nil:
		t.httpHead(m.HTTP)
	case m.Closed != "":
		t.over()
	case m.Exit != nil:
		happened = AgentEnded
		if t.ending.isFailure(m.Exit) {
			happened |= ExitFailed
		}
		t.over()
	}
	return happened
}

// over forgets what was open on the connection.
func (t *Tracker) over() {
	t.ending, t.header, t.pace.since = ending{}, "", 0
	t.pace.sessions.Clear()
	t.pace.tools.Clear()
	t.calls.Clear()
	t.turns.Clear()
}

// EndsProgram reports whether the signal with this name ends a program or asks it to end.
func EndsProgram(signal string) bool { return endsPrograms[signal] != 0 }
