package acptest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/replay"
)

// grace is how long the other side may take to end once the test has: longer
// than the second for which the race detector holds up the end of a process.
const grace = 5 * time.Second

// Agent plays the agent of the tape at path, in the portable form. It returns the
// client's ends of its stdio; what it writes to stderr goes to the test's output.
// The tape can be played once.
//
// When the test ends, so does its stdin, if it has not been closed before, and
// what then is missing of the client's messages is an error of the test.
func Agent(t testing.TB, path string, set ...func(*replay.Cassette)) (stdin io.WriteCloser, stdout io.ReadCloser) {
	t.Helper()
	p := newPlay(t, path, set)
	in, stdin := io.Pipe()
	out := newSpool()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.run(ctx, in, out, t.Output())
		in.Close()
		out.Close()
	}()
	t.Cleanup(func() {
		t.Helper()
		defer cancel()
		stdin.Close()
		select {
		case <-ended:
		case <-time.After(grace): // a live agent that does not end, or the pace
			cancel()
			<-ended
		}
		p.judge(t)
	})
	return stdin, out
}

// Live names the agent that is recorded where the mode says so. It runs in the
// directory and with the environment of the test.
func Live(command ...string) func(*replay.Cassette) {
	return func(c *replay.Cassette) { c.Command = command }
}

// A play is one run of a cassette, and how it went.
type play struct {
	cassette replay.Cassette
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
	return p
}

func (p *play) run(ctx context.Context, in io.Reader, out, errOut io.Writer) {
	p.report, p.err = p.cassette.Run(ctx, in, out, errOut)
}

// judge makes what is not as on the tape an error of the test.
func (p *play) judge(t testing.TB) {
	t.Helper()
	switch story := explain(p.report); {
	case errors.Is(p.err, replay.ErrDiverged):
		t.Errorf("%s: %v\n%s%s", p.cassette.Path, p.err, story, p.remedy(t))
	case p.err != nil && p.cassette.Mode == replay.ModeNone:
		t.Errorf("%s: %v\n%s", p.cassette.Path, p.err, p.remedy(t))
	case p.err != nil:
		t.Errorf("%s: %v", p.cassette.Path, p.err)
	case story != "":
		t.Logf("%s:\n%s", p.cassette.Path, story)
	}
}

// remedy says how to have the file recorded, if there is an agent to do it from.
func (p *play) remedy(t testing.TB) string {
	if len(p.cassette.Command) == 0 {
		return ""
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^")
	return fmt.Sprintf("to record it anew: %s=%v go test -run '^%s$'\n", replay.ModeVariable, replay.ModeAll, pattern)
}

// explain returns a report as lines, with each difference whole: the tape's value
// behind -, the client's behind +.
func explain(r replay.Report) string {
	var b strings.Builder
	for _, m := range r.Misses {
		differs := m.Differs
		m.Differs = nil
		fmt.Fprintf(&b, "miss: %s\n", m)
		for _, d := range differs {
			fmt.Fprintf(&b, "    %s\n", d.Path)
			if d.Want != "" {
				fmt.Fprintf(&b, "  - %s\n", d.Want)
			}
			if d.Got != "" {
				fmt.Fprintf(&b, "  + %s\n", d.Got)
			}
		}
	}
	r.Misses = nil
	return b.String() + r.String()
}
