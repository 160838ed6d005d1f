package inspect

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/acptap/acptap/inspect/frameindex"
	"github.com/acptap/acptap/inspect/frametext"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/termtext"
)

// maxCopy is how much is sent to the clipboard: terminals drop what is larger
// (xterm, OSC 52), and do not say so.
const maxCopy = 64 << 10

// copy puts text into the clipboard of the terminal (OSC 52), which never says
// whether it took it.
func (a *app) copy(what string, text []byte) {
	if len(text) > maxCopy {
		a.fail(fmt.Errorf("%s is too large for the clipboard; w writes the frame to a file", termtext.ByteSize(int64(len(text)))))
		return
	}
	a.screen.SetClipboard(text)
	a.say(fmt.Sprintf("%s sent to the terminal's clipboard, %s bytes", what, termtext.Grouped(int64(len(text)))))
}

func (a *app) copyFrame() {
	f := a.pane.Frame
	switch {
	case f.Seq == 0:
		a.say(noFrame)
		return
	case int64(len(f.Raw)) < f.Size:
		a.fail(fmt.Errorf("%s is too large for the clipboard; w writes the frame to a file", termtext.ByteSize(f.Size)))
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
		a.say("this frame is no JSON")
		return
	}
	a.copy("path", []byte(v.Path))
}

// askWrite writes the frame to a file.
func (a *app) askWrite() {
	seq := a.model.current()
	if seq == 0 {
		a.say(noFrame)
		return
	}
	a.askFile("write the frame to: ", a.frameFile(seq), func(path string) error {
		var size written
		err := disk.WriteFile(path, func(w io.Writer) error { return a.reel.Write(io.MultiWriter(w, &size), seq) })
		if err == nil {
			a.say(termtext.ByteSize(int64(size)) + " written to " + termtext.Piece(path))
		}
		return err
	})
}

// noFrame is said where a key is about a frame and the list is empty.
const noFrame = "no frame is selected"

// written counts bytes.
type written int64

func (n *written) Write(p []byte) (int, error) {
	*n += written(len(p))
	return len(p), nil
}

// askFile asks for the name of a file and then, if that is there, whether it is to
// be replaced: if not, the name can be changed.
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

// confirm asks a question, and takes nothing but yes for a yes.
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

// frameFile returns the name of a file for a frame, such as frame-2.17.json.
func (a *app) frameFile(seq uint64) string {
	return "frame-" + strings.ReplaceAll(a.reel.Label(seq), ",", "") + ".json"
}

// view hands the frame to a program of the user: PAGER or EDITOR.
func (a *app) view(variable string) {
	seq := a.model.current()
	switch {
	case a.View == nil:
		a.say("there is no terminal for another program")
		return
	case seq == 0:
		a.say(noFrame)
		return
	}
	dir, err := os.MkdirTemp("", "acptap-")
	if err != nil {
		a.fail(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, a.frameFile(seq))
	err = disk.WriteFile(path, func(w io.Writer) error {
		in := &frametext.Indenter{W: w, Text: a.pane.Frame.Kind == wire.Invalid || a.pane.Frame.Kind == wire.Stderr}
		return errors.Join(a.reel.Write(in, seq), in.Close())
	})
	if err != nil {
		a.fail(err)
		return
	}
	a.ui.Suspend(func() { err = a.View(variable, path) })
	a.fail(err)
}

// askExport writes the frames that are shown to a file in the portable form.
func (a *app) askExport() { a.askExportTo(a.tapeFile()) }

func (a *app) askExportTo(name string) {
	a.askFile("export what the filter shows to: ", name, a.exportTo)
}

// tapeFile returns the name of a file for the tape. What peers call a session may
// be a path, so that is no name for a file.
func (a *app) tapeFile() string {
	id := a.reel.Parts[0].Tape.ID()
	odd := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' }
	if id == "" || strings.ContainsFunc(id, odd) { // a file may say anything of itself
		id = "tape"
	}
	return id + ".jsonl"
}

// exportTo exports in the background. If it fails, the name can be changed.
func (a *app) exportTo(path string) error {
	r, err := a.reel.Reopen()
	if err != nil {
		return err
	}
	want, info := frameindex.NewMatcher(a.scan.Filter, a.model.start), a.info
	want.KnowOpen(a.known.Open) // as on the screen, whatever comes meanwhile
	a.say("exporting…")
	a.jobs.Go(func() {
		frames := 0
		var damage error
		err := disk.WriteFile(path, func(w io.Writer) (err error) {
			frames, damage, err = frameindex.Export(a.ctx, w, r, want, info)
			return err
		})
		done := fmt.Sprintf("%s frames written to %s, secrets redacted", termtext.Grouped(int64(frames)), termtext.Piece(path))
		a.feed.put(func() {
			switch {
			case err == nil && damage == nil:
				a.say(done)
			case err == nil:
				a.fail(fmt.Errorf("%s, but a part cannot be read: %w", done, damage))
			case a.prompt == nil && a.reel != nil:
				a.askExportTo(path)
				a.prompt.fault(err)
			default:
				a.fail(err)
			}
		})
	})
	return nil
}

// askDelete deletes the tape under the cursor, if the user says so.
func (a *app) askDelete() {
	l := a.page.Current()
	if l.Item < 0 {
		return
	}
	tape := a.shelf.entries[l.Item].tape.Tape
	a.confirm("delete tape "+tape+" and all that is on it?", func() {
		closed := func() {}
		if a.reel != nil && a.reel.Has(tape) {
			closed = a.closeTape()
		}
		a.jobs.Go(func() {
			closed()
			_, err := a.Store.Delete(tape)
			a.feed.put(func() {
				a.say("deleted " + tape)
				a.fail(err)
			})
		})
	}, func() {})
}
