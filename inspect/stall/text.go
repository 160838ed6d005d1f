package stall

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// Brief says in a few words how long something has been hanging, such as `silent 34 s`.
func (s *Stall) Brief(now time.Duration) string {
	return kinds[s.Kind].brief + " " + lasts(max(now-s.Since, 0))
}

// begun returns the text for what begins to hang, as described by what.
func begun(s *Stall, lasted time.Duration, what string) string {
	what += inFrame(s.Frame)
	if s.Kind == Gone {
		return "gone: " + what
	}
	return kinds[s.Kind].now + " " + lasts(lasted) + ": " + what
}

// over sets the texts for what no longer hangs, as described by what. by is what ended
// it.
func (c *Change) over(what, by string) {
	c.Text = "over: "
	if c.Goes {
		c.Text = "goes on: "
	}
	lasted := kinds[c.Kind].then + " " + lasts(c.At-c.Since)
	by = "then " + by + inFrame(c.By)
	c.Text += lasted + ", " + by
	if c.Kind == Gone {
		lasted = "gone"
	}
	c.Was = lasted + ": " + what + "; " + by
}

// A said is what is kept of a frame's content.
type said struct {
	name   string // method or variant
	answer bool
	tool   *trace.ToolCall // the tool call that it concerns; nil: none
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

// frameWords describes a frame in words.
func frameWords(f *dialect.Frame) string {
	switch f.Kind {
	case wire.Mark, wire.Stderr:
		return frametext.Summary(*f, filter.Tool{})
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

// quoted returns a name or a title from the wire in quotes, or nothing if it is empty.
func quoted(s string) string {
	if s = termtext.Brief(s, 60); s != "" {
		return ` "` + s + `"`
	}
	return ""
}
