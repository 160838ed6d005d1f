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

	"github.com/acptap/acptap/record/termtext"
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
	out := newUnboundedPipe()
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
		p.check(t)
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
	records  bool // the cassette, and does not play it
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
	if err != nil { // else the client would come first with its complaint, a broken pipe
		t.Fatalf("%v\n%s", err, p.howToRecord(t, err))
	}
	p.records = tape == nil
	return p
}

func (p *play) run(ctx context.Context, in io.Reader, out, errOut io.Writer) {
	p.report, p.err = p.cassette.Run(ctx, in, out, errOut)
}

// check makes what is not as on the tape an error of the test.
func (p *play) check(t testing.TB) {
	t.Helper()
	path, story := p.cassette.Path, reportText(p.report)
	diverged := errors.Is(p.err, replay.ErrDiverged)
	switch {
	case diverged:
		t.Errorf("%s: %v\n%s%s", path, p.err, story, p.howToRecord(t, p.err))
	case p.err != nil:
		t.Errorf("%s: %v", path, p.err)
		return
	case story != "":
		t.Logf("%s:\n%s", path, story)
	}
	const review = "read it before you commit it, it has all that was said"
	if _, err := os.Stat(path); p.records && err == nil {
		t.Logf("%s was recorded from %q: %s", path, p.cassette.Command, review)
	} else if p.report.Live > 0 {
		t.Logf("%s: what it lacked was recorded from %q and added: %s", path, p.cassette.Command, review)
	}
}

// howToRecord says how to have the file recorded, if there is an agent to do it from.
func (p *play) howToRecord(t testing.TB, err error) string {
	if len(p.cassette.Command) == 0 {
		return ""
	}
	mode, anew := replay.ModeAll, " anew"
	if errors.Is(err, fs.ErrNotExist) {
		mode, anew = replay.ModeOnce, ""
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^")
	return fmt.Sprintf("to record it%s: %s=%v go test -run '^%s$'\n", anew, replay.ModeVariable, mode, pattern)
}

// reportText returns a report as lines, with each difference whole: the tape's value
// behind -, the client's behind +.
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
