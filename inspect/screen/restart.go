package screen

import (
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// announce handles the start of a recording. If it is another run of the agent whose tape
// is open, such as after an editor restart, it is announced until the user opens or
// dismisses it.
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

// announcement describes the announced tape, or returns the empty string if there is
// none.
func (a *app) announcement() string {
	if a.restarted.Tape == "" {
		return ""
	}
	return "a new tape of " + termtext.Cut(termtext.Piece(tapetext.AgentName(a.restarted)), 24) + " has begun: R opens it"
}

// openRestarted opens and follows the announced tape in the current place.
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
