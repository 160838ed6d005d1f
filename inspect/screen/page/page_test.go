package page_test

import (
	"fmt"
	"testing"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// TestCursorStays: the cursor stays on its line where lines come in before it, on the
// last one if it follows, and goes to a frame when that is in the lines.
func TestCursorStays(t *testing.T) {
	first, last := 5, 9
	p := &page.Page{
		Lines: func(int) []page.Line {
			lines := []page.Line{{Spans: []termtext.Span{termtext.Bold.Span("heading")}, Heading: page.Stays}}
			for seq := first; seq <= last; seq++ {
				lines = append(lines, page.Line{Seq: uint64(seq), Key: fmt.Sprint(seq)})
			}
			return lines
		},
		UpTo: func() uint64 { return uint64(last) },
	}
	cursorOn := func(when string, want uint64) {
		t.Helper()
		w := p.Window(80, 4)
		if w.Heading == nil || len(w.Rows) != 3 || w.Cursor < 0 || w.Cursor > 2 {
			t.Fatalf("%s: got %d rows, the cursor on %d, want 3 and the cursor among them", when, len(w.Rows), w.Cursor)
		}
		if got := p.Current().Seq; got != want {
			t.Errorf("%s: got the line of frame %d, want %d", when, got, want)
		}
	}
	cursorOn("at first", 5)
	p.Move(2)
	cursorOn("moved", 7)
	if got := p.TakeMove(); got != 7 {
		t.Errorf("moved to frame %d, want 7", got)
	}
	if got := p.TakeMove(); got != 0 {
		t.Errorf("moved once more, to frame %d", got)
	}
	first = 1
	cursorOn("with lines before it", 7)
	p.GoTo(11)
	cursorOn("before the frame is there", 7)
	last = 12
	cursorOn("when the frame is there", 11)
	p.End()
	last = 20
	cursorOn("following", 20)
	p.Turn(-1)
	cursorOn("a page up", 18)
	last = 30
	cursorOn("no longer following", 18)
	p.Find("32")
	cursorOn("before the line with the key is there", 18)
	last = 35
	cursorOn("when the line with the key is there", 32)
	p.Move(1)
	cursorOn("moved from there", 33)
	p.Find("38")
	p.Move(-1)
	last = 40
	cursorOn("moved before the line with the key is there", 32)
}

// TestCursorStaysAmongFrames: where lines have no keys, the cursor stays on its line
// among those about its frame, and they stay where they are on the screen.
func TestCursorStaysAmongFrames(t *testing.T) {
	lengths := map[uint64]int{1: 2, 2: 1, 3: 4, 4: 8} // lines about each frame
	p := &page.Page{
		Lines: func(int) (lines []page.Line) {
			for seq := uint64(1); seq <= 4; seq++ {
				for i := range lengths[seq] {
					lines = append(lines, page.Line{Seq: seq, Item: i})
				}
			}
			return lines
		},
		UpTo: func() uint64 { return 4 },
	}
	cursorOn := func(when string, seq uint64, item, row int) {
		t.Helper()
		w := p.Window(80, 4)
		if l := p.Current(); l.Seq != seq || l.Item != item || w.Cursor != row {
			t.Errorf("%s: got line %d of frame %d in row %d, want line %d of frame %d in row %d", when, l.Item, l.Seq, w.Cursor, item, seq, row)
		}
	}
	cursorOn("at first", 1, 0, 0)
	p.Move(5)
	cursorOn("moved", 3, 2, 3)
	p.Move(-1)
	cursorOn("up", 3, 1, 2)
	lengths[2] = 5
	cursorOn("with more lines above", 3, 1, 2)
	lengths[1], lengths[2] = 0, 0
	cursorOn("with fewer lines above", 3, 1, 1)
	lengths[3] = 6
	cursorOn("with more lines about the frame", 3, 1, 1)
	lengths[3] = 0
	cursorOn("without the frame", 4, 1, 1)
}

// TestCursorStaysWithoutOrder: where lines are neither ordered by frame nor have keys, the cursor
// stays at the top until the user moves it, and then on its line, also when a search ends.
func TestCursorStaysWithoutOrder(t *testing.T) {
	seqs := []uint64{9, 0, 4, 9}
	p := &page.Page{Lines: func(int) (lines []page.Line) {
		for i, seq := range seqs {
			lines = append(lines, page.Line{Seq: seq, Item: i, Spans: []termtext.Span{termtext.Bold.Span(fmt.Sprint("frame ", seq))}})
		}
		return lines
	}}
	cursorOn := func(when string, seq uint64, item int) {
		t.Helper()
		if l := p.Current(); l.Seq != seq || l.Item != item {
			t.Errorf("%s: got line %d of frame %d, want line %d of frame %d", when, l.Item, l.Seq, item, seq)
		}
	}
	p.Window(80, 10)
	seqs = append([]uint64{7}, seqs...)
	p.Window(80, 10)
	cursorOn("at first", 7, 0)
	p.Move(4)
	p.Window(80, 10)
	cursorOn("moved", 9, 4)
	seqs = append([]uint64{0}, seqs...)
	p.Window(80, 10)
	cursorOn("with a line above", 9, 5)
	p.BeginSearch()
	p.Search(page.Phrase("frame 4"))
	cursorOn("found", 4, 4)
	seqs = append([]uint64{0, 2}, seqs...)
	p.EndSearch()
	cursorOn("with lines above when the search ends", 4, 6)
}

// TestKeepRow: the cursor's line stays on a row, although lines come in above it and below it, until
// the user moves.
func TestKeepRow(t *testing.T) {
	lines := 0
	p := &page.Page{UpTo: func() uint64 { return 1000 }, Lines: func(int) (list []page.Line) {
		for i := range lines {
			list = append(list, page.Line{Item: i, Spans: []termtext.Span{termtext.Bold.Span("head")}})
		}
		for i := range 30 {
			list = append(list, page.Line{Seq: uint64(i + 1), Spans: []termtext.Span{termtext.Bold.Span("frame")}})
		}
		return list
	}}
	p.Await(20)
	p.KeepRow(7)
	for lines = range 9 {
		if w := p.Window(80, 10); w.Cursor != 7 || p.CursorRow() != 7 || p.Current().Seq != 20 {
			t.Errorf("with %d lines above: got frame %d on row %d, want frame 20 on row 7", lines, p.Current().Seq, w.Cursor)
		}
	}
	p.Move(1)
	if w := p.Window(80, 10); w.Cursor != 8 {
		t.Errorf("moved by a line: got row %d, want 8", w.Cursor)
	}
	p.Move(-20)
	if w := p.Window(80, 10); w.Cursor != 0 {
		t.Errorf("moved by a page: got row %d, want 0", w.Cursor)
	}
}
