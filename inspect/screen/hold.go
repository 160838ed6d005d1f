package screen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// holdSign is the sign of held frames.
const holdSign = "‖"

// holds has the state of the frames that wait for the user at the proxy of the open tape.
type holds struct {
	control Control
	early   []ControlEvent // events that arrived before control was set
	filter  string         // filter by which this inspector holds frames; empty: none
	frames  map[uint64]*heldRow
	sorted  []*heldRow        // frames, by number, which is also their order on the tape
	scanned uint64            // frames up to this one were searched for marks of held frames
	drafts  map[uint64][]byte // what the user has typed in place of held frames, by number
	moveOn  bool              // select the next frame that waits
	away    atomic.Bool       // another program is using the terminal
	rules   []ProxyRule       // for the page of rules
	version int               // of rules
	asked   bool              // the rules are being read
	again   bool              // the rules must be read once more
	pinging worker
}

// A heldRow is a held frame with its place on the tape.
type heldRow struct {
	HeldFrame
	seq uint64 // its frame; 0: not known yet
}

// take updates or adds a held frame.
func (h *holds) take(f HeldFrame) *heldRow {
	row := h.frames[f.ID]
	if row == nil {
		row = &heldRow{}
		h.frames[f.ID] = row
		at, _ := slices.BinarySearchFunc(h.sorted, f.ID, byNumber)
		h.sorted = slices.Insert(h.sorted, at, row)
	}
	row.HeldFrame = f
	return row
}

func byNumber(r *heldRow, id uint64) int { return cmp.Compare(r.ID, id) }

// passOn forgets a frame that no longer waits. If it was selected, the next frame that waits
// is selected once it is there, unless the user presses another key first.
func (a *app) passOn(id uint64) {
	h := a.holds
	row := h.frames[id]
	delete(h.frames, id)
	if at, ok := slices.BinarySearchFunc(h.sorted, id, byNumber); ok {
		h.sorted = slices.Delete(h.sorted, at, at+1)
	}
	if typed := h.drafts[id]; typed != nil {
		delete(h.drafts, id)
		a.keepTyped(errors.New("the frame that you edited waits no longer"), typed)
	}
	if row != nil && row.seq != 0 && row.seq == a.model.selected {
		h.moveOn = true
		if next := h.oldest(); next != nil {
			a.moveOn(next)
		}
	}
}

// moveOn selects a held frame if the user is waiting for the next one.
func (a *app) moveOn(r *heldRow) {
	if a.holds.moveOn && r.seq != 0 && r.Behind == 0 {
		a.holds.moveOn = false
		a.jump(r.seq)
	}
}

// marksAtOnce limits the marks that refreshHolds reads at once.
const marksAtOnce = 1 << 10

// refreshHolds finds the held frames on the tape: each one follows the mark with its number.
// It reads several marks together, because reading one mark of a growing tape takes as long
// as reading all recent ones.
func (a *app) refreshHolds() {
	h := a.holds
	if h == nil || len(h.sorted) == 0 {
		return
	}
	newest := h.sorted[len(h.sorted)-1]
	if newest.seq != 0 {
		return
	}
	var marks []frameindex.RowRange
	a.snapshot.Seek(h.scanned+1, 1, func(g *dialect.Frame) bool {
		if g.Kind == wire.Mark {
			marks = append(marks, frameindex.RowRange{Seq: g.Seq, Frames: 1})
		}
		return false
	})
	for some := range slices.Chunk(marks, marksAtOnce) {
		a.rows.Load(some)
		for _, m := range some {
			mark := a.rows.Row(m.Seq)
			if mark.Err != nil || mark.Hold > newest.ID { // its event has not arrived yet
				return
			}
			if row := h.frames[mark.Hold]; row != nil && row.seq == 0 {
				row.seq = a.snapshot.Seek(m.Seq+1, 1, func(g *dialect.Frame) bool { return g.Dir == mark.Frame.Dir && g.Kind != wire.Mark })
				if row.seq == 0 {
					return // the frame will soon be on the tape
				}
				a.moveOn(row)
			}
			h.scanned = m.Seq
		}
	}
	h.scanned = a.snapshot.Last
}

// anyHeld reports whether a frame waits.
func (a *app) anyHeld() bool { return a.holds.oldest() != nil }

// oldest returns the first held frame, or nil.
func (h *holds) oldest() *heldRow {
	if h == nil || len(h.sorted) == 0 {
		return nil
	}
	return h.sorted[0]
}

// between returns the first held frame in [from, to), or nil.
func (h *holds) between(from, to uint64) *heldRow {
	if h == nil {
		return nil
	}
	at, _ := slices.BinarySearchFunc(h.sorted, from, func(r *heldRow, seq uint64) int {
		return cmp.Compare(r.seq-1, seq-1) // those without a place sort last
	})
	if at == len(h.sorted) || h.sorted[at].seq == 0 || h.sorted[at].seq >= to {
		return nil
	}
	return h.sorted[at]
}

// heldOn returns the first held frame of a row, or nil.
func (a *app) heldOn(seq uint64) *heldRow {
	if !a.anyHeld() {
		return nil
	}
	return a.holds.between(seq, seq+uint64(max(a.model.rowRange(seq).Frames, 1)))
}

// waitsText says how long a held frame has been waiting, or for which frame.
func (a *app) waitsText(r *heldRow) string {
	if r.Behind == 0 {
		return "held " + termtext.Duration(max(a.Now().Sub(r.At), 0))
	}
	if first := a.holds.frames[r.Behind]; first != nil && first.seq != 0 {
		return "behind " + a.timeline.Label(first.seq)
	}
	return "waits"
}

// heldTitle says what holds the frame in the pane, or returns "".
func (a *app) heldTitle(seq uint64) string {
	r := a.holds.between(seq, seq+1)
	if r == nil {
		return ""
	}
	by := "waits behind others"
	if r.Rule != "" {
		by = "held by " + termtext.Piece(r.Rule)
	}
	if r.Kind != wire.Request {
		return by
	}
	return by + " · the " + r.Dir.Sender() + " waits"
}

// holding returns the text about held frames for the status line, or "".
func (a *app) holding() string {
	first := a.holds.oldest()
	if first == nil {
		return ""
	}
	return fmt.Sprintf("%s %d held, oldest %s", holdSign, len(a.holds.frames), termtext.Duration(max(a.Now().Sub(first.At), 0)))
}

// askHold asks for the filter of the frames to hold.
func (a *app) askHold() {
	if !a.reaches() {
		return
	}
	a.askQuery("hold (empty: nothing): ", a.holds.filter, a.holdBy)
}

// holdBy holds the frames that match a filter; an empty filter ends the hold.
func (a *app) holdBy(filter string) error {
	if a.holds == nil {
		return a.errNotListening()
	}
	filter = strings.TrimSpace(filter)
	h := a.holds
	a.command(func(c Control) error { return a.setHold(h, c, filter) }, func(err error) {
		a.askQuery("hold (empty: nothing): ", filter, a.holdBy)
		a.prompt.fault(err)
	})
	return nil
}

// setHold asks the proxy to hold frames by a filter. It blocks, so the event loop must not
// call it.
func (a *app) setHold(h *holds, c Control, filter string) error {
	err := c.Hold(filter)
	if err == nil {
		a.updates.post(func() { h.filter = filter })
	}
	return err
}

// holdSession holds all frames of the selected frame's session.
func (a *app) holdSession() {
	if !a.reaches() {
		return
	}
	session := a.session()
	if session == "" {
		a.notify("this frame belongs to no session; H holds frames by a filter")
		return
	}
	a.fail(a.holdBy("session:" + filter.Value(session)))
}

// nextHeld selects the next or previous held frame. If none is on the tape yet, the first to
// get there is selected then, unless the user presses another key first.
func (a *app) nextHeld(forward bool) {
	if a.holds.oldest() == nil {
		a.notify("no frame is held")
		return
	}
	list := slices.DeleteFunc(slices.Clone(a.holds.sorted), func(r *heldRow) bool { return r.seq == 0 })
	if len(list) == 0 {
		a.holds.moveOn = true
		return
	}
	at := list[0]
	if !forward {
		slices.Reverse(list)
		at = list[0]
	}
	for _, r := range list {
		if forward && r.seq > a.model.selected || !forward && r.seq < a.model.selected {
			at = r
			break
		}
	}
	a.jump(at.seq)
}
