package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace/ansi"
)

// maxCopy is how much is sent to the clipboard: terminals drop what is larger
// (xterm, OSC 52), and do not say so.
const maxCopy = 64 << 10

// copy puts text into the clipboard of the terminal (OSC 52), which never says
// whether it took it.
func (a *app) copy(what string, text []byte) {
	if len(text) > maxCopy {
		a.fail(fmt.Errorf("%s is too large for the clipboard; w writes the frame to a file", ansi.ByteSize(int64(len(text)))))
		return
	}
	a.screen.SetClipboard(text)
	a.say(fmt.Sprintf("%s sent to the terminal's clipboard, %s bytes", what, ansi.Grouped(int64(len(text)))))
}

func (a *app) copyFrame() {
	if f := a.pane.frame; int64(len(f.Raw)) < f.Size {
		a.fail(fmt.Errorf("%s is too large for the clipboard; w writes the frame to a file", ansi.ByteSize(f.Size)))
		return
	}
	a.copy("frame", a.pane.frame.Raw)
}

func (a *app) copyValue() {
	if a.pane.tree == nil {
		a.copyFrame()
		return
	}
	a.copy("value", []byte(a.pane.tree.text(a.pane.node())))
}

func (a *app) copyPath() {
	if a.pane.tree == nil {
		a.say("this frame is no JSON")
		return
	}
	a.copy("path", []byte(a.pane.tree.path(a.pane.node())))
}

// askWrite writes the frame to a new file.
func (a *app) askWrite() {
	seq := a.model.selected
	if seq == 0 {
		return
	}
	a.ask("write the frame to: ", a.frameFile(seq), func(path string) error {
		return newFile(path, func(f *os.File) error { return a.reel.write(f, seq) }, func(size int64) {
			a.say(ansi.ByteSize(size) + " written to " + piece(path))
		})
	})
}

// frameFile returns the name of a file for a frame, such as frame-2.17.json.
func (a *app) frameFile(seq uint64) string {
	return "frame-" + strings.ReplaceAll(a.reel.label(seq), ",", "") + ".json"
}

// newFile makes a file that only the user can read.
func newFile(path string, write func(*os.File) error, done func(size int64)) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = write(f)
	size, serr := f.Seek(0, io.SeekCurrent)
	if err = errors.Join(err, serr, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	done(size)
	return nil
}

// view hands the frame to a program of the user: PAGER or EDITOR.
func (a *app) view(variable string) {
	if a.View == nil || a.model.selected == 0 {
		a.say("there is no terminal for another program")
		return
	}
	dir, err := os.MkdirTemp("", "acptap-")
	if err != nil {
		a.fail(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, a.frameFile(a.model.selected))
	err = newFile(path, func(f *os.File) error {
		in := &Indenter{W: f, Text: a.pane.frame.Kind == wire.Junk || a.pane.frame.Kind == wire.Stderr}
		return errors.Join(a.reel.write(in, a.model.selected), in.Close())
	}, func(int64) {})
	if err != nil {
		a.fail(err)
		return
	}
	a.ui.Suspend(func() { err = a.View(variable, path) })
	a.fail(err)
}

// askExport writes the frames that are shown to a file in the portable form.
func (a *app) askExport() {
	a.ask("export what the filter shows to: ", cmp.Or(a.subject.Session, a.subject.Name)+".jsonl", func(path string) error {
		r, err := a.reel.again()
		if err != nil {
			return err
		}
		want, info := newSieve(a.scan.filter, a.model.start), a.info
		want.open = a.known.open
		a.say("exporting…")
		a.jobs.Go(func() {
			frames := 0
			err := newFile(path, func(f *os.File) (err error) {
				frames, err = export(a.ctx, f, r, want, info)
				return err
			}, func(int64) {})
			a.feed.put(func() {
				a.say(fmt.Sprintf("%s frames written to %s, secrets redacted", ansi.Grouped(int64(frames)), piece(path)))
				a.fail(err)
			})
		})
		return nil
	})
}

// export writes the frames that are wanted in the portable form.
func export(ctx context.Context, w io.Writer, r *reel, pass sieve, info record.Info) (frames int, err error) {
	e, err := record.NewExporter(w, info, false)
	if err != nil {
		return 0, err
	}
	var damage error
	for frame, err := range r.frames(1) {
		if ctx.Err() != nil {
			return frames, ctx.Err()
		}
		if err != nil {
			damage = err
			continue
		}
		if !pass.wants(r.at(frame.Seq), &frame) {
			continue
		}
		frames++
		if err := e.Write(r.alone(frame)); err != nil {
			return frames, err
		}
	}
	return frames, errors.Join(e.Close(), damage)
}

// askDelete deletes the tape under the cursor, if the user says so.
func (a *app) askDelete() {
	l := a.page.current()
	if l.item < 0 {
		return
	}
	tape := a.shelf.entries[l.item].tape.Tape
	a.ask("delete tape "+tape+" and all that is on it? yes or no: ", "", func(answer string) error {
		switch answer {
		case "yes":
		case "no", "":
			return nil
		default:
			return errors.New("yes or no")
		}
		if a.reel != nil && a.reel.has(tape) {
			a.closeTape()
		}
		a.jobs.Go(func() {
			_, err := a.Store.Delete(tape)
			a.feed.put(func() {
				a.say("deleted " + tape)
				a.fail(err)
			})
		})
		return nil
	})
}
