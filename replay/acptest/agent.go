package acptest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay"
)

// grace limits how long the other side may keep running after the test. It exceeds the
// second by which the race detector delays a process's exit.
const grace = 5 * time.Second

// Agent plays the agent of the tape at path, in the portable form. It returns the
// client's end of each stdio pipe. The agent's stderr goes to the test log. The tape can
// be played once.
//
// When the test ends, Agent closes stdin unless the client already has. It then fails the
// test if messages of the recorded client are missing.
func Agent(t testing.TB, path string, set ...func(*replay.Cassette)) (stdin io.WriteCloser, stdout io.ReadCloser) {
	t.Helper()
	p := newPlay(t, path, set)
	stdin, stdout, end := p.start(t)
	t.Cleanup(func() {
		t.Helper()
		end(grace) // for a live agent that does not end, or the pace
		p.check(t)
	})
	return stdin, stdout
}

// Live sets the agent to record when the mode calls for recording. It runs in the test's
// directory and environment.
func Live(command ...string) func(*replay.Cassette) {
	return func(c *replay.Cassette) { c.Command = command }
}

// A play is one run of a cassette and its outcome.
type play struct {
	cassette replay.Cassette
	records  bool // records the cassette instead of playing it
	report   replay.Report
	err      error
}

func newPlay(t testing.TB, path string, set []func(*replay.Cassette)) *play {
	t.Helper()
	p := &play{cassette: replay.Cassette{Path: path}}
	c := &p.cassette
	for _, set := range set {
		set(c)
	}
	if mode := os.Getenv(replay.ModeVariable); mode != "" {
		if err := c.Mode.UnmarshalText([]byte(mode)); err != nil {
			t.Fatalf("%s: %v", replay.ModeVariable, err)
		}
	}
	tape, err := c.Open()
	var wrong *rule.SyntaxError
	switch {
	case errors.As(err, &wrong):
		t.Fatalf("%v\n%s", err, wrong.Caret())
	case err != nil: // otherwise the client would report a broken pipe first
		t.Fatalf("%v\n%s", err, p.howToRecord(t, err))
	}
	p.records = tape == nil
	return p
}

// start plays the agent. end closes the agent's stdin and waits until it has ended. After
// patience it makes the agent end.
func (p *play) start(t testing.TB) (stdin io.WriteCloser, stdout io.ReadCloser, end func(patience time.Duration)) {
	in, stdin := io.Pipe()
	out := proxy.NewPipe() // so that a test that no longer reads does not hold up the agent
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.run(ctx, in, out, t.Output())
		in.Close()
		out.End()
	}()
	return stdin, out, func(patience time.Duration) {
		stdin.Close()
		late := time.AfterFunc(patience, cancel)
		defer late.Stop()
		defer cancel()
		<-ended
	}
}

func (p *play) run(ctx context.Context, in io.Reader, out, errOut io.Writer) {
	p.report, p.err = p.cassette.Run(ctx, in, out, errOut)
}

// check fails the test for deviations from the tape and logs the rest of the report.
func (p *play) check(t testing.TB) {
	t.Helper()
	path := p.cassette.Path
	if never := p.report.NeverHit; len(never) > 0 {
		t.Errorf("%s: these rules never hit: %s", path, strings.Join(never, ", "))
		p.report.NeverHit = nil
	}
	text := reportText(p.report)
	diverged := errors.Is(p.err, replay.ErrDiverged)
	var died *proxy.ExitError
	switch {
	case errors.As(p.err, &died): // a rule ended the agent
	case diverged:
		t.Errorf("%s: %v\n%s%s", path, p.err, text, p.howToRecord(t, p.err))
	case p.err != nil:
		t.Errorf("%s: %v", path, p.err)
		return
	case text != "":
		t.Logf("%s:\n%s", path, text)
	}
	const review = "read it before you commit it, it has all that was said"
	if _, err := os.Stat(path); p.records && err == nil {
		t.Logf("%s was recorded from %q: %s", path, p.cassette.Command, review)
	} else if p.report.Live > 0 {
		t.Logf("%s: what it lacked was recorded from %q and added: %s", path, p.cassette.Command, review)
	}
}

// howToRecord says how to record the file if an agent is set.
func (p *play) howToRecord(t testing.TB, err error) string {
	if len(p.cassette.Command) == 0 || p.cassette.Rules != "" { // with rules nothing is recorded
		return ""
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^")
	advice := func(purpose string, mode replay.Mode) string {
		return fmt.Sprintf("to %s: %s=%v go test -run '^%s$'\n", purpose, replay.ModeVariable, mode, pattern)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return advice("record it", replay.ModeOnce)
	case p.report.Lacking():
		return advice("add what it lacks", replay.ModeNew) + advice("record it anew", replay.ModeAll)
	}
	return advice("record it anew", replay.ModeAll)
}

// reportText formats a report as lines, with every difference in full: the tape's value
// after -, the client's after +.
func reportText(r replay.Report) string {
	var b strings.Builder
	for _, m := range r.Misses {
		differs := m.Differs
		m.Differs = nil
		fmt.Fprintf(&b, "miss: %s\n", termtext.Line(m.String()))
		for _, d := range differs {
			fmt.Fprintf(&b, "    %s\n", termtext.Line(d.Path))
			if d.Want != "" {
				fmt.Fprintf(&b, "  - %s\n", termtext.Line(d.Want))
			}
			if d.Got != "" {
				fmt.Fprintf(&b, "  + %s\n", termtext.Line(d.Got))
			}
		}
	}
	r.Misses = nil
	return b.String() + r.String()
}
