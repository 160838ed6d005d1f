package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// A content is a part of what a message says or a tool shows.
type content struct {
	Kind  string // prose, output, diff, image, again, attached, link, terminal or note
	ID    string // of an image, or of the same one shown earlier
	Title string // a path, a name or a command
	Text  string
	Prose []passage
	Lines []diffLine
	Image string // its data URL
	End   status // of a command
}

func contents(list []content) h.Node { return h.Each(list, content.html) }

func (c content) html() h.Node {
	switch c.Kind {
	case "prose":
		return h.Div(h.Class("prose"), passages(c.Prose))
	case "diff":
		long := len(c.Lines) > 24
		return h.Div(h.Class("diff"), h.P(h.Class("mono"), h.Text(c.Title)),
			h.Pre(h.Given(long, h.Class("long")), h.Each(c.Lines, func(l diffLine) h.Node { return span(l.Class, l.Text+"\n") })), h.Given(long, h.Raw(more)))
	case "image":
		return h.Details(h.Class("image"), h.Summary(h.Title(c.Title+": larger or smaller"), h.Void("img", h.ID(c.ID), h.Attr("src", c.Image), h.Attr("alt", c.Title))))
	case "again":
		return h.P(h.A(h.Class("again"), h.Link(c.ID), h.Text(c.Text)))
	case "attached":
		return h.Details(h.Class("attached"), h.Summary(h.Title(c.Title), h.Text(c.Name())), textIn(h.Pre, "output", c.Text))
	case "link":
		return h.Span(h.Class("attached"), h.Title(c.Text), h.Text(c.Title))
	case "terminal":
		return h.Div(h.Class("terminal"), h.P(h.Class("mono"), h.Text("$ "+c.Title), h.Given(c.End.Word, h.Text(" "), c.End.chip())), h.Given(c.Text, output(c.Text)))
	case "output":
		return h.Group{textIn(h.P, "label mono", c.Title), h.Given(c.Text, output(c.Text))}
	}
	return h.P(h.Class("soft"), h.Text("["+termtext.Spaced(c.Title, c.Text)+"]"))
}

// output returns what a tool was given, or gave.
func output(text string) h.Node {
	long := isLong(text)
	return h.Group{h.Pre(h.Class("output", h.If(long, "long")), h.Auto(), h.Text(text)), h.Given(long, h.Raw(more))}
}

// Name returns the last part of the path of what is attached, and its size.
func (c content) Name() string {
	name := c.Title[strings.LastIndexByte(c.Title, '/')+1:]
	return termtext.Dotted(cmp.Or(name, c.Title, "attachment"), termtext.ByteSize(int64(len(c.Text))))
}

// A diffLine is a line of a diff.
type diffLine struct{ Class, Text string }

// maxOutput limits the bytes shown of one text.
const maxOutput = 32 << 10

// isLong reports whether the page shows only the beginning of an output at first.
func isLong(text string) bool { return len(text) > 2400 || strings.Count(text, "\n") > 15 }

const cutMark = "\n… cut off here"

// cut shortens a long text.
func cut(text string) string {
	if len(text) <= maxOutput {
		return text
	}
	return strings.ToValidUTF8(text[:maxOutput], "") + cutMark
}

// blocks returns the contents of a message's blocks. Adjacent text blocks are joined.
func (r *reader) blocks(blocks []json.RawMessage, frame frameRef) []content {
	var list []content
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			list = append(list, content{Kind: "prose", Prose: prose(cut(text.String()))})
			text.Reset()
		}
	}
	for _, raw := range blocks {
		block := wire.ValueOf(raw)
		if block.Get("type").Text() == "text" {
			text.WriteString(block.Get("text").Text())
			continue
		}
		flush()
		list = append(list, r.block(block, frame))
	}
	flush()
	return list
}

// block returns the content of a block.
func (r *reader) block(block wire.Value, frame frameRef) content {
	switch kind := block.Get("type").Text(); kind {
	case "text":
		return content{Kind: "output", Text: cut(unfenced(strings.Trim(termtext.Text(block.Get("text").Text()), "\n")))}
	case "image":
		return r.image(block.Get("mimeType").Text(), block.Get("data").Text(), frame)
	case "audio":
		return note("audio, %s", termtext.ByteSize(int64(len(block.Get("data").Text())/4*3)))
	case "resource_link":
		uri := termtext.Brief(block.Get("uri").Text(), 500)
		return content{Kind: "link", Title: cmp.Or(termtext.Brief(block.Get("name").Text(), 160), uri), Text: uri}
	case "resource":
		res := block.Get("resource")
		uri := termtext.Brief(res.Get("uri").Text(), 500)
		one := content{Kind: "attached", Title: uri, Text: cut(strings.Trim(termtext.Text(res.Get("text").Text()), "\n"))}
		if one.Text == "" {
			return content{Kind: "link", Title: uri, Text: uri}
		}
		return one
	case wire.ValueAt(trace.Cut, "type").Text():
		return note("cut off: the frame is too large")
	default:
		return note("%s", termtext.Spaced(termtext.Brief(kind, 60), "block"))
	}
}

// unfenced returns the text in a fenced block, if there is nothing else.
func unfenced(text string) string {
	if list := prose(text); len(list) == 1 && list[0].Kind == "pre" {
		return list[0].Text
	}
	return text
}

func note(format string, args ...any) content {
	return content{Kind: "note", Text: fmt.Sprintf(format, args...)}
}

// toolContent returns one part of a tool call's content.
func (r *reader) toolContent(s *trace.Session, e *trace.Entity, c wire.Value, frame frameRef) content {
	switch c.Get("type").Text() {
	case "content":
		return r.block(c.Get("content"), frame)
	case "diff":
		return change(c)
	case "terminal":
		if t := s.Conversation.Terminal(e, c.Get("terminalId").Text()); t != nil {
			return terminal(t)
		}
		return note("a terminal that is not known")
	}
	return r.block(c, frame) // some agents omit the wrapper
}

// change returns a change of files.
func change(c wire.Value) content {
	one := content{Kind: "diff", Title: termtext.Line(c.Get("path").String())}
	lines := trace.DiffLines(termtext.Text(c.Get("oldText").Text()), termtext.Text(c.Get("newText").Text()))
	if changes := c.Get("changes"); changes.IsArray() { // version 2
		var paths []string
		for _, one := range changes.Array() {
			paths = append(paths, termtext.Brief(termtext.Spaced(one.Get("operation").String(), one.Get("oldPath").String(), one.Get("path").String()), 500))
		}
		one.Title = strings.Join(paths, "\n")
		lines = strings.Split(strings.TrimSuffix(termtext.Text(c.Get("patch.text").Text()), "\n"), "\n")
	}
	size := 0
	for _, line := range lines {
		if size += len(line); size > maxOutput {
			one.Lines = append(one.Lines, diffLine{"", strings.TrimSpace(cutMark)})
			break
		}
		class := ""
		switch {
		case strings.HasPrefix(line, "+"):
			class = "ins"
		case strings.HasPrefix(line, "-"):
			class = "del"
		case strings.HasPrefix(line, "@"):
			class = "soft"
		}
		one.Lines = append(one.Lines, diffLine{class, line})
	}
	return one
}

// terminal returns a command and the end of its output.
func terminal(t *trace.Terminal) content {
	one := content{Kind: "terminal", Title: termtext.Brief(termtext.Spaced(append([]string{t.Command}, t.Args...)...), 2000)}
	output := t.Output
	if len(output) > maxOutput {
		output = output[len(output)-maxOutput:]
	}
	one.Text = strings.Trim(termtext.Text(string(output)), "\n")
	if t.Truncated || len(output) < len(t.Output) {
		one.Text = "…\n" + one.Text
	}
	switch x := t.Exit; {
	case x == nil:
	case x.Signal != "":
		one.End = status{"signal " + termtext.Brief(x.Signal, 30), "bad"}
	case x.Code != nil && *x.Code != 0:
		one.End = status{fmt.Sprintf("exit %d", *x.Code), "bad"}
	default:
		one.End = status{"exit 0", "good"}
	}
	return one
}

// An album holds the images shown so far.
type album struct {
	size  int
	first map[[sha256.Size]byte]shownImage
}

// A shownImage is where an image is on the page.
type shownImage struct {
	id    string
	frame frameRef
}

// imageTypes lists the image types that are shown: those that browsers draw without
// loading anything else.
var imageTypes = map[string]string{
	"image/png": "image/png", "image/jpeg": "image/jpeg", "image/gif": "image/gif", "image/webp": "image/webp",
}

// image returns an image, or a note saying why it is not shown.
func (r *reader) image(mime, data string, frame frameRef) content {
	size := termtext.ByteSize(int64(len(data) / 4 * 3))
	kind, ok := imageTypes[mime]
	sum := sha256.Sum256([]byte(data))
	first, again := r.images.first[sum]
	switch {
	case !ok || strings.Trim(data, base64Alphabet) != "" || data == "":
		return note("%s, %s: not shown", cmp.Or(termtext.Brief(mime, 60), "image"), size)
	case again:
		return content{Kind: "again", ID: first.id, Text: "the image of frame " + first.frame.String() + " again"}
	case r.in.NoImages:
		return note("image of %s: left out; acptap show %s:%s has it", size, r.in.Ref, frame)
	case len(data) > r.limits.image || r.images.size+len(data) > r.limits.images:
		return note("image of %s: left out, as it is large; acptap show %s:%s has it", size, r.in.Ref, frame)
	}
	if r.images.first == nil {
		r.images.first = map[[sha256.Size]byte]shownImage{}
	}
	id := fmt.Sprintf("i-%d", len(r.images.first)+1)
	r.images.first[sum] = shownImage{id, frame}
	r.images.size += len(data)
	return content{Kind: "image", ID: id, Title: "image of frame " + frame.String(), Image: "data:" + kind + ";base64," + data}
}

const base64Alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/="
