package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// WriteMarkdown writes a conversation as Markdown to paste into an issue. Text from the wire
// cannot mention users, load images or contain HTML. It ignores form.Color and form.Width.
func WriteMarkdown(w io.Writer, c *Conversation, form Text) error {
	form.Color, form.Width = false, 0
	m := markdown{w: bufio.NewWriter(w)}
	m.text = printer{Text: form, w: bufio.NewWriter(&m.buf), c: c, shown: c.OwnTerminals()}
	turns := c.Turns
	for _, e := range InPlace(c.Entities) {
		if m.text.hidden(e) {
			continue
		}
		for e.Above == nil && len(turns) > 0 && turns[0].Number <= e.Turn {
			m.turn(turns[0])
			turns = turns[1:]
		}
		m.entity(e)
	}
	for _, t := range turns {
		m.turn(t)
	}
	return m.w.Flush()
}

// A markdown writes a conversation as Markdown. It leaves to text what has no Markdown form.
type markdown struct {
	w    *bufio.Writer
	text printer
	buf  bytes.Buffer // output of text
	list bool         // the last block was an item of a list
}

// block separates a block from the one before it.
func (m *markdown) block(item bool) {
	if !item || !m.list {
		m.w.WriteByte('\n')
	}
	m.list = item
}

func (m *markdown) turn(t *Turn) {
	m.block(false)
	fmt.Fprintf(m.w, "### Turn %d: %s\n", t.Number, MarkdownLine(t.ending()))
}

func (m *markdown) entity(e *Entity) {
	inside := strings.Repeat(indent, e.Depth())
	switch {
	case e.Message != nil && e.Message.Role == Thought:
		m.block(false)
		fmt.Fprintf(m.w, "%s<details><summary>thought</summary>\n", inside)
		m.message(e, inside)
		fmt.Fprintf(m.w, "\n%s</details>\n", inside)
	case e.Message != nil:
		m.message(e, inside)
	case e.ToolCall != nil:
		m.toolCall(e, inside)
	case e.Plan != nil && !e.Plan.Removed && len(e.Plan.Entries()) > 0:
		m.plan(e.Plan, inside)
	default:
		m.fenced(inside, "text", m.printed(func() { m.text.entity(e) }))
	}
	for _, line := range strings.Split(m.printed(func() { m.text.below(e) }), "\n") {
		if line != "" {
			m.block(true)
			fmt.Fprintf(m.w, "%s- %s\n", inside+indent, MarkdownLine(line))
		}
	}
}

// printed returns what write prints as text, without its margin.
func (m *markdown) printed(write func()) string {
	m.buf.Reset()
	m.text.margin = ""
	write()
	m.text.w.Flush() // writes to a buffer: no error
	var b strings.Builder
	for line := range strings.Lines(m.buf.String()) {
		b.WriteString(strings.TrimPrefix(line, indent))
	}
	return strings.TrimRight(b.String(), "\n")
}

// message writes a message: the agent's messages and thoughts as they are, all others as
// quotes.
func (m *markdown) message(e *Entity, inside string) {
	if e.Message.Role == User || e.Message.Role == Relayed {
		inside += "> "
	}
	m.block(false)
	if e.Message.Role == Relayed {
		fmt.Fprintf(m.w, "%s**%s**\n%s\n", inside, MarkdownLine(m.text.c.Correspondents(e)), strings.TrimRight(inside, " "))
	}
	var p passages
	write := func(line string) {
		m.w.WriteString(strings.TrimRight(inside+line, " ") + "\n")
	}
	for line := range strings.SplitSeq(strings.Trim(termtext.Text(e.Message.Text()), "\n"), "\n") {
		write(p.line(line))
	}
	if p.fence != "" {
		write(p.fence)
	}
	for _, block := range e.Message.Blocks.All() {
		if wire.JSON(block).Get("type").Text() != "text" {
			write("")
			for line := range strings.SplitSeq(m.printed(func() { m.text.block(indent, termtext.Plain, block) }), "\n") {
				write(MarkdownLine(line))
			}
		}
	}
}

// toolCall writes an item of a list, with the call's content below it.
func (m *markdown) toolCall(e *Entity, inside string) {
	t := e.ToolCall
	m.block(true)
	fmt.Fprintf(m.w, "%s- ", inside)
	if t.Kind != "" {
		fmt.Fprintf(m.w, "**%s** ", MarkdownLine(t.Kind))
	}
	m.w.WriteString(code(cmp.Or(t.Title, t.Name, t.ID)))
	if t.Status != "" {
		m.w.WriteString(" · " + MarkdownLine(t.State()))
		if t.Finished() && e.First != e.Last {
			m.w.WriteString(e.took())
		}
	}
	m.w.WriteByte('\n')
	inside += indent
	for _, p := range t.Permissions {
		fmt.Fprintf(m.w, "%s- %s\n", inside, MarkdownLine(m.printed(func() { m.text.permission(p) })))
	}
	for _, item := range t.Content {
		content, language := wire.JSON(item).Value(), "text"
		if content.Get("type").Text() == "diff" {
			language = "diff"
		}
		m.fenced(inside, language, m.printed(func() { m.text.toolContent(e, content) }))
	}
	if len(t.Content) == 0 && t.RawOutput != nil {
		m.fenced(inside, "json", m.printed(func() { m.text.quote(indent, string(t.RawOutput)) }))
	}
}

func (m *markdown) plan(p *Plan, inside string) {
	m.block(false)
	for _, entry := range p.Entries() {
		box := " "
		if entry.Status == "completed" {
			box = "x"
		}
		fmt.Fprintf(m.w, "%s- [%s] %s\n", inside, box, MarkdownLine(entry.Content))
	}
}

// longBlock is the number of lines above which a block is collapsed.
const longBlock = 12

// fenced writes a block of code, collapsed if it is long.
func (m *markdown) fenced(inside, language, text string) {
	if text == "" {
		return
	}
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	lines := strings.Split(text, "\n")
	m.block(false)
	if len(lines) > longBlock {
		fmt.Fprintf(m.w, "%s<details><summary>%d lines</summary>\n\n", inside, len(lines))
	}
	fmt.Fprintf(m.w, "%s%s%s\n", inside, fence, language)
	for _, line := range lines {
		m.w.WriteString(strings.TrimRight(inside+line, " ") + "\n")
	}
	fmt.Fprintf(m.w, "%s%s\n", inside, fence)
	if len(lines) > longBlock {
		fmt.Fprintf(m.w, "\n%s</details>\n", inside)
	}
}

// passages neutralizes Markdown in text from the wire, line by line.
type passages struct {
	fence string // fence of the open code block, or ""
}

// line returns a line without mentions, images or HTML. Lines of code stay unchanged.
func (p *passages) line(line string) string {
	text := strings.TrimLeft(line, " ")
	mark := text[:len(text)-len(strings.TrimLeft(text, text[:min(1, len(text))]))]
	isFence := len(mark) >= 3 && (mark[0] == '`' || mark[0] == '~')
	switch {
	case p.fence != "":
		if isFence && strings.HasPrefix(mark, p.fence) && strings.TrimSpace(text) == mark {
			p.fence = ""
		}
		return line
	case isFence:
		p.fence = mark
		return line
	}
	pieces := strings.Split(line, "`")
	for i := range pieces {
		if i%2 == 0 || i == len(pieces)-1 { // unless between two backquotes
			pieces[i] = harmless.Replace(pieces[i])
		}
	}
	return strings.Join(pieces, "`")
}

// harmless inserts empty comments, which keep GitHub from recognizing a mention or an image.
var harmless = strings.NewReplacer("<", "&lt;", "@", "@<!-- -->", "![", "!<!-- -->[")

// MarkdownLine returns text from the wire as one line in which Markdown characters have no
// special meaning.
func MarkdownLine(text string) string {
	var b strings.Builder
	for _, r := range harmless.Replace(oneLine(text)) {
		if strings.ContainsRune("\\`*_[]|~", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// code returns text from the wire as one line of code.
func code(text string) string {
	text = oneLine(text)
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}
