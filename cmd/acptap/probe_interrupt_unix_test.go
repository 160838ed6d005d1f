//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestProbeInterrupted: ^C during a probe ends the agent with all that it has started, and the
// report is about the cases that ran.
func TestProbeInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"cases/my/first.txt":  "It opens.\nfor: v1\n-- steps --\nhello\n",
		"cases/my/second.txt": "It opens, and stays.\nfor: v1\n-- steps --\nhello\n< no session/update for 10m\n",
		"good.script":         "offers {}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// In the second case the agent and a child that ignores signals hold the fifo open.
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	const agent = `case $ACPTAP_PROBE_CASE in */my-second-*) exec 9>fifo; (trap '' INT TERM; exec sleep 1000) & esac; exec acptap replay script good.script`
	cmd := exec.CommandContext(t.Context(), "acptap", "probe", "--store", filepath.Join(dir, "store"), "--cases", "cases", "--only", "my", "-j", "1", "-v", "--", "sh", "-c", agent)
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, &stdout, &stderr, time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	held, err := os.Open(fifo) // returns when the agent of the second case has opened it, too
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 2 {
		t.Errorf("got %v, want exit status 2", err)
	}
	if _, err := io.ReadAll(held); err != nil { // until nobody holds it
		t.Error(err)
	}
	for _, want := range []string{"✓ my/first   ok: It opens.\n", "· my/second  not tried: interrupted\n"} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, &stdout)
		}
	}
	if got, want := stderr.String(), "acptap: interrupted; the report is about the cases that ran\n"; got != want {
		t.Errorf("stderr is %q, want %q", got, want)
	}
}
