package demo

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// record plays the client to the agent through a proxy that records into the store, and
// returns the tape. proxy and agent hold the flags of each.
func (p *player) record(ctx context.Context, store *record.Store, script []Step, proxy, agent []string) (*record.Tape, error) {
	acptap, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := slices.Concat([]string{"proxy", "--name", "demo", "--store", store.Dir()}, proxy, []string{"--", acptap, "demo-agent"}, agent)
	pid, err := p.runClient(ctx, script, acptap, args...)
	if err != nil {
		return nil, err
	}
	return tapeOf(store, pid)
}

// replayTape plays the client to the tape, without pauses. It returns how many
// messages the client sent and how long the replay took.
func replayTape(ctx context.Context, tape *record.Tape, store string) (sent int, took time.Duration, err error) {
	acptap, err := os.Executable()
	if err != nil {
		return 0, 0, err
	}
	p := player{fast: true, seen: func(by wire.Direction, _ []byte) {
		if by == wire.ClientToAgent {
			sent++
		}
	}}
	began := time.Now()
	_, err = p.runClient(ctx, Script(), acptap, "replay", "agent", "--store", store, tape.ID())
	return sent, time.Since(began), err
}

// runClient starts acptap with arguments and plays the client of the script to it. It
// returns the process ID. It ends the command if ctx ends or a termination signal
// arrives.
func (p *player) runClient(ctx context.Context, script []Step, acptap string, args ...string) (pid int, err error) {
	ctx, stop := cli.UntilSignal(ctx)
	defer stop()
	cmd := exec.CommandContext(ctx, acptap, args...)
	stdin, ierr := cmd.StdinPipe()
	stdout, oerr := cmd.StdoutPipe()
	if err := cmp.Or(ierr, oerr); err != nil {
		return 0, err
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.Cancel = stdin.Close // ends the agent or the replay, and thereby the proxy
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	p.me, p.in, p.out = wire.ClientToAgent, bufio.NewReader(stdout), stdin
	played := p.play(script)
	stdin.Close()
	rest := p.drain() // before Wait, which closes stdout
	exited := cmd.Wait()
	err = cmp.Or(played, rest, exited)
	if err == nil && stderr.String() != stderrOf(script) {
		err = errors.New("stderr is not as in the script")
	}
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
		// Not wrapped: EPIPE from the agent's stdin must be reported, while EPIPE
		// from our own stdout ends the program quietly.
		err = fmt.Errorf("%v; stderr: %q", err, stderr.String())
	}
	return cmd.Process.Pid, err
}

// stderrOf returns what the script's agent writes to stderr.
func stderrOf(script []Step) string {
	var b strings.Builder
	for _, step := range script {
		if step.By == wire.AgentStderr {
			fmt.Fprintln(&b, step.Line)
		}
	}
	return b.String()
}
