package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// recordDemo plays the client of the demo to the agent, behind a proxy that
// records in the store. It returns the process id of the proxy.
func recordDemo(ctx context.Context, store string, seen func(by wire.Direction, message []byte)) (pid int, err error) {
	acptap, err := os.Executable()
	if err != nil {
		return 0, err
	}
	p := demoPlayer{seen: seen}
	return p.runClient(ctx, demoScript(), acptap, "proxy", "--name", "demo", "--store", store, "--", acptap, "demo-agent")
}

// replayDemo plays the client of the demo to the tape, without pauses. It returns
// how many messages the client had and how long all of it took.
func replayDemo(ctx context.Context, tape *record.Tape, store string) (sent int, took time.Duration, err error) {
	acptap, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	p := demoPlayer{fast: true, seen: func(by wire.Direction, _ []byte) {
		if by == wire.ClientToAgent {
			sent++
		}
	}}
	began := time.Now()
	_, err = p.runClient(ctx, demoScript(), acptap, "replay", "agent", "--store", store, tape.ID())
	return sent, time.Since(began), err
}

// runClient starts what stands for the agent, and plays the client of a script to
// it. It returns the process id. The end of ctx and the signals of Ctrl-C and kill
// end all of it.
func (p *demoPlayer) runClient(ctx context.Context, script []demoStep, agent ...string) (pid int, err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	cmd := exec.CommandContext(ctx, agent[0], agent[1:]...)
	stdin, ierr := cmd.StdinPipe()
	stdout, oerr := cmd.StdoutPipe()
	if err := cmp.Or(ierr, oerr); err != nil {
		return 0, err
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.Cancel = stdin.Close // which ends the agent or the replay, and that the proxy
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	p.me, p.in, p.out = wire.ClientToAgent, bufio.NewReader(stdout), stdin
	played := p.play(script)
	stdin.Close()
	more := p.rest() // Wait closes stdout, so it has to come after this
	exited := cmd.Wait()
	err = cmp.Or(played, more, exited)
	if err == nil && stderr.String() != demoStderr(script) {
		err = errors.New("stderr is not as in the script")
	}
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
		// Not wrapped: that the agent does not read is no end without a word,
		// as it is where our own reader has gone.
		err = fmt.Errorf("%v; stderr: %q", err, stderr.String())
	}
	return cmd.Process.Pid, err
}

// demoStderr returns what the agent writes to stderr.
func demoStderr(script []demoStep) string {
	var b strings.Builder
	for _, step := range script {
		if step.by == wire.AgentStderr {
			for _, line := range step.lines {
				fmt.Fprintln(&b, line)
			}
		}
	}
	return b.String()
}
