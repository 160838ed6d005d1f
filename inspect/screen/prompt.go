package screen

import (
	"errors"
	"os"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/record/termtext"
)

// A prompt asks for a line of text on the status line.
type prompt struct {
	field *tview.InputField
	wrong string // error to show; empty: none
	at    int    // column of the error; -1: none

	left  func()        // called on Esc, if not nil
	count func() string // returns the number of matches; nil: this is not a search

	complete func(text string) []filter.Candidate // returns completions; nil: there are none
	past     []string                             // earlier lines, latest last
	line     int                                  // index of the line shown in past; len(past): none
	draft    string                               // what the user had typed before recalling lines
}

// key handles the prompt's own keys, and reports whether the key is one of them.
func (p *prompt) key(e *tcell.EventKey) bool {
	switch e.Key() {
	case tcell.KeyTab:
		if list := p.proposals(); len(list) > 0 {
			text := p.field.GetText()
			p.field.SetText(text[:list[0].From] + list[0].Text)
		}
		return true
	case tcell.KeyUp:
		p.recall(-1)
		return true
	case tcell.KeyDown:
		p.recall(1)
		return true
	}
	p.wrong = ""
	return false
}

// recall shows an earlier or a later line.
func (p *prompt) recall(step int) {
	if p.line == len(p.past) {
		p.draft = p.field.GetText()
	}
	switch p.line = min(max(p.line+step, 0), len(p.past)); {
	case p.line < len(p.past):
		p.field.SetText(p.past[p.line])
	default:
		p.field.SetText(p.draft)
	}
}

// proposals returns completions for the line.
func (p *prompt) proposals() []filter.Candidate {
	if p.complete == nil {
		return nil
	}
	text := p.field.GetText()
	list := p.complete(text)
	if len(list) > 0 && text[list[0].From:] == list[0].Text {
		return list[1:]
	}
	return list
}

// ask asks for a line and calls done with it, unless the user cancels. If done returns an
// error, the prompt shows it and the user can correct the line.
func (a *app) ask(label, text string, done func(string) error) {
	p := &prompt{}
	field := tview.NewInputField().SetLabel(label).SetText(text).
		SetLabelStyle(a.look[termtext.Bold]).SetFieldStyle(a.look[termtext.Plain])
	field.SetBackgroundColor(tcell.ColorDefault)
	field.SetDoneFunc(func(k tcell.Key) {
		switch k {
		case tcell.KeyEscape:
			if a.prompt = nil; p.left != nil {
				p.left()
			}
		case tcell.KeyEnter:
			a.message, p.wrong = "", ""
			if err := done(field.GetText()); err != nil {
				p.fault(err)
			} else if a.prompt == p { // done may have opened another prompt
				a.prompt = nil
			}
		}
	})
	field.Focus(nil)
	p.field = field
	a.prompt = p
}

// fault shows an error, and its position if err has one.
func (p *prompt) fault(err error) {
	p.wrong, p.at = err.Error(), -1
	var wrong *filter.SyntaxError
	if errors.As(err, &wrong) {
		p.at = termtext.Width(p.field.GetLabel()) + termtext.Width(termtext.Line(wrong.Query[:wrong.Pos]))
	}
}

// hints returns the keys that a newcomer needs.
func (p *prompt) hints() []hint {
	hints := []hint{{"Enter", "done"}, {"Esc", "cancel"}}
	if len(p.past) > 0 {
		hints = append(hints, hint{"Up", "the line before"})
	}
	return hints
}

// propose lists completions, or points at an error.
func (p *prompt) propose(c canvas) {
	if p.wrong != "" {
		if p.at >= 0 {
			c.text(min(p.at, c.w-1), 0, termtext.Failure, "^")
		}
		return
	}
	list := p.proposals()
	if len(list) == 0 {
		c.hints(p.hints())
		return
	}
	x := c.text(1, 0, termtext.Bold, "Tab ")
	for _, candidate := range list {
		x = c.text(x, 0, termtext.Bold, termtext.Piece(candidate.Text)+" ")
		if candidate.Means != "" && len(list) == 1 {
			x = c.text(x, 0, termtext.Dim, candidate.Means+" ")
		}
		x++
	}
}

// askFile asks for a file name. If the file exists, it asks whether to replace it; if the
// user declines, it asks for the name again.
func (a *app) askFile(label, name string, write func(path string) error) {
	a.ask(label, name, func(path string) error {
		if fi, err := os.Stat(path); err != nil || !fi.Mode().IsRegular() {
			return write(path)
		}
		a.confirm(termtext.Piece(path)+" is there already. Replace it?", func() {
			if err := write(path); err != nil {
				a.askFile(label, path, write)
				a.prompt.fault(err)
			}
		}, func() { a.askFile(label, path, write) })
		return nil
	})
}

// confirm asks a question. Only the full word yes counts as consent.
func (a *app) confirm(question string, yes, no func()) {
	a.ask(question+" yes or no: ", "", func(answer string) error {
		switch answer {
		case "yes":
			yes()
		case "no", "":
			no()
		default:
			return errors.New("yes or no")
		}
		return nil
	})
}
