//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// If no one reads acptap's error messages, neither the traffic nor the end of the proxy waits
// for that.
func TestStuckStderr(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name, store, agent string
		stdout             string
		status             int
	}{
		{"no store", newFile(t, dir, "file"), "cat", echoed, 0},
		{"no agent", filepath.Join(dir, "store"), "/no/such/agent", "", 127},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, "acptap", "--store", tt.store, "proxy", "--", tt.agent)
			cmd.Stdin, cmd.Stderr = strings.NewReader(echoed), fullPipe(t)
			var out bytes.Buffer
			cmd.Stdout = &out
			var exit *exec.ExitError
			if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if status := cmd.ProcessState.ExitCode(); status != tt.status || out.String() != tt.stdout {
				t.Errorf("status %d and %q, want %d and %q (-1: it did not end)", status, out.String(), tt.status, tt.stdout)
			}
		})
	}
}

// fullPipe returns a full pipe without a reader.
func fullPipe(t *testing.T) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		r.Close()
		w.Close()
	})
	fd := int(w.Fd()) // blocking from here on
	if err := unix.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	for page := make([]byte, 4096); err == nil; {
		_, err = unix.Write(fd, page)
	}
	for one := []byte{0}; ; {
		if _, err = unix.Write(fd, one); err != nil {
			break
		}
	}
	if err != unix.EAGAIN {
		t.Fatal(err)
	}
	if err := unix.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
	return w
}
