//go:build linux

package record_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// crowdTime is how long the tests with many processes run.
var crowdTime = flag.Duration("crowd", 0, "how long the tests with many processes go on, beyond what is needed")

// A role is a task of the test binary as a separate process: TestMain performs it instead of
// the tests if the environment names it.
const roleVariable = "ACPTAP_TEST_ROLE"

var roles = map[string]func(args []string) error{
	"record":   recordRole,
	"recover":  recoverRole,
	"full":     fullRole,
	"lockfile": lockRole,
	"annotate": annotateRole,
	"relay":    relayRole,
}

func TestMain(m *testing.M) {
	role, ok := roles[os.Getenv(roleVariable)]
	if !ok {
		// The race detector has each process sleep for a second before it ends.
		os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
		os.Exit(m.Run())
	}
	if err := role(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A process is this binary in one of its roles.
type process struct {
	*exec.Cmd
	lines *bufio.Scanner // of its stdout
	end   func()         // closes its stdin
}

// play starts a process. The test's end kills it.
func play(t testing.TB, role string, args ...string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0], args...)}
	p.Env = append(os.Environ(), roleVariable+"="+role)
	p.Stderr = os.Stderr
	stdin, err := p.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.end = func() { stdin.Close() }
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.lines = bufio.NewScanner(stdout)
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Process.Kill()
		p.Wait()
	})
	return p
}

// line waits for the next line that the process prints.
func (p *process) line(t testing.TB) string {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("%s: its output ended: %v", strings.Join(p.Args, " "), p.lines.Err())
	}
	return p.lines.Text()
}

// rest waits for the process to end, and returns the last line that it printed.
func (p *process) rest(t testing.TB) string {
	t.Helper()
	last := ""
	for p.lines.Scan() {
		last = p.lines.Text()
	}
	if err := p.Wait(); err != nil {
		t.Errorf("%s: %v", strings.Join(p.Args, " "), err)
	}
	return last
}
