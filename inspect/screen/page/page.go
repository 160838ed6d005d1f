// Package page is a list of lines with a cursor. Its owner may change the lines at any
// time: the cursor stays with its line, with a frame, or at the end. A search also finds
// words in lines that are folded away. A Page says which lines are on the screen and
// draws none. It is not safe for concurrent use.
package page

import (
	"slices"

	"github.com/acptap/acptap/record/termtext"
)

// A Line is a line of a page.
type Line struct {
	Spans   []termtext.Span // nil: built when drawn
	Seq     uint64          // the frame that it is about; 0: none
	Tape    string          // another tape that it is also about; empty: none
	TapeSeq uint64          // the frame of Tape
	Item    int             // what it belongs to, for the page's owner
	Key     string          // keeps the cursor on the line when others are inserted; empty: none
	Heading Heading         // of the first lines: whether they scroll
	Section bool            // a section begins here, up to the next one
	Joined  bool            // its text continues the previous line's

	Folded  []Line          // lines folded away below it
	Preview []termtext.Span // the part of Folded that follows on the same line

	Level int    // lines of a higher level below it belong to it
	Also  string // further text by which to find it
}

// A Heading says whether a line at the top stays there when the others scroll. Those that
// always stay come first.
type Heading uint8

const (
	Scrolls Heading = iota
	Stays
	StaysIfRoom // on a high screen
)

// highScreen is the number of rows from which all headings stay.
const highScreen = 30

// A Page consists of lines of text with a cursor.
type Page struct {
	Lines func(width int) []Line
	State func() any                            // the lines remain equal as long as the state does; nil: they are rebuilt for each drawing
	Late  func(item, width int) []termtext.Span // returns the spans of a line that has none
	Text  func(item int) TextRow                // what is searched in such a line; nil: its spans
	Place func(item int, marks []Mark) []Mark   // moves marks in that text to where the spans show it
	Enter func(Line)                            // what Enter does; nil: nothing
	Flip  func(Line)                            // folds or unfolds what a line belongs to; nil: nothing folds
	Fold  func() (unfolded bool)                // folds or unfolds everything; nil: nothing folds
	Block func(Line) string                     // returns the text that a line belongs to, or the empty string if that is what is shown; nil: always
	Start func() string                         // returns the key of the line that the cursor is on until the user moves it; nil: the first line
	Own   func(seq uint64) uint64               // returns the frame that the line about a frame has; nil: that frame
	UpTo  func() uint64                         // the lines cover frames up to this one; nil: the page is not ordered by frame

	Narrows bool // a search shows only the lines that match

	// Above returns the line that stays at the top while the beginning of a section has
	// scrolled away; nil: there are no sections.
	Above func(item, width int) []termtext.Span

	Unfolded bool // the last result of Fold
	made     made
	scroll
	finding
}

// made holds what was built for the last drawing.
type made struct {
	lines []Line
	width int
	state any
	times int // number of times that lines were built
}

// A scroll is the user's position in the lines.
type scroll struct {
	shown   []Line
	index   []int  // each shown line's index among all, if the search narrows them; otherwise nil
	fits    []bool // by shown line: it matches the search itself
	cursor  int
	moved   bool   // the user has moved the cursor
	begun   bool   // the cursor has left the line that Start names
	follow  bool   // the cursor stays on the last line
	target  uint64 // the frame that the cursor goes to; 0: none
	awaits  bool   // target is any frame, not that of a line
	wanted  string // the key of the line that the cursor goes to once it exists; empty: none
	look    bool   // the cursor goes to the first match
	stays   bool   // the cursor stays on stayRow
	stayRow int    // of the window
	top     int
	headed  int // number of lines above the first one that scrolls
	width   int
	height  int  // without the headings
	high    bool // all headings stay
}

// make returns the lines. It rebuilds them only if State has changed: a conversation has
// very many, and most keys do not change any.
func (p *Page) make(width int) []Line {
	var state any
	if p.State != nil {
		// Anything that arrives while the lines are being built makes the next call
		// rebuild them.
		state = p.State()
	}
	if p.State == nil || p.made.lines == nil || p.made.width != width || p.made.state != state {
		p.made = made{p.Lines(width), width, state, p.made.times + 1}
	}
	return p.made.lines
}

// A Window is the part of a page that is on the screen.
type Window struct {
	Heading [][]termtext.Span // lines above the rows
	Rows    []Row
	Cursor  int // index in rows
}

// A Row is a line on the screen.
type Row struct {
	Item  int
	Spans []termtext.Span
	Marks []Mark // in the row's text
}

// Window builds the lines and scrolls so that the cursor is on the screen.
func (p *Page) Window(width, height int) Window {
	before := p.anchor()
	p.high = height >= highScreen
	heading := p.arrange(width)
	w := Window{Heading: heading[:max(min(len(heading), height-1), 0)]}
	p.headed = len(w.Heading)
	height -= p.headed
	p.height = height
	if p.Start != nil && !p.begun && p.search == nil {
		p.toKey(p.Start())
		before = p.anchor()
	}
	if p.toKey(p.wanted) {
		p.wanted = ""
	} else {
		p.stayOn(before)
	}
	if p.follow {
		p.cursor = len(p.shown) - 1
	}
	if p.target != 0 && p.UpTo != nil && p.UpTo() >= p.target {
		p.toTarget()
	}
	p.cursor = max(min(p.cursor, len(p.shown)-1), 0)
	if p.look && p.search != nil {
		p.look = false
		p.step(Here)
	}
	if p.stays {
		p.top = p.cursor - p.stayRow
	}
	if p.cursor < p.top {
		p.top = p.cursor
	}
	if p.cursor >= p.top+height {
		p.top = p.cursor - height + 1
	}
	p.top = max(min(p.top, len(p.shown)-height), 0)
	if above := p.above(); above != nil && height > 2 {
		if height--; p.cursor >= p.top+height {
			p.top++
			above = p.above()
		}
		if above != nil {
			w.Heading = append(w.Heading, above)
			p.headed, p.height = p.headed+1, height
		} else { // the next section begins here
			height++
		}
	}
	for i := p.top; i < min(p.top+max(height, 0), len(p.shown)); i++ {
		w.Rows = append(w.Rows, p.row(i))
	}
	w.Cursor = p.cursor - p.top
	return w
}

// above returns what stays at the top of the section that the first line on the screen is in.
func (p *Page) above() []termtext.Span {
	if p.Above == nil || p.top >= len(p.shown) || p.shown[p.top].Section {
		return nil
	}
	for i := p.top - 1; i >= 0; i-- {
		if l := &p.shown[i]; l.Section {
			return p.Above(l.Item, p.width)
		}
	}
	return nil
}

// toTarget puts the cursor on the line about the target. A frame that comes before all lines
// gets the first line about a frame, not a heading.
func (p *Page) toTarget() {
	if p.awaits && p.Own != nil {
		p.target = p.Own(p.target)
	}
	i := p.near(p.target)
	if p.awaits && i < len(p.shown) && p.shown[i].Seq == 0 {
		i = max(slices.IndexFunc(p.shown, func(l Line) bool { return l.Seq != 0 }), 0)
	}
	p.jump(i)
	p.target = 0
}

// arrange builds the lines to show and searches them. It returns the headings.
func (p *Page) arrange(width int) (heading [][]termtext.Span) {
	p.width = width
	lines := p.make(width)
	for len(lines) > 1 && (lines[0].Heading == Stays || lines[0].Heading == StaysIfRoom && p.high) {
		heading, lines = append(heading, lines[0].Spans), lines[1:]
	}
	p.show(lines)
	return heading
}

// spans returns a line's spans.
func (p *Page) spans(l *Line) []termtext.Span {
	if l.Spans == nil && p.Late != nil {
		return p.Late(l.Item, p.width)
	}
	return l.Spans
}

// jump puts the cursor on a line. If the line is off the screen, jump scrolls so that
// there are some lines around it.
func (p *Page) jump(i int) {
	p.cursor = i
	if i < p.top || i >= p.top+p.height {
		p.top = i - p.height/3
	}
}

// toKey puts the cursor on the line with the given key. It reports whether there is one.
func (p *Page) toKey(key string) bool {
	if key == "" {
		return false
	}
	i := slices.IndexFunc(p.shown, func(l Line) bool { return l.Key == key })
	if i >= 0 {
		p.cursor = i
	}
	return i >= 0
}

// near returns the line about a frame or, if there is none, about the last earlier frame.
func (p *Page) near(seq uint64) int {
	best := 0
	for i, l := range p.shown {
		if l.Seq != 0 && l.Seq <= seq && l.Seq > p.shown[best].Seq {
			best = i
		}
	}
	return best
}

// Current returns the line under the cursor.
func (p *Page) Current() Line {
	if p.cursor >= len(p.shown) {
		return Line{Item: -1}
	}
	return p.shown[p.cursor]
}

// Headed returns the number of rows of the window that are headings.
func (p *Page) Headed() int { return p.headed }

// Awaits reports whether the cursor is to go to a frame whose line is not there yet.
func (p *Page) Awaits() bool { return p.target != 0 }

// Position returns the number of lines before the cursor, and the total number.
func (p *Page) Position() (before, all int) { return p.cursor, len(p.shown) }

// Move moves the cursor n lines down.
func (p *Page) Move(n int) {
	p.moved, p.begun, p.follow, p.target, p.wanted, p.stays = true, true, false, 0, "", false
	p.cursor = max(min(p.cursor+n, len(p.shown)-1), 0)
}

// Scroll scrolls down by n lines. The cursor moves only as far as it must to stay on the
// screen.
func (p *Page) Scroll(n int) {
	p.top = max(min(p.top+n, len(p.shown)-p.height), 0)
	p.Move(min(max(p.cursor, p.top), p.top+p.height-1) - p.cursor)
}

// Turn moves the window and the cursor down by some pages.
func (p *Page) Turn(pages int) {
	n := pages * max(p.height-1, 1)
	p.top += n
	p.Move(n)
}

// Point puts the cursor on a row of the window, counting the heading.
func (p *Page) Point(y int) {
	if row := y - p.headed; row >= 0 {
		p.Move(p.top + row - p.cursor)
	}
}

// End moves the cursor to the last line and keeps it there.
func (p *Page) End() {
	p.ToLast()
	p.moved = true
}

// ToLast is like End, but does not count as a move by the user.
func (p *Page) ToLast() {
	p.begun = true
	p.follow, p.target, p.wanted, p.stays = p.UpTo != nil, 0, "", false
	p.cursor = max(len(p.shown)-1, 0)
}

// GoTo puts the cursor on the line about a frame as soon as there is one.
func (p *Page) GoTo(seq uint64) {
	p.target, p.awaits, p.begun, p.follow, p.look, p.stays = seq, false, true, false, false, false
}

// LineOf returns the frame of the line that GoTo would go to, or 0 if there is none.
func (p *Page) LineOf(seq uint64) uint64 {
	if len(p.shown) == 0 {
		return 0
	}
	return p.shown[p.near(seq)].Seq
}

// ShowFrame is like GoTo, but counts as a move by the user.
func (p *Page) ShowFrame(seq uint64) {
	p.GoTo(seq)
	p.moved = true
}

// Await puts the cursor on the line about a frame as soon as there is one; until then it
// may follow the last line.
func (p *Page) Await(seq uint64) { p.target, p.awaits, p.stays = seq, true, false }

// CursorRow returns the row of the window that the cursor is on, without the headings.
func (p *Page) CursorRow() int { return p.cursor - p.top }

// KeepRow keeps the cursor's line on a row of the window, however many lines come in above it,
// until the cursor is sent to another line.
func (p *Page) KeepRow(row int) { p.stays, p.stayRow = true, row }

// Find puts the cursor on the line with the given key as soon as there is one, unless the
// user moves the cursor first. An empty key cancels that.
func (p *Page) Find(key string) { p.wanted, p.follow, p.look, p.stays = key, false, false, false }

// TakeMove returns the frame to which the user has moved the cursor since the last call,
// or 0 if there is none.
func (p *Page) TakeMove() uint64 {
	if !p.moved || p.cursor >= len(p.shown) {
		return 0
	}
	p.moved = false
	return p.shown[p.cursor].Seq
}

// FlipHere folds or unfolds what the line under the cursor belongs to. It does nothing
// before the first Window, when no line is under the cursor.
func (p *Page) FlipHere() {
	if l := p.Current(); l.Item >= 0 {
		p.Flip(l)
		p.GoTo(l.Seq)
	}
}

// FoldHere folds or unfolds what the line under the cursor belongs to, unless it is
// already in that state.
func (p *Page) FoldHere(fold bool) {
	if folded := p.Current().Folded != nil; folded != fold {
		p.FlipHere()
	}
}

// FoldAll folds or unfolds everything. The cursor stays on its line.
func (p *Page) FoldAll() {
	p.GoTo(p.Current().Seq)
	p.Unfolded = p.Fold()
}

// An anchor identifies the line under the cursor, to find it again after the lines have
// been rebuilt.
type anchor struct {
	key   string
	seq   uint64
	first int // first line about the frame
}

func (p *Page) anchor() anchor {
	l := p.Current()
	first := p.cursor
	for first > 0 && first < len(p.shown) && p.shown[first-1].Seq == l.Seq {
		first--
	}
	return anchor{l.Key, l.Seq, first}
}

// stayOn puts the cursor back on its line. Lines without a key, but about a frame, also keep
// their place on the screen. If the page is not ordered by frame, the cursor stays at the top
// until the user moves it.
func (p *Page) stayOn(at anchor) {
	if p.toKey(at.key) || at.seq == 0 || p.UpTo == nil && !p.begun {
		return
	}
	for away := range len(p.shown) {
		for _, i := range [2]int{at.first + away, at.first - away} {
			if p.begins(i, at.seq) {
				p.cursor += i - at.first
				if p.top > 0 { // else what grows is the head, which stays in view
					p.top += i - at.first
				}
				return
			}
		}
	}
}

// begins reports whether a line is the first one about a frame.
func (p *Page) begins(i int, seq uint64) bool {
	return 0 <= i && i < len(p.shown) && p.shown[i].Seq == seq && (i == 0 || p.shown[i-1].Seq != seq)
}
