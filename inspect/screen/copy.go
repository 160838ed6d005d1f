package screen

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/termtext"
)

// maxCopy limits what is sent to the clipboard. Terminals silently drop anything larger
// (xterm, OSC 52).
const maxCopy = 64 << 10

// copy puts text on the terminal's clipboard (OSC 52). The terminal does not report
// whether that worked.
func (a *app) copy(what string, text []byte) {
	if len(text) > maxCopy {
		a.fail(a.tooLarge(int64(len(text))))
		return
	}
	a.screen.SetClipboard(text)
	a.notify(fmt.Sprintf("%s sent to the terminal's clipboard, %s bytes", what, termtext.Grouped(int64(len(text)))))
}

// tooLarge returns the error for text that is too large to copy, with advice.
func (a *app) tooLarge(bytes int64) error {
	what := "the frame"
	if a.page != nil {
		what = "it"
	}
	return fmt.Errorf("%s is too large for the clipboard; w writes %s to a file", termtext.ByteSize(bytes), what)
}

func (a *app) copyFrame() {
	f := a.pane.Frame
	switch {
	case f.Seq == 0:
		a.notify(noFrame)
		return
	case int64(len(f.Raw)) < f.Size:
		a.fail(a.tooLarge(f.Size))
		return
	}
	a.copy("frame", f.Raw)
}

func (a *app) copyValue() {
	v, ok := a.pane.Value()
	if !ok {
		a.copyFrame()
		return
	}
	a.copy("value", []byte(v.Text))
}

func (a *app) copyPath() {
	v, ok := a.pane.Value()
	if !ok {
		a.notify("this frame is no JSON")
		return
	}
	a.copy("path", []byte(v.Path))
}

// copyText copies text of the page.
func (a *app) copyText(what, text string) {
	if text == "" {
		a.sayNothing()
		return
	}
	a.copy(what, []byte(text))
}

// copyReference copies the reference to a frame, tape or session that commands accept.
func (a *app) copyReference() {
	ref := ""
	l := page.Line{Seq: a.model.current(), Item: -1}
	if a.page != nil {
		l = a.page.Current()
	}
	switch {
	case a.place == storePlace:
		e, _ := a.entry()
		ref = cmp.Or(e.session, e.tape.Tape)
	case a.place == searchPlace && l.Item >= 0:
		ref = a.search.reference(l.Item)
	case l.Seq != 0:
		ref = a.reference(l.Seq)
	}
	if ref == "" {
		a.notify("there is no frame on this line")
		return
	}
	a.copy("reference "+termtext.Piece(ref), []byte(ref))
}

// reference returns a reference to a frame: TAPE:FRAME, or FILE:FRAME if there is no
// store.
func (a *app) reference(seq uint64) string {
	at := a.timeline.PlaceOf(seq)
	tape := a.timeline.Part(at.Part).Info.Tape
	if a.Store == nil {
		tape = a.subject.Name
	}
	return fmt.Sprintf("%s:%d", tape, at.Seq)
}

// A text is the item under the cursor, in the form that is written to a file.
type text struct {
	what  string // frame or text
	file  string // suggested name
	write func(io.Writer) error
	view  func(io.Writer) error // writes it for viewing
}

// text returns the item under the cursor. ok is false if there is none.
func (a *app) text() (t text, ok bool) {
	if a.page != nil {
		block := a.page.BlockText()
		write := func(w io.Writer) error {
			_, err := io.WriteString(w, block+"\n")
			return err
		}
		return text{"text", placeNames[a.place] + ".txt", write, write}, block != ""
	}
	seq := a.model.current()
	return text{
		"frame", "frame-" + strings.ReplaceAll(a.timeline.Label(seq), ",", "") + ".json",
		func(w io.Writer) error { return a.timeline.Write(w, seq) },
		func(w io.Writer) error {
			in := &frametext.Indenter{W: w, Text: a.pane.Frame.Kind == wire.Invalid || a.pane.Frame.Kind == wire.Stderr}
			return errors.Join(a.timeline.Write(in, seq), in.Close())
		},
	}, seq != 0
}

// noFrame is the message for keys that need a frame when the list is empty.
const noFrame = "no frame is selected"

// sayNothing says that there is nothing under the cursor.
func (a *app) sayNothing() {
	if a.page == nil {
		a.notify(noFrame)
		return
	}
	a.notify("there is nothing on this line")
}

// askWrite writes the item under the cursor to a file.
func (a *app) askWrite() {
	t, ok := a.text()
	if !ok {
		a.sayNothing()
		return
	}
	a.askFile("write the "+t.what+" to: ", t.file, func(path string) error {
		var size byteCount
		err := disk.WriteFile(path, func(w io.Writer) error { return t.write(io.MultiWriter(w, &size)) })
		if err == nil {
			a.notify(termtext.ByteSize(int64(size)) + " written to " + termtext.Piece(path))
		}
		return err
	})
}

// byteCount counts bytes.
type byteCount int64

func (n *byteCount) Write(p []byte) (int, error) {
	*n += byteCount(len(p))
	return len(p), nil
}

// view opens the item under the cursor in the user's PAGER or EDITOR.
func (a *app) view(variable string) {
	t, ok := a.text()
	switch {
	case a.View == nil:
		a.notify("there is no terminal for another program")
		return
	case !ok:
		a.sayNothing()
		return
	}
	dir, err := os.MkdirTemp("", "acptap-")
	if err != nil {
		a.fail(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, t.file)
	if err := disk.WriteFile(path, t.view); err != nil {
		a.fail(err)
		return
	}
	a.ui.Suspend(func() { err = a.View(variable, path) })
	a.fail(err)
}
