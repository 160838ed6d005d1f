package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/termtext"
)

// A pageWriter writes the page of a subject, once or again and again, or that of two.
type pageWriter struct {
	*reporting
	subjects       []ref.Subject
	names          []string // of the subjects in commands
	path           string   // - is stdout
	stdout, stderr io.Writer

	// As the page was written last:
	tapes  map[string]lastRead
	broken []error // parts that cannot be read
	took   time.Duration
}

// lastRead is how far a tape has come.
type lastRead struct {
	lines uint64
	live  bool
}

// write writes the page. reload is how long it will be until it is written again; 0: it
// will not.
func (w *pageWriter) write(ctx context.Context, reload time.Duration) error {
	began := time.Now()
	bar := cli.NewProgress(w.stderr, "reading")
	defer bar.End()
	var runs []report.Input
	for i, sub := range w.subjects {
		in, err := w.input(ctx, sub, w.names[i], bar)
		if err != nil {
			return err
		}
		runs = append(runs, in)
	}
	w.note(runs)
	if w.live() {
		runs[0].Reload = reload
	}
	write := func(out io.Writer) (err error) {
		if len(runs) == 2 {
			w.broken, err = report.WriteDiff(out, runs[0], runs[1])
		} else {
			w.broken, err = report.Write(out, runs[0])
		}
		if ctx.Err() != nil {
			return context.Cause(ctx) // not all was read
		}
		return err
	}
	if w.path == "-" {
		return write(w.stdout)
	}
	err := disk.WriteFile(w.path, write)
	w.took = time.Since(began)
	return err
}

// note notes how far the tapes have come.
func (w *pageWriter) note(runs []report.Input) {
	w.tapes = map[string]lastRead{}
	for _, in := range runs {
		for _, t := range slices.Concat(in.Tapes, in.Servers) {
			w.tapes[t.Info.Tape] = lastRead{t.Info.Lines, t.Info.Live}
		}
	}
}

// live reports whether some of the tapes was being recorded.
func (w *pageWriter) live() bool {
	for _, t := range w.tapes {
		if t.live {
			return true
		}
	}
	return false
}

// shortestReload is how long a page stays as it is at least, while it is followed.
const shortestReload = 2 * time.Second

// pause returns how long a page stays that has taken so long: one that follows costs a
// twentieth of a processor at most.
func pause(took time.Duration) time.Duration { return max(shortestReload, 20*took) }

// first writes the page for the first time, says where it is, and opens it if that is
// asked for.
func (w *pageWriter) first(ctx context.Context) error {
	reload := time.Duration(0)
	if w.reporting.follow {
		reload = shortestReload
	}
	if err := w.write(ctx, reload); err != nil || w.path == "-" {
		return err
	}
	if cli.IsTerminal(w.stderr) || w.open {
		size := int64(0)
		if fi, err := os.Stat(w.path); err == nil {
			size = fi.Size()
		}
		if _, err := fmt.Fprintf(w.stderr, "%s  %s\n", termtext.Line(w.path), termtext.ByteSize(size)); err != nil {
			return err
		}
	}
	if w.open {
		if err := openPage(ctx, w.path); err != nil {
			cli.Warn(w.stderr, "%v; open %s yourself", err, w.path)
		}
	}
	if w.reporting.follow && !w.live() {
		cli.Warn(w.stderr, "%s is not being recorded, so the page stays as it is", w.names[0])
	}
	return nil
}

// follow writes the page whenever more was recorded, until the tapes have ended or ctx is
// done. The page as it is written last stays.
func (w *pageWriter) follow(ctx context.Context) error {
	for w.live() {
		reload := pause(w.took)
		w.wait(ctx, reload)
		err := w.write(ctx, reload)
		if ctx.Err() != nil {
			return w.write(context.WithoutCancel(ctx), 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// wait returns when that much time has passed and there is more to tell, or when all tapes
// have ended, or ctx is done.
func (w *pageWriter) wait(ctx context.Context, pause time.Duration) {
	began, news := time.Now(), false
	for c, err := range w.subjects[0].Store.Watch(ctx, w.rest) {
		switch was := w.tapes[c.Tape]; {
		case err != nil, c.Kind == record.FrameRecorded:
			news = true
		case c.Kind == record.TapeAppeared:
			news = news || c.Live && w.isServer(c.Tape)
		case was.live && (c.Kind == record.TapeEnded || c.Kind == record.TapeDeleted):
			news, w.tapes[c.Tape] = true, lastRead{lines: was.lines}
			if !w.live() {
				return
			}
		case c.Kind == record.StoreLooked && news && time.Since(began) >= pause:
			return
		}
	}
}

// rest says from where on the frames of a tape are news.
func (w *pageWriter) rest(tape string, _ bool) (from uint64, ok bool) {
	t := w.tapes[tape]
	return t.lines + 1, t.live
}

// isServer reports whether a tape is that of a server that the page does not have yet.
func (w *pageWriter) isServer(tape string) bool {
	if _, known := w.tapes[tape]; known {
		return false
	}
	t, err := w.subjects[0].Store.Open(tape)
	if err != nil {
		return false
	}
	start, err := t.Start()
	_, known := w.tapes[start.Parent.Tape]
	return err == nil && known
}

// openPage shows a file with the program of the system.
func openPage(ctx context.Context, path string) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	if err := exec.CommandContext(ctx, command[0], append(command[1:], path)...).Run(); err != nil {
		return fmt.Errorf("%s: %w", command[0], err)
	}
	return nil
}
