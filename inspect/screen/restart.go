package screen

import (
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// announce notes that recording a tape has begun. If that is another run of the agent
// whose tape is open, as after an editor's restart, it stays announced until it is
// opened or dismissed.
func (a *app) announce(begun record.Info) {
	if a.timeline == nil || a.timeline.Has(begun.Tape) {
		return
	}
	open := a.timeline.Latest().Info
	again := begun.Agent() == open.Agent() && begun.Start.Time.After(open.Start.Time) &&
		(begun.Start.Cwd == open.Start.Cwd || begun.Start.Cwd == "" || open.Start.Cwd == "")
	if again {
		a.restarted = begun
	}
}

// announcement says which tape has begun; empty: none is announced.
func (a *app) announcement() string {
	if a.restarted.Tape == "" {
		return ""
	}
	return "a new tape of " + termtext.Cut(termtext.Piece(tapetext.AgentName(a.restarted)), 24) + " has begun: R opens it"
}

// openRestarted opens the tape that is announced, and follows it in the same place.
func (a *app) openRestarted() {
	tape, place := a.restarted.Tape, a.place
	if tape == "" {
		a.notify("no other tape of this agent has begun since this one was opened")
		return
	}
	if err := a.openTape(TapesOf(a.Store, "", tape), ""); err != nil {
		a.restarted = record.Info{}
		a.fail(err)
		return
	}
	if a.inPane = false; !place.ofTape() {
		place = framesPlace
	}
	a.visit(place)
}

// dismissRestarted takes the announcement away.
func (a *app) dismissRestarted() { a.restarted = record.Info{} }
