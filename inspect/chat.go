package inspect

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A chat is the place with the conversation of a session.
type chat struct {
	story  *story
	starts []time.Time // when each tape began
	wanted func() string

	folds
	kept
}

// The folds are what the user has folded and unfolded.
type folds struct {
	flipped map[uint64]bool // entities, by their first frame, that are not folded as usual
	all     bool            // everything is unfolded
	changes int             // of these, since the beginning
}

// What is kept is not made anew for each drawing.
type kept struct {
	width int
	said  int              // lines of the last drawing
	drawn map[uint64]drawn // by the first frame
	ends  map[*trace.Turn]drawnEnd
}

// drawn are the lines of an entity, as long as nothing was added to it.
type drawn struct {
	last uint64
	open bool
	rows []line
}

// drawnEnd are the lines of the end of a turn.
type drawnEnd struct {
	end       uint64
	cancelled bool
	rows      []line
}

// A chatState is all that the lines depend on but the width.
type chatState struct {
	chapter
	session string
	changes int // of the folds
}

func (c *chat) state() any { return chatState{c.story.soFar(), c.wanted(), c.changes} }

func newChat(s *story, starts []time.Time, wanted func() string) *chat {
	return &chat{
		story: s, starts: starts, wanted: wanted,
		folds: folds{flipped: map[uint64]bool{}},
		kept:  kept{drawn: map[uint64]drawn{}, ends: map[*trace.Turn]drawnEnd{}},
	}
}

// lines returns the conversation.
func (c *chat) lines(width int) []line {
	c.story.mu.Lock()
	defer c.story.mu.Unlock()
	c.story.told = c.story.last
	session := c.story.session(c.wanted())
	if session == nil || len(session.Conversation.Entities) == 0 {
		return c.nothing(session)
	}
	if c.width != width {
		clear(c.drawn)
		clear(c.ends)
		c.width = width
	}
	said := make([]line, 0, c.said+c.said/8)
	said = append(said, line{spans: []termtext.Span{termtext.Bold.Span(termtext.Cut(termtext.Dotted(termtext.Piece(session.Title), termtext.Piece(session.ID)), max(width, 1)))}}, line{})
	conversation := &session.Conversation
	shown := ownTerminals(conversation)
	ended := 0
	for _, e := range conversation.Entities {
		if e.Terminal != nil && shown[e.Terminal] {
			continue
		}
		for ; ended < e.Turn-1 && ended < len(conversation.Turns); ended++ {
			said = append(said, c.endOfTurn(conversation, conversation.Turns[ended])...)
		}
		said = append(said, c.entity(conversation, e)...)
	}
	for _, t := range conversation.Turns[ended:] {
		said = append(said, c.endOfTurn(conversation, t)...)
	}
	c.said = len(said)
	return said[:len(said)-1] // without the blank line at the end
}

func (c *chat) nothing(session *trace.Session) []line {
	text := "There is no conversation on this tape."
	switch {
	case !c.story.ended && c.story.last == 0:
		text = "reading…"
	case session != nil:
		text = "Nothing has been said in session " + termtext.Piece(session.ID) + "."
	}
	return []line{{spans: []termtext.Span{termtext.Dim.Span(text)}}}
}

// ownTerminals returns the terminals that are shown with the tool calls that they
// belong to.
func ownTerminals(c *trace.Conversation) map[*trace.Terminal]bool {
	shown := map[*trace.Terminal]bool{}
	for _, e := range c.Entities {
		if e.ToolCall == nil {
			continue
		}
		for _, item := range e.ToolCall.Content {
			if v := gjson.ParseBytes(item); v.Get("type").Str == "terminal" {
				if t := c.Terminal(e, v.Get("terminalId").Str); t != nil {
					shown[t] = true
				}
			}
		}
	}
	return shown
}

// open reports whether an entity is shown with all that is in it: what was said
// usually is, what was thought and done is not.
func (c *chat) open(e *trace.Entity) bool {
	usual := e.ToolCall == nil && e.Terminal == nil && (e.Message == nil || e.Message.Role != trace.Thought)
	return c.all || usual != c.flipped[e.First]
}

func (c *chat) entity(of *trace.Conversation, e *trace.Entity) []line {
	open := c.open(e)
	if d, ok := c.drawn[e.First]; ok && d.last == e.Last && d.open == open {
		return d.rows
	}
	one := *of
	one.Entities, one.Turns = []*trace.Entity{e}, nil
	rows := c.write(&one, e.First)
	if len(rows) > 2 {
		sign := termtext.Dim.Span("▾ ")
		if !open {
			sign.Text = "▸ "
			rows[0].spans = append(rows[0].spans, termtext.Dim.Span("  "+strings.TrimSpace(lineText(rows[1]))+" …"))
			rows = rows[:1]
		}
		rows[0].spans[0] = sign
	}
	if len(rows) > 0 { // else there is nothing of it to show
		rows = append(rows, line{seq: e.First})
	}
	c.drawn[e.First] = drawn{e.Last, open, rows}
	return rows
}

func (c *chat) endOfTurn(of *trace.Conversation, t *trace.Turn) []line {
	if c.story.running(t) {
		return []line{{spans: []termtext.Span{termtext.Yellow.Span(fmt.Sprintf("%s── turn %d: running", margin, t.Number))}, seq: t.Last}, {}}
	}
	d, ok := c.ends[t]
	if !ok || d.end != t.End || d.cancelled != t.Cancelled {
		one := *of
		one.Entities, one.Turns = nil, []*trace.Turn{t}
		d = drawnEnd{t.End, t.Cancelled, append(c.write(&one, max(t.End, t.Last)), line{})}
		c.ends[t] = d
	}
	return d.rows
}

// write has a part of a conversation written, and returns its lines, each behind
// a margin.
func (c *chat) write(part *trace.Conversation, seq uint64) []line {
	form := trace.Text{Width: max(c.width-len(margin), 1), Color: true}
	if !c.starts[0].IsZero() {
		form.Starts = c.starts
	}
	var b strings.Builder
	trace.WriteText(&b, part, form) // a Builder takes everything
	var rows []line
	for text := range strings.Lines(b.String()) {
		rows = append(rows, line{spans: append([]termtext.Span{termtext.Plain.Span(margin)}, termtext.Spans(strings.TrimSuffix(text, "\n"))...), seq: seq})
	}
	return rows
}

const margin = "  "

func lineText(l line) string {
	var b strings.Builder
	for _, s := range l.spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// flip folds the entity on a line, or unfolds it.
func (f *folds) flip(l line) {
	if l.seq != 0 {
		f.flipped[l.seq] = !f.flipped[l.seq]
		f.changes++
	}
}

// flipAll unfolds everything, or folds it as usual.
func (f *folds) flipAll() (unfolded bool) {
	f.all = !f.all
	f.changes++
	return f.all
}
