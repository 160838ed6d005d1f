package screen

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/acptap/acptap/inspect/frames/frameindex"
)

// A model is the list of frames as the user sees it: which frames are shown, the
// selection, and the visible part. It refers to frames by number, so new frames or
// another filter do not move what the user is looking at.
type model struct {
	folded bool // each run of chunks is one row
	follow bool // keep the last row selected as frames arrive
	times  timeForm
	start  time.Time               // when the tape began
	label  func(seq uint64) string // returns a frame's label

	frameindex.Matches
	selected uint64 // 0: none
	top      uint64 // first row on the screen
	height   int    // rows on the screen
	target   uint64 // frame to select once the scan gets there; 0: none

	// awaited returns the target once it has a number on the timeline, or 0 until then.
	// If nil, there is no target or it is known.
	awaited func() uint64
}

// A timeForm is the form in which times are shown.
type timeForm uint8

const (
	sinceStart timeForm = iota
	sinceBefore
	wallClock
	timeForms
)

var timeNames = [timeForms]string{"since the start", "since the row before", "of day"}

// rows returns the first frame of each row.
func (m *model) rows() *frameindex.NumberSet {
	if m.folded {
		return &m.Heads
	}
	return &m.All
}

// add adds a scan's results. It returns an error if the target is not on a row.
func (m *model) add(f frameindex.Found) (err error) {
	m.Add(f)
	m.resolve()
	switch wish := m.target; {
	case wish != 0 && (wish <= m.Last || m.Complete):
		m.target = 0
		if err = m.jump(wish); err != nil {
			m.selected = wish
			m.settle()
		}
	case m.follow:
		m.end()
	case m.current() == 0:
		m.settle()
	}
	return err
}

// await selects a frame once number returns it and the scan has got there.
func (m *model) await(number func() uint64) {
	m.follow, m.awaited = false, number
	m.resolve()
}

func (m *model) resolve() {
	if m.awaited == nil {
		return
	}
	if m.target = m.awaited(); m.target != 0 || m.Complete {
		m.awaited = nil
	}
}

// current returns the selected frame, or 0 if it is not shown. Until the scan gets there
// it counts as shown.
func (m *model) current() uint64 {
	if !m.rows().Has(m.selected) && (m.Complete || m.selected <= m.Last) {
		return 0
	}
	return m.selected
}

// place returns the number of rows before the selected one, and the total number.
func (m *model) place() (before, all int) {
	rows := m.rows()
	return max(rows.Below(m.selected+1)-1, 0), rows.Len()
}

// move goes n rows down, or up if n is negative.
func (m *model) move(n int) {
	before, all := m.place()
	if n < 0 {
		m.follow = false
	}
	m.choose(before+n, all)
}

// choose selects row i, or the nearest one, and drops any target.
func (m *model) choose(i, all int) {
	m.target, m.awaited = 0, nil
	if all > 0 {
		m.selected = m.rows().At(min(max(i, 0), all-1))
	}
}

// home selects the first row, or 0 if the scan has found none yet.
func (m *model) home() {
	m.follow, m.target, m.awaited = false, 0, nil
	m.selected = m.rows().At(0)
}

// end selects the last row.
func (m *model) end() { m.choose(m.rows().Len()-1, m.rows().Len()) }

// jump selects a frame's row. It returns an error if there is none.
func (m *model) jump(seq uint64) error {
	if seq > m.Last && !m.Complete {
		m.follow, m.target, m.awaited = false, seq, nil
		return nil
	}
	if !m.All.Has(seq) {
		if seq == 0 || seq > m.Last {
			return fmt.Errorf("there is no frame %s", m.label(seq))
		}
		return fmt.Errorf("frame %s does not fit the filter", m.label(seq))
	}
	m.follow, m.target, m.awaited = false, 0, nil
	m.selected = m.rows().Previous(seq)
	return nil
}

// nextFailure goes to the next or previous row with a failure. It wraps around once the
// scan is complete. broken returns the nearest visible frame with a finding, which counts
// as a failure, or 0 if there is none.
func (m *model) nextFailure(forward bool, broken func(from uint64, forward bool) uint64) (round bool, err error) {
	from := m.selected
	if row := m.rowRange(from); forward && row.Frames > 1 {
		from += uint64(row.Frames) - 1
	}
	seq := m.failureFrom(from, forward, broken)
	switch {
	case seq != 0:
	case !m.Complete:
		return false, fmt.Errorf("no failure or finding %s so far", direction(forward))
	case forward:
		round, seq = true, m.failureFrom(0, true, broken)
	default:
		round, seq = true, m.failureFrom(m.Last+1, false, broken)
	}
	if seq == 0 {
		return false, errors.New("no failure or finding")
	}
	return round, m.jump(seq)
}

// failureHere returns the first failure on the selected row, or 0 if there is none.
func (m *model) failureHere() uint64 {
	row := m.rowRange(m.current())
	if seq := m.Failures.Next(row.Seq); row.Seq != 0 && seq < row.Seq+uint64(row.Frames) {
		return seq
	}
	return 0
}

// failureFrom returns the nearest failure or finding after or before a frame, or 0 if
// there is none.
func (m *model) failureFrom(from uint64, forward bool, broken func(uint64, bool) uint64) uint64 {
	seq, other := m.Failures.Next(from+1), broken(from, forward)
	if !forward {
		seq = m.Failures.Previous(from - 1)
	}
	if seq == 0 || other != 0 && (other < seq) == forward {
		return cmp.Or(other, seq)
	}
	return seq
}

func direction(forward bool) string {
	if forward {
		return "further down"
	}
	return "further up"
}

// fold folds or unfolds runs of chunks.
func (m *model) fold() {
	m.folded = !m.folded
	m.settle()
}

// settle selects the row that contains the selected frame, or, if there is none, the
// previous one. If there are no rows, the frame stays selected, since another filter may
// show it.
func (m *model) settle() {
	rows := m.rows()
	if seq := rows.Previous(m.selected); seq != 0 {
		m.selected = seq
	} else if rows.Len() > 0 {
		m.selected = rows.At(0)
	}
}

// window returns the rows on a screen of the given height, scrolled so that the selected
// row is among them.
func (m *model) window(height int) []frameindex.RowRange {
	m.height = height
	rows := m.rows()
	if height <= 0 || rows.Len() == 0 {
		return nil
	}
	top := rows.Below(m.top)
	before, _ := m.place()
	switch {
	case before < top:
		top = before
	case before >= top+height:
		top = before - height + 1
	}
	top = max(min(top, rows.Len()-height), 0)
	m.top = rows.At(top)
	list := make([]frameindex.RowRange, min(height, rows.Len()-top))
	for i := range list {
		list[i] = m.rowRange(rows.At(top + i))
	}
	return list
}

// shift scrolls by n rows and returns the number of rows above the screen.
func (m *model) shift(n int) (above int) {
	rows := m.rows()
	above = min(max(rows.Below(m.top)+n, 0), max(rows.Len()-m.height, 0))
	m.top = rows.At(above)
	return above
}

// scroll scrolls by n rows. The selection moves only as far as it must to stay on the
// screen.
func (m *model) scroll(n int) {
	top := m.shift(n)
	before, all := m.place()
	if n < 0 {
		m.follow = false
	}
	m.choose(min(max(before, top), top+m.height-1), all)
}

// rowRange returns the row that begins with a frame.
func (m *model) rowRange(seq uint64) frameindex.RowRange {
	if !m.folded {
		return frameindex.RowRange{Seq: seq, Frames: 1}
	}
	next := m.Heads.Next(seq + 1)
	if next == 0 {
		next = m.All.At(m.All.Len()-1) + 1
	}
	// The frames after a run may be hidden; those within it never are.
	return frameindex.RowRange{Seq: seq, Frames: m.All.Below(next) - m.All.Below(seq)}
}
