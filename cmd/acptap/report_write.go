package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/termtext"
)

// A pageWriter writes the page of one or two subjects, once or repeatedly.
type pageWriter struct {
	*reporting
	subjects       []ref.Subject
	names          []string // of the subjects, for commands on the page
	path           string   // - is stdout
	stdout, stderr io.Writer

	// Left by the last write:
	tapes  *reading.Reader // of the last subject, as they were
	broken []error         // parts that cannot be read
	took   time.Duration
}

// write writes the page. reload is the time until the next write, or 0 if there will be
// none.
func (w *pageWriter) write(ctx context.Context, reload time.Duration) error {
	began := time.Now()
	bar := cli.NewProgress(w.stderr, "reading")
	defer bar.End()
	var runs []report.Input
	for i, sub := range w.subjects {
		in, tapes, err := w.input(ctx, sub, w.names[i], bar)
		if err != nil {
			return err
		}
		w.tapes = tapes
		runs = append(runs, in)
	}
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
			return context.Cause(ctx) // the page is incomplete
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

// live reports whether any tape was still being recorded at the last write.
func (w *pageWriter) live() bool {
	return slices.ContainsFunc(w.tapes.Parts, func(p *reading.Part) bool { return p.Info.Live })
}

// shortestReload is the minimum time between two writes of a followed page.
const shortestReload = 2 * time.Second

// pause returns how long to wait before the next write of a page, given how long the last
// one took. Following a page costs at most a twentieth of a processor.
func pause(took time.Duration) time.Duration { return max(shortestReload, 20*took) }

// first writes the page for the first time, prints its path, and opens it if --open is set.
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

// follow rewrites the page whenever more has been recorded, until the tapes have ended or
// ctx is done. It leaves the last version in place.
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

// wait blocks until pause has passed and there is something new, all tapes have ended, or
// ctx is done.
func (w *pageWriter) wait(ctx context.Context, pause time.Duration) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var news atomic.Bool
	began := time.Now()
	defer time.AfterFunc(pause, func() {
		if news.Load() {
			stop()
		}
	}).Stop()
	known := len(w.tapes.Parts)
	for _, p := range w.tapes.Parts {
		p.From = p.Info.Lines + 1
	}
	w.tapes.Follow, w.tapes.Fields = true, true
	for e := range w.tapes.Read(ctx) {
		if e.Kind == reading.Read || e.Kind == reading.Begins && e.Part.Index >= known || e.Kind == reading.Ends && e.Part.Info.Live {
			if news.Store(true); time.Since(began) >= pause {
				return
			}
		}
	}
}

// openPage opens a file with the system's default program.
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
