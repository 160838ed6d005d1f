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

// A stallHook runs a command of the user's for each thing that begins to hang, one at a time
// and behind the watching. What came over the wire is only in its environment, never in
// the command.
type stallHook struct {
	command string
	env     []string
	trouble func(error)
	limit   time.Duration // of one command

	cancel context.CancelFunc
	queue  chan []string // environments of what waits
	done   chan struct{} // closed when all commands have ended
	full   bool          // it was told that commands are left out
}

const (
	// maxRun is how long a command may run.
	maxRun = 10 * time.Second

	// maxQueued is how many commands may wait for their turn. Others are left out.
	maxQueued = 64

	// maxComplaint is how much is kept of what a command writes to stderr.
	maxComplaint = 1 << 10
)

// newStallHook returns what runs a command. env is added to the environment. trouble, which
// may be called from any goroutine, is told of commands that fail. The caller closes it.
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

// Run runs the command for what begins to hang. It does not wait.
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

// Close waits for the commands, but no longer than one may run.
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
	cmd.WaitDelay = time.Second // what it has started may hold stderr open
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

// A complaint keeps the beginning of what is written to it.
type complaint struct{ bytes.Buffer }

func (c *complaint) Write(p []byte) (int, error) {
	c.Buffer.Write(p[:min(len(p), maxComplaint-c.Len())])
	return len(p), nil
}
