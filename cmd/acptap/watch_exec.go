package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/stall"
	"github.com/acptap/acptap/record/termtext"
)

// A stallHook runs the user's command once for each new stall, one at a time, without
// delaying the watcher. The command receives data from the wire only through environment
// variables, never through the command line.
type stallHook struct {
	command string
	env     []string
	trouble func(error)
	limit   time.Duration // for one run of the command

	cancel context.CancelFunc
	queue  chan []string // environments of the queued runs
	done   chan struct{} // closed when the last run has ended
	full   bool          // the user knows that runs are dropped
}

const (
	// maxRun limits how long the command may run.
	maxRun = 10 * time.Second

	// maxQueued limits the queued runs. Further ones are dropped.
	maxQueued = 64

	// maxComplaint limits the bytes kept of the command's stderr.
	maxComplaint = 1 << 10
)

// newStallHook starts a hook for command, adding env to its environment. It reports
// failed runs to trouble, from any goroutine. The caller must call Close.
func newStallHook(ctx context.Context, command string, env []string, trouble func(error)) *stallHook {
	ctx, cancel := context.WithCancel(ctx)
	x := &stallHook{command: command, env: env, trouble: trouble, limit: maxRun, cancel: cancel, queue: make(chan []string, maxQueued), done: make(chan struct{})}
	go func() {
		defer close(x.done)
		for env := range x.queue {
			if err := x.run(ctx, env); err != nil && ctx.Err() == nil {
				trouble(fmt.Errorf("--exec: %w", err))
			}
		}
	}()
	return x
}

// Run queues a run for a stall. It does not wait.
func (x *stallHook) Run(tape string, c *stall.Change) {
	env := []string{
		"ACPTAP_KIND=" + c.Kind.String(),
		"ACPTAP_TAPE=" + tape,
		"ACPTAP_SESSION=" + termtext.Line(c.Session),
		"ACPTAP_FRAME=" + strconv.FormatUint(c.Frame, 10),
		"ACPTAP_TEXT=" + c.Text,
	}
	select {
	case x.queue <- env:
	default:
		if !x.full {
			x.full = true
			x.trouble(fmt.Errorf("--exec: %d commands wait, as each may take %v: others are left out", maxQueued, x.limit))
		}
	}
}

// Close waits for the queued runs, but no longer than one run may take.
func (x *stallHook) Close() {
	close(x.queue)
	select {
	case <-x.done:
	case <-time.After(x.limit):
	}
	x.cancel()
	<-x.done
}

func (x *stallHook) run(ctx context.Context, env []string) error {
	ctx, cancel := context.WithTimeout(ctx, x.limit)
	defer cancel()
	shell := shell()
	cmd := exec.CommandContext(ctx, shell[0], append(shell[1:], x.command)...)
	cmd.Env = append(append(os.Environ(), x.env...), env...)
	isolate(cmd)
	var said complaint
	cmd.Stderr = &said
	cmd.WaitDelay = time.Second // children of the command may keep stderr open
	err := cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("killed after %v", x.limit)
	case errors.Is(err, exec.ErrWaitDelay):
		return nil
	case err != nil:
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		return fmt.Errorf("%w: %s", err, termtext.Piece(line))
	}
	return nil
}

// A complaint keeps the first maxComplaint bytes written to it.
type complaint struct{ bytes.Buffer }

func (c *complaint) Write(p []byte) (int, error) {
	c.Buffer.Write(p[:min(len(p), maxComplaint-c.Len())])
	return len(p), nil
}
