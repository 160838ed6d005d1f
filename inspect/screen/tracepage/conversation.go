package tracepage

import (
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A Conversation holds the lines of a session's conversation, some of them folded.
type Conversation struct {
	reader *Reader
	starts []time.Time // when each tape began
	wanted func() string
	shown  string // the session shown last

	folds
	drawing
}

// The folds record what the user has folded and unfolded.
type folds struct {
	flipped map[uint64]bool // entities, by first frame, whose folding differs from the default
	all     bool            // everything is unfolded
	changes int             // number of changes to these
}

// A drawing caches lines.
type drawing struct {
	width    int
	lines    []page.Line            // as last drawn
	entities map[uint64]entityLines // by first frame
	ends     map[*trace.Turn]turnEndLines
}

// entityLines are an entity's lines. They are valid until something is added to it.
type entityLines struct {
	last uint64
	open bool
	rows []page.Line
}

// turnEndLines are the lines at the end of a turn.
type turnEndLines struct {
	end       uint64
	cancelled bool
	outcome   dialect.Outcome
	rows      []page.Line
}

// State returns everything that the lines depend on, except the width.
func (c *Conversation) State() any { return [3]any{c.reader.Revision(), c.wanted(), c.changes} }

// NewConversation returns the conversation of the session that wanted returns. starts are
// the times at which the tapes began.
func NewConversation(s *Reader, starts []time.Time, wanted func() string) *Conversation {
	return &Conversation{
		reader: s, starts: starts, wanted: wanted,
		folds:   folds{flipped: map[uint64]bool{}},
		drawing: drawing{entities: map[uint64]entityLines{}, ends: map[*trace.Turn]turnEndLines{}},
	}
}

// Session returns the ID of the session that Lines last showed, or the empty string if
// there was none.
func (c *Conversation) Session() string { return c.shown }

// Lines returns the conversation. The lines are valid until the next call.
func (c *Conversation) Lines(width int) []page.Line {
	c.reader.mu.Lock()
	defer c.reader.mu.Unlock()
	session := c.reader.session(c.wanted())
	c.shown = ""
	switch {
	case session == nil:
		return c.reader.without("There is no conversation on this tape.", width)
	case len(session.Conversation.Entities) == 0:
		return c.reader.nothing("Nothing has been said in session " + termtext.Piece(session.ID) + ".")
	}
	c.shown, c.reader.shownUpTo = session.ID, c.reader.last
	if c.width != width {
		clear(c.entities)
		clear(c.ends)
		c.width = width
	}
	text := append(append(c.lines[:0], c.reader.head(session, width)...), page.Line{})
	conversation := &session.Conversation
	shown := conversation.OwnTerminals()
	ended, row := 0, false // the last entity is one row
	for _, e := range trace.InPlace(conversation.Entities) {
		if e.Terminal != nil && shown[e.Terminal] {
			continue
		}
		for ; e.Above == nil && ended < e.Turn-1 && ended < len(conversation.Turns); ended++ {
			text, row = append(text, c.endOfTurn(conversation, conversation.Turns[ended])...), false
		}
		rows := c.entity(conversation, e)
		if len(rows) == 0 { // it has nothing to show
			continue
		}
		calls, above := c.callLines(session.ID, e), row
		if row = len(rows)+len(calls) == 1; row && above {
			text = text[:len(text)-1] // no blank line between rows
		}
		text = append(append(append(text, rows...), calls...), page.Line{Seq: e.First})
	}
	for _, t := range conversation.Turns[ended:] {
		text = append(text, c.endOfTurn(conversation, t)...)
	}
	c.lines = text
	return text[:len(text)-1] // without the final blank line
}

// open reports whether an entity is unfolded. By default messages are; thoughts and tool
// calls are not.
func (c *Conversation) open(e *trace.Entity) bool {
	usual := e.ToolCall == nil && e.Terminal == nil && (e.Message == nil || e.Message.Role != trace.Thought)
	return c.all || usual != c.flipped[e.First]
}

func (c *Conversation) entity(of *trace.Conversation, e *trace.Entity) []page.Line {
	open := c.open(e)
	if d, ok := c.entities[e.First]; ok && d.last == e.Last && d.open == open {
		return d.rows
	}
	one := *of
	one.Entities, one.Turns = []*trace.Entity{e}, nil
	rows := c.write(&one, e.First)
	for i := 2; i < len(rows); i++ {
		rows[i].Joined = true // lines are wrapped
	}
	if len(rows) > 2 {
		sign := termtext.Dim.Span("▾ ")
		if !open {
			sign.Text = "▸ "
			rows[0].Preview = []termtext.Span{termtext.Dim.Span("  " + strings.TrimSpace(termtext.SpansText(rows[1].Spans, false)) + " …")}
			rows[0].Folded = rows[1:]
			rows = rows[:1:1]
		}
		rows[0].Spans[0] = sign
	}
	c.entities[e.First] = entityLines{e.Last, open, rows}
	return rows
}

func (c *Conversation) endOfTurn(of *trace.Conversation, t *trace.Turn) []page.Line {
	d, ok := c.ends[t]
	if !ok || d.end != t.End || d.cancelled != t.Cancelled || d.outcome != t.Outcome || t.Open() {
		one := *of
		one.Entities, one.Turns = nil, []*trace.Turn{t}
		d = turnEndLines{t.End, t.Cancelled, t.Outcome, append(c.write(&one, max(t.End, t.Last)), page.Line{})}
		c.ends[t] = d
	}
	return d.rows
}

// form returns the conversation's form on the screen.
func (c *Conversation) form() trace.Text {
	form := trace.Text{Width: max(c.width-len(margin), 1), Color: true}
	if !c.starts[0].IsZero() {
		form.Starts = c.starts
	}
	return form
}

// write writes part of a conversation and returns its lines, indented by the margin.
func (c *Conversation) write(part *trace.Conversation, seq uint64) []page.Line {
	form := c.form()
	var b strings.Builder
	trace.WriteText(&b, part, form) // writing to a Builder cannot fail
	var rows []page.Line
	for text := range strings.Lines(b.String()) {
		text = strings.TrimSuffix(text, "\n")
		spans := termtext.Spans(margin + text)
		if len(rows) == 0 { // a sign may replace the margin
			spans = append([]termtext.Span{termtext.Plain.Span(margin)}, termtext.Spans(text)...)
		}
		rows = append(rows, page.Line{Spans: spans, Seq: seq})
	}
	return rows
}

// Detail returns the title and the text of the folded message or action that a line belongs
// to, without its first line, which the line shows. For other lines it returns nothing.
func (c *Conversation) Detail(l page.Line, width int) (title string, lines [][]termtext.Span) {
	c.reader.mu.Lock()
	defer c.reader.mu.Unlock()
	session := c.reader.session(c.wanted())
	if session == nil || l.Seq == 0 {
		return "", nil
	}
	for _, e := range session.Conversation.Entities {
		if e.First != l.Seq {
			continue
		}
		if c.open(e) {
			return "", nil
		}
		one := session.Conversation
		one.Entities, one.Turns = []*trace.Entity{e}, nil
		form := c.form()
		form.Width, form.Lines = max(width, 1), detailLines
		var b strings.Builder
		trace.WriteText(&b, &one, form) // writing to a Builder cannot fail
		for text := range strings.Lines(b.String()) {
			lines = append(lines, termtext.Spans(strings.TrimSuffix(text, "\n")))
		}
		return "frame " + c.reader.label(e.First), lines[min(1, len(lines)):]
	}
	return "", nil
}

// detailLines limits the lines of a tool's content in a Detail.
const detailLines = 1000

// Block returns the unwrapped text of the message or action that a line belongs to, or
// nothing for other lines.
func (c *Conversation) Block(l page.Line) string {
	c.reader.mu.Lock()
	defer c.reader.mu.Unlock()
	session := c.reader.session(c.wanted())
	if session == nil || l.Seq == 0 {
		return ""
	}
	for _, e := range session.Conversation.Entities {
		if e.First == l.Seq {
			one := session.Conversation
			one.Entities, one.Turns = []*trace.Entity{e}, nil
			var b strings.Builder
			trace.WriteText(&b, &one, trace.Text{Starts: c.form().Starts}) // writing to a Builder cannot fail
			return strings.TrimSpace(b.String())
		}
	}
	return ""
}

const margin = "  "

// Flip folds or unfolds a line's entity.
func (f *folds) Flip(l page.Line) {
	if l.Seq != 0 {
		f.flipped[l.Seq] = !f.flipped[l.Seq]
		f.changes++
	}
}

// FlipAll unfolds everything, or returns to the default.
func (f *folds) FlipAll() (unfolded bool) {
	f.all = !f.all
	f.changes++
	return f.all
}
