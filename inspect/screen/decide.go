package screen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// heldHere returns the held frame that the user has selected. If that is another frame, it
// selects the oldest held one instead, and returns nil.
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

// letGo lets the selected frame go.
func (a *app) letGo() {
	if r := a.heldHere(); r != nil {
		a.command(func(c Control) error { return c.Release(r.ID, nil) }, nil)
	}
}

// letAllGo lets everything go, and ends the hold of this inspector.
func (a *app) letAllGo() {
	if !a.reaches() {
		return
	}
	h := a.holds
	a.command(func(c Control) error { return errors.Join(a.setHold(h, c, ""), c.ReleaseAll()) }, nil)
}

// dropHeld throws the selected frame away.
func (a *app) dropHeld() {
	if r := a.heldHere(); r != nil {
		a.command(func(c Control) error { return c.Drop(r.ID) }, nil)
	}
}

// withLine calls then with the bytes of a held frame.
func (a *app) withLine(r *heldRow, then func(line []byte)) {
	h := a.holds
	if r.seq != 0 {
		if f, err := a.rows.Frame(r.seq); err == nil && int64(len(f.Raw)) == f.Size && h.drafts[r.ID] == nil {
			then(f.Raw)
			return
		}
	}
	a.command(func(c Control) error {
		line, err := c.Frame(r.ID)
		if err == nil {
			a.updates.post(func() {
				if a.holds == h {
					then(line)
				}
			})
		}
		return err
	}, nil)
}

// editHeld lets the user change the selected frame in $EDITOR, and then lets it go. What
// was typed before, but not sent, is there again.
func (a *app) editHeld() {
	r := a.heldHere()
	if r == nil {
		return
	}
	if a.View == nil {
		a.notify("there is no terminal for another program; C changes a value")
		return
	}
	a.withLine(r, func(line []byte) {
		shown := indented(line)
		text := shown
		if draft := a.holds.drafts[r.ID]; draft != nil {
			text = draft
		}
		typed, err := a.edit(text)
		switch {
		case err != nil:
			a.fail(err)
			return
		case bytes.Equal(typed, shown):
			a.command(func(c Control) error { return c.Release(r.ID, nil) }, nil)
			return
		}
		a.sendEdited(r, line, typed)
	})
}

// sendEdited lets a held frame go as typed. If what was typed is not fit to be sent
// without a question, it asks first.
func (a *app) sendEdited(r *heldRow, before, typed []byte) {
	h := a.holds
	line := oneLine(typed)
	failed := func(err error) { a.keepTyped(err, typed) }
	send := func() { a.command(func(c Control) error { return c.Release(r.ID, line) }, failed) }
	no := func() {
		if a.holds != h || h == nil || h.frames[r.ID] == nil {
			failed(errors.New("the frame waits no longer"))
			return
		}
		h.drafts[r.ID] = typed
		a.notify("it still waits; c goes on with what you typed")
	}
	switch env := wire.Scan(line); {
	case !env.MessageKind().IsMessage() || !wire.IsJSON(line):
		a.confirmSend("this is not a JSON-RPC message. Send it broken?", send, no)
	default:
		if what := changedParts(wire.Scan(before), env); what != "" {
			a.confirmSend("this has another "+what+". Send it?", send, no)
			return
		}
		send()
	}
}

// confirmSend is confirm, but Esc means no: something was typed.
func (a *app) confirmSend(question string, yes, no func()) {
	a.confirm(question, yes, no)
	a.prompt.left = no
}

// keepTyped shows an error, and writes what was typed to a file, because nothing waits for
// it any longer.
func (a *app) keepTyped(err error, typed []byte) {
	f, failed := os.CreateTemp("", "acptap-*.json")
	if failed == nil {
		_, failed = f.Write(typed)
		failed = errors.Join(failed, f.Close())
	}
	if failed != nil {
		a.fail(errors.Join(err, failed))
		return
	}
	a.fail(fmt.Errorf("what you typed is in %s: %w", f.Name(), err))
}

// changedParts names what of a frame the receiver takes it by, and has changed.
func changedParts(before, after wire.Envelope) string {
	switch {
	case !bytes.Equal(before.ID, after.ID):
		return "id"
	case !bytes.Equal(before.Method, after.Method):
		return "method"
	case !bytes.Equal(wire.Get(before.Params, "sessionId"), wire.Get(after.Params, "sessionId")):
		return "session"
	}
	return ""
}

// edit lets the user change a text in $EDITOR. An error means that there is no text.
func (a *app) edit(text []byte) (typed []byte, err error) {
	dir, err := os.MkdirTemp("", "acptap-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "frame.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	if h := a.holds; h != nil {
		h.away.Store(true)
		defer h.away.Store(false)
	}
	a.ui.Suspend(func() { err = a.View("EDITOR", path) })
	typed, failed := os.ReadFile(path)
	if failed != nil {
		return nil, errors.New("the file is gone, so nothing is sent")
	}
	if err != nil && !bytes.Equal(typed, text) {
		a.keepTyped(err, typed)
		return nil, err
	}
	return typed, err
}

// indented returns JSON in a form to be read and changed, with a line end.
func indented(line []byte) []byte {
	var b bytes.Buffer
	in := &frametext.Indenter{W: &b, Text: !wire.IsJSON(line)}
	in.Write(line)
	in.Close()
	return b.Bytes()
}

// oneLine returns text as the line of a frame.
func oneLine(text []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) == nil {
		return b.Bytes()
	}
	return bytes.TrimSpace(bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r"), nil), []byte("\n"), []byte(" ")))
}

// editValue asks for another value under the cursor, and lets the frame go with it.
func (a *app) editValue() {
	r := a.heldHere()
	if r == nil {
		return
	}
	v, ok := a.pane.Value()
	if !ok || !a.inPane || r.seq != a.pane.Frame.Seq {
		a.notify("Tab goes to the frame; there C changes the value under the cursor")
		return
	}
	a.withLine(r, func(line []byte) {
		var keys []string
		for key, rest := "", v.Path; rest != "" && rest != "@this"; {
			key, rest = wire.CutKey(rest)
			keys = append(keys, key)
		}
		old := line
		if keys != nil {
			old = wire.Get(line, keys...)
		}
		a.ask(termtext.Piece(v.Path)+": ", string(oneLine(old)), func(text string) error {
			if !wire.IsJSON([]byte(text)) {
				return errors.New("this is not JSON; a text stands in double quotes")
			}
			typed := []byte(text)
			if keys != nil {
				typed = wire.Set(bytes.Clone(line), []byte(text), keys...)
			}
			a.prompt = nil
			a.sendEdited(r, line, typed)
			return nil
		})
	})
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

// An option is what the user can decide about a permission.
type option struct{ id, name string }

// permissionOptions returns the options of a request for a permission.
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

// askOption asks which option to choose: by its number or by its name.
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

// usualAnswer returns a result that fits: that of the last request of this method on the
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
