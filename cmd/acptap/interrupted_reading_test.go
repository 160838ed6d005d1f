package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestInterruptedReading: ^C ends what reads a tape that has no end yet.
func TestInterruptedReading(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted")
	}
	// In the background of a shell, interrupts may be ignored, which processes would inherit.
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	defer signal.Stop(interrupted)
	line := `{"acptap":1,"tape":"20261123T052735309-g8k0xa","cwd":"` + strings.Repeat("x", 256<<10)
	for _, args := range [][]string{
		{"ship", "--otlp=http://127.0.0.1:1", "-"},
		{"export", "--format", "parquet", "-o", filepath.Join(t.TempDir(), "lake"), "-"},
	} {
		var complaints strings.Builder
		cmd := exec.Command("acptap", append([]string{"--store", t.TempDir()}, args...)...)
		cmd.Stderr, cmd.WaitDelay = &complaints, time.Second
		stdin, err := cmd.StdinPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		killed := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		if _, err := stdin.Write([]byte(line)); err != nil { // more than fits into the pipe, so it is read
			t.Errorf("%s: %v: %s", args[0], err, complaints.String())
		}
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		var exit *exec.ExitError
		if err := cmd.Wait(); !errors.As(err, &exit) || !killed.Stop() {
			t.Errorf("%s: it went on until it was killed: %v", args[0], err)
		}
	}
}
