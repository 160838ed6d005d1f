package acptest

import (
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/replay"
)

// Rules is an option of [Agent] and [AgentCommand]: rules change what passes between the
// client under test and the agent, as acptap help rules describes. The text may be indented
// as a whole. A rule that hits nothing fails the test unless it has the option may. With
// rules, the file is only played, never recorded.
//
// If a rule keeps the client from sending something that is on the tape, the Agent must be
// Partial. A rule that ends the agent does not require that.
func Rules(text string) func(*replay.Cassette) {
	return func(c *replay.Cassette) { c.Rules += outdented(text) + "\n" }
}

// Fault is Rules with the rules of a fault that comes with acptap: NAME or NAME,KEY=VALUE, as
// acptap rules list prints them.
func Fault(name string) func(*replay.Cassette) {
	return Rules("use " + strings.ReplaceAll(name, ",", " "))
}

// Seed sets the seed of the rules' random numbers. The default is 0, so each run of the test
// is like the previous one.
func Seed(n uint64) func(*replay.Cassette) { return Rules(fmt.Sprint("seed ", n)) }

// outdented removes the indentation of the first non-blank line from a text.
func outdented(text string) string {
	rest := strings.TrimLeft(text, " \t\r\n")
	before := text[:len(text)-len(rest)]
	indent := before[strings.LastIndexByte(before, '\n')+1:]
	return strings.ReplaceAll("\n"+text, "\n"+indent, "\n")[1:]
}

// A FaultOption changes how [Faults] runs a client.
type FaultOption func(*faultRun)

type faultRun struct{ within time.Duration }

// Within sets how long a client may take under each fault, instead of ten seconds.
func Within(d time.Duration) FaultOption { return func(r *faultRun) { r.within = d } }

// Faults runs a client under each fault of ACP that comes with acptap, in a subtest with the
// fault's name. The agent is played from the tape at path; Faults skips a fault that nothing
// on the tape would trigger. The client gets its ends of the pipes. It must return within ten
// seconds and must not panic. How it reacts to the fault is up to the client: it may fail the
// subtest, and need not follow the tape.
//
//	func TestFaults(t *testing.T) {
//		acptest.Faults(t, "testdata/greeting.jsonl", func(t *testing.T, stdin io.WriteCloser, stdout io.ReadCloser) {
//			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
//			defer cancel()
//			conn := acp.NewClientSideConnection(&client{}, stdin, stdout)
//			…
//		})
//	}
func Faults(t *testing.T, path string, client func(t *testing.T, stdin io.WriteCloser, stdout io.ReadCloser), set ...FaultOption) {
	t.Helper()
	r := faultRun{within: 10 * time.Second}
	for _, set := range set {
		set(&r)
	}
	for _, f := range rule.Faults() {
		if f.Protocol == "mcp" {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			p := newPlay(t, path, []func(*replay.Cassette){Fault(f.Name)})
			if !p.meets(t) {
				t.Skipf("nothing on %s meets %s", path, f.Name)
			}
			r.run(t, p, client)
		})
	}
}

// meets reports whether any rule would hit a frame of the tape.
func (p *play) meets(t testing.TB) bool {
	t.Helper()
	tape, err := p.cassette.Open()
	if err != nil {
		t.Fatal(err)
	}
	rules, err := rule.Parse("rules", p.cassette.Rules)
	if err != nil {
		t.Fatal(err)
	}
	trial := rules.Try(0)
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		trial.Observe(&f.Frame)
	}
	for _, h := range trial.Hits() {
		if h.Count > 0 {
			return true
		}
	}
	return false
}

// run runs a client against a play.
func (r *faultRun) run(t *testing.T, p *play, client func(t *testing.T, stdin io.WriteCloser, stdout io.ReadCloser)) {
	t.Helper()
	stdin, stdout, end := p.start(t)
	defer end(0)
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		defer func() {
			if v := recover(); v != nil {
				t.Errorf("the client panics: %v\n%s", v, debug.Stack())
			}
		}()
		client(t, stdin, stdout)
	}()
	late := time.NewTimer(r.within)
	defer late.Stop()
	select {
	case <-returned:
	case <-late.C:
		t.Errorf("the client has not returned after %v", r.within)
		stdin.Close() // may unblock it
		stdout.Close()
	}
}
