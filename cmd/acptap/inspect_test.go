package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/ref"
)

// A signaller ends this process as soon as it is read from, and has nothing to
// say.
type signaller struct{ io.Reader }

func (s signaller) Read(p []byte) (int, error) {
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Signal(syscall.SIGTERM)
	}
	if err != nil {
		return 0, err
	}
	return s.Reader.Read(p)
}

// TestInspectInterrupted: a signal that arrives while the inspector reads its input leaves no
// file behind.
func TestInspectInterrupted(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	stdin, writer := io.Pipe()
	defer writer.Close()
	cmd := &cobra.Command{}
	cmd.SetContext(t.Context())
	cmd.SetIn(signaller{stdin})
	err := browseFile(cmd, newInspector(), "-", ref.Frame{})
	if err == nil || err.Error() != "interrupted" {
		t.Errorf("got %v, want that it is interrupted", err)
	}
	left, err := os.ReadDir(tmp)
	if err != nil || len(left) > 0 {
		t.Errorf("got %v and %v, want nothing there", left, err)
	}
}

// TestInspectFrame: a frame may follow a file's name, which may itself end like one.
func TestInspectFrame(t *testing.T) {
	odd := filepath.Join(t.TempDir(), "odd.jsonl:3")
	if err := os.WriteFile(odd, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]struct {
		name string
		seq  uint64
	}{"bug.jsonl:20": {"bug.jsonl", 20}, "last:7": {"last", 7}, "bug.jsonl": {"bug.jsonl", 0}, odd: {odd, 0}, odd + ":2": {odd, 2}} {
		if name, frame := cutFrame(arg); name != want.name || frame.Seq != want.seq {
			t.Errorf("%s: got %s and %d, want %s and %d", arg, name, frame.Seq, want.name, want.seq)
		}
	}
}

// TestImportInterrupted keeps nothing of a tape that was being imported.
func TestImportInterrupted(t *testing.T) {
	dir := t.TempDir()
	stdin, writer := io.Pipe()
	defer writer.Close()
	cmd := newImportCmd(&dir)
	cmd.SetArgs([]string{"-", "no-such-file"})
	head := strings.NewReader(`{"acptap":1}` + "\n" + `{"dir":"c2a","frame":{"jsonrpc":"2.0","method":"a"}}` + "\n")
	cmd.SetIn(io.MultiReader(head, signaller{stdin}))
	if err := cmd.ExecuteContext(t.Context()); err == nil || err.Error() != "interrupted" {
		t.Errorf("got %v, want that it is interrupted", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "tapes")); err != nil || len(left) > 0 {
		t.Errorf("got %v and %v, want no tapes", left, err)
	}
}

// TestView runs the pager named by the environment, and reports its command if it fails.
func TestView(t *testing.T) {
	path := filepath.Join(t.TempDir(), "frame-1.json")
	if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// As in a terminal, the signal is for both.
	script := filepath.Join(t.TempDir(), "pager")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nkill -INT $PPID\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, pager, want string }{
		{"with an argument", "test -f", ""},
		{"that fails", "test ! -f", "$PAGER, which is test: exit status 1"},
		{"that is not there", "no-such-pager -R", "$PAGER, which is no-such-pager: exec: "},
		{"that is interrupted with the terminal", script, ""},
		{"blank", " ", "$PAGER names no program"},
	}
	for _, tt := range tests {
		t.Setenv("PAGER", tt.pager)
		err := view("PAGER", path)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
	t.Setenv("PAGER", "")
	t.Setenv("PATH", t.TempDir())
	if err := view("PAGER", path); err == nil || !strings.HasPrefix(err.Error(), "$PAGER, which is less: ") {
		t.Errorf("without PAGER and less: got %v", err)
	}
}
