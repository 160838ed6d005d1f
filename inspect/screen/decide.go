package screen

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// heldHere returns the held frame that the user has selected. If the selected frame is not
// held, it selects the oldest held one and returns nil.
func (a *app) heldHere() *heldRow {
	if !a.reaches() {
		return nil
	}
	seq := a.model.current()
	if r := a.heldOn(seq); r != nil {
		return r
	}
	switch first := a.holds.oldest(); {
	case first == nil:
		a.notify("no frame is held; H holds those that match a filter")
	case first.seq == 0:
		a.notify("the held frame is not on the tape yet")
	default:
		a.jump(first.seq)
		a.notify("this is the oldest frame that waits")
	}
	return nil
}

// letGo releases the selected frame.
func (a *app) letGo() {
	if r := a.heldHere(); r != nil {
		a.command(func(c Control) error { return c.Release(r.ID, nil) }, nil)
	}
}

// letAllGo releases all frames, and ends the hold of this inspector.
func (a *app) letAllGo() {
	if !a.reaches() {
		return
	}
	h := a.holds
	a.command(func(c Control) error { return errors.Join(a.setHold(h, c, ""), c.ReleaseAll()) }, nil)
}

// dropHeld drops the selected frame.
func (a *app) dropHeld() {
	if r := a.heldHere(); r != nil {
		a.command(func(c Control) error { return c.Drop(r.ID) }, nil)
	}
}

// answerHeld asks for an answer to the selected request.
func (a *app) answerHeld() {
	r := a.heldHere()
	switch {
	case r == nil:
		return
	case r.Kind != wire.Request:
		a.notify("only a request can be answered")
		return
	}
	a.withLine(r, func(line []byte) {
		if options := permissionOptions(line); len(options) > 0 {
			a.askOption(r, options)
			return
		}
		a.ask("answer (JSON, or: error TEXT): ", a.usualAnswer(r), func(text string) error {
			var result, failure []byte
			if message, is := strings.CutPrefix(text, "error "); is {
				failure = fmt.Appendf(nil, `{"code":%d,"message":%s}`, wire.InternalError, wire.Quote(message))
			} else if result = []byte(text); !wire.IsJSON(result) {
				return errors.New("this is not JSON; error TEXT makes an error")
			}
			a.answer(r, result, failure, func(err error) { a.keepTyped(err, []byte(text)) })
			return nil
		})
	})
}

func (a *app) answer(r *heldRow, result, failure []byte, failed func(error)) {
	a.command(func(c Control) error { return c.Answer(r.ID, result, failure) }, failed)
}

// An option is a choice for a permission.
type option struct{ id, name string }

// permissionOptions returns the options of a permission request.
func permissionOptions(line []byte) (options []option) {
	if !dialect.Does(string(wire.Scan(line).Method), dialect.AsksPermission) {
		return nil
	}
	for _, o := range wire.Elements(wire.Get(line, "params", "options")) {
		id, name := wire.Text(wire.Get(o, "optionId")), wire.Text(wire.Get(o, "name"))
		if id == "" {
			continue
		}
		options = append(options, option{id, termtext.Piece(name)})
	}
	return options
}

// askOption asks which option to choose, by its number or its name.
func (a *app) askOption(r *heldRow, options []option) {
	options = append(options, option{"", "cancelled"})
	label := "answer"
	for i, o := range options {
		label += fmt.Sprintf(" %d %s ·", i+1, o.name)
	}
	label = strings.TrimSuffix(label, " ·") + ": "
	if _, _, width, _ := a.GetRect(); termtext.Width(label)+12 > width {
		label = fmt.Sprintf("answer, 1 to %d or a name: ", len(options))
	}
	a.ask(label, "", func(text string) error {
		text = strings.TrimSpace(text)
		n, err := strconv.Atoi(text)
		for i, o := range options {
			if err == nil && n == i+1 || text != "" && (text == o.id || strings.EqualFold(text, o.name)) {
				outcome := `{"outcome":{"outcome":"cancelled"}}`
				if o.id != "" {
					outcome = fmt.Sprintf(`{"outcome":{"outcome":"selected","optionId":%s}}`, wire.Quote(o.id))
				}
				a.answer(r, []byte(outcome), nil, nil)
				return nil
			}
		}
		return errors.New("this is none of the options")
	})
	a.prompt.complete = func(text string) (list []filter.Candidate) {
		for i, o := range options {
			if n := strconv.Itoa(i + 1); text == "" || strings.HasPrefix(strings.ToLower(o.name), strings.ToLower(text)) || text == n {
				list = append(list, filter.Candidate{Text: o.name})
			}
		}
		return list
	}
}

// usualAnswer returns a suitable result: that of the last request with this method on the
// tape, or an empty one.
func (a *app) usualAnswer(r *heldRow) string {
	var f dialect.Frame
	if r.seq == 0 || !a.snapshot.Frame(r.seq, &f) {
		return "{}"
	}
	left := nearby
	found := a.snapshot.Seek(r.seq, frameindex.Backward, func(g *dialect.Frame) bool {
		left--
		return left < 0 || g.Kind == wire.Response && g.Method == f.Method && g.Dir != f.Dir
	})
	if found == 0 || left < 0 {
		return "{}"
	}
	g, err := a.rows.Frame(found)
	if result := wire.Get(g.Raw, "result"); err == nil && len(result) > 0 && len(result) < maxUsual {
		return string(oneLine(result))
	}
	return "{}"
}

// maxUsual limits the answers that are proposed.
const maxUsual = 4 << 10
