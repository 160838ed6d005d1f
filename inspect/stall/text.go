package stall

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// phrases describe what lasts, while it does and when it is over.
var phrases = [...]struct{ now, then string }{
	Silent: {"silent for", "silent for"},
	Tool:   {"tool silent for", "tool silent for"},
	Asked:  {"waits for you for", "waited for you for"},
	Client: {"no answer by the client for", "no answer by the client for"},
	Setup:  {"set-up silent for", "set-up silent for"},
	Hung:   {"no answer for", "no answer for"},
	Cancel: {"cancel not confirmed for", "cancel not confirmed for"},
	Gone:   {"gone for", "gone for"},
}

// Brief says in a few words how long something has been hanging, such as `silent 34 s`.
func (s *Stall) Brief(now time.Duration) string {
	what := s.Kind.String()
	switch s.Kind {
	case Asked:
		what = "asks you"
	case Hung:
		what = "no answer"
	}
	return what + " " + lasts(max(now-s.Since, 0))
}

// begun returns the text for what begins to hang, described by what.
func begun(s *Stall, lasted time.Duration, what string) string {
	what += inFrame(s.Frame)
	if s.Kind == Gone {
		return "gone: " + what
	}
	return phrases[s.Kind].now + " " + lasts(lasted) + ": " + what
}

// over sets the texts for what no longer hangs, described by what. by is what ended it.
func (c *Change) over(what, by string) {
	c.Text = "over: "
	if c.Goes {
		c.Text = "goes on: "
	}
	lasted := phrases[c.Kind].then + " " + lasts(c.At-c.Since)
	by = "then " + by + inFrame(c.By)
	c.Text += lasted + ", " + by
	if c.Kind == Gone {
		lasted = "gone"
	}
	c.Was = lasted + ": " + what + "; " + by
}

// A said is what is kept of the content of a frame.
type said struct {
	name   string // method or variant
	answer bool
	tool   *trace.ToolCall // the tool call that it is about; nil: none
}

func (s said) String() string {
	switch {
	case s.name == "":
		return ""
	case s.answer:
		return "the answer to " + termtext.Piece(s.name)
	case s.tool != nil:
		return termtext.Piece(s.name) + quoted(cmp.Or(s.tool.Title, s.tool.ID))
	}
	return termtext.Piece(s.name)
}

// frameWords says in words what a frame is.
func frameWords(f *dialect.Frame) string {
	switch f.Kind {
	case wire.Mark, wire.Stderr:
		return frametext.Summary(*f)
	case wire.Batch:
		return "a batch"
	case wire.Request, wire.Notification:
		return cmp.Or(termtext.Piece(frametext.Name(f)), "a message")
	}
	if f.Request != 0 && f.Method != "" {
		return "the answer to " + termtext.Piece(f.Method)
	}
	return "a message"
}

// lasts formats a duration, in whole seconds from one second on.
func lasts(d time.Duration) string {
	switch {
	case d < time.Second:
		return termtext.Duration(d)
	case d < time.Minute:
		return strconv.FormatInt(int64(d/time.Second), 10) + " s"
	}
	return termtext.Duration(d.Truncate(time.Second))
}

// described joins a turn, unless it is 0, and details with commas.
func described(turn int, details []string) string {
	if turn != 0 {
		details = slices.Concat([]string{inTurn(turn)}, details)
	}
	return strings.Join(details, ", ")
}

func inFrame(seq uint64) string {
	if seq == 0 {
		return ""
	}
	return fmt.Sprintf(" (frame %d)", seq)
}

func inTurn(number int) string { return "turn " + strconv.Itoa(number) }

// quoted returns a name or a title from the wire in quotes, nothing for an empty one.
func quoted(s string) string {
	if s = termtext.Brief(s, 60); s != "" {
		return ` "` + s + `"`
	}
	return ""
}
