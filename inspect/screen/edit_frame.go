package screen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

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

// editHeld lets the user edit the selected frame in $EDITOR, and then sends it. The editor
// starts with what the user typed earlier and did not send, if anything.
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

// sendEdited sends the edited text in place of a held frame. If the text may be a mistake, it
// asks first.
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

// confirmSend is confirm, except that Esc means no, because the user has typed something.
func (a *app) confirmSend(question string, yes, no func()) {
	a.confirm(question, yes, no)
	a.prompt.left = no
}

// keepTyped shows an error, and saves what the user typed in a file, because the frame no
// longer waits.
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

// changedParts names a changed part by which the receiver identifies the frame, or returns
// "".
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

// edit lets the user edit a text in $EDITOR. On error there is no text.
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

// indented returns JSON in an editable form, with a line end.
func indented(line []byte) []byte {
	var b bytes.Buffer
	in := &frametext.Indenter{W: &b, Text: !wire.IsJSON(line)}
	in.Write(line)
	in.Close()
	return b.Bytes()
}

// oneLine returns text as a frame's line.
func oneLine(text []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) == nil {
		return b.Bytes()
	}
	return bytes.TrimSpace(bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r"), nil), []byte("\n"), []byte(" ")))
}

// editValue asks for a new value for the one under the cursor, and sends the frame with it.
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
				return errors.New("this is not JSON; put double quotes around a text")
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
