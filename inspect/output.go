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
	a.notify(fmt.Sprintf("%s sent to the terminal's clipboard, %s bytes", what, termtext.Grouped(int64(len(text)))))
}

func (a *app) copyFrame() {
	f := a.pane.Frame
	switch {
	case f.Seq == 0:
		a.notify(noFrame)
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
		a.notify("this frame is no JSON")
		return
	}
	a.copy("path", []byte(v.Path))
}

// askWrite writes the frame to a file.
func (a *app) askWrite() {
	seq := a.model.current()
	if seq == 0 {
		a.notify(noFrame)
		return
	}
	a.askFile("write the frame to: ", a.frameFile(seq), func(path string) error {
		var size byteCount
		err := disk.WriteFile(path, func(w io.Writer) error { return a.timeline.Write(io.MultiWriter(w, &size), seq) })
		if err == nil {
			a.notify(termtext.ByteSize(int64(size)) + " written to " + termtext.Piece(path))
		}
		return err
	})
}

// noFrame is said where a key is about a frame and the list is empty.
const noFrame = "no frame is selected"

// byteCount counts bytes.
type byteCount int64

func (n *byteCount) Write(p []byte) (int, error) {
	*n += byteCount(len(p))
	return len(p), nil
}

// frameFile returns the name of a file for a frame, such as frame-2.17.json.
func (a *app) frameFile(seq uint64) string {
	return "frame-" + strings.ReplaceAll(a.timeline.Label(seq), ",", "") + ".json"
}

// view hands the frame to a program of the user: PAGER or EDITOR.
func (a *app) view(variable string) {
	seq := a.model.current()
	switch {
	case a.View == nil:
		a.notify("there is no terminal for another program")
		return
	case seq == 0:
		a.notify(noFrame)
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
		return errors.Join(a.timeline.Write(in, seq), in.Close())
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
	id := a.timeline.Parts[0].Tape.ID()
	odd := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' }
	if id == "" || strings.ContainsFunc(id, odd) { // a file may say anything of itself
		id = "tape"
	}
	return id + ".jsonl"
}

// exportTo exports in the background. If it fails, the name can be changed.
func (a *app) exportTo(path string) error {
	r, err := a.timeline.Reopen()
	if err != nil {
		return err
	}
	want, info := frameindex.NewMatcher(a.scan.Filter, a.model.start), a.info
	want.KnowOpen(a.snapshot.Open) // as on the screen, whatever comes meanwhile
	a.notify("exporting…")
	a.jobs.Go(func() {
		frames := 0
		var damage error
		err := disk.WriteFile(path, func(w io.Writer) (err error) {
			frames, damage, err = frameindex.Export(a.ctx, w, r, want, info)
			return err
		})
		done := fmt.Sprintf("%s frames written to %s, secrets redacted", termtext.Grouped(int64(frames)), termtext.Piece(path))
		a.updates.post(func() {
			switch {
			case err == nil && damage == nil:
				a.notify(done)
			case err == nil:
				a.fail(fmt.Errorf("%s, but a part cannot be read: %w", done, damage))
			case a.prompt == nil && a.timeline != nil:
				a.askExportTo(path)
				a.prompt.fault(err)
			default:
				a.fail(err)
			}
		})
	})
	return nil
}
