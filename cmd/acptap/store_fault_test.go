//go:build linux

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A store that cannot be used costs the tape and one line on stderr, never the
// traffic.
func TestUnusableStore(t *testing.T) {
	tests := []struct {
		name  string
		store func(t *testing.T) string
	}{
		{"a file where the store should be", func(t *testing.T) string {
			return newFile(t, t.TempDir(), "store")
		}},
		{"below a file", func(t *testing.T) string {
			return filepath.Join(newFile(t, t.TempDir(), "file"), "store")
		}},
		{"a file where the journals should be", func(t *testing.T) string {
			dir := t.TempDir()
			newFile(t, dir, "live")
			return dir
		}},
		{"a file where the tapes should be", func(t *testing.T) string {
			dir := t.TempDir()
			newFile(t, dir, "tapes")
			return dir
		}},
		{"a link that leads nowhere", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "store")
			if err := os.Symlink("/nowhere/at/all", path); err != nil {
				t.Fatal(err)
			}
			return path
		}},
		{"of another user", func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.Chown(dir, 12345, -1); err != nil {
				t.Skip(err)
			}
			return dir
		}},
		{"not writable", func(t *testing.T) string {
			return mount(t, unix.MS_RDONLY, "")
		}},
		{"on a full disk", func(t *testing.T) string {
			return mount(t, 0, "nr_inodes=1")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			store := tt.store(t)
			for _, flags := range [][]string{nil, {"--sessions"}} {
				stdout, stderr := echo(t, store, flags...)
				if stdout != echoed {
					t.Errorf("%v: the client got %q, want %q", flags, stdout, echoed)
				}
				if !strings.HasPrefix(stderr, "acptap: not recording: ") || strings.Count(stderr, "\n") != 1 || !strings.HasSuffix(stderr, "\n") {
					t.Errorf("%v: stderr: %q, want one line", flags, stderr)
				}
			}
		})
	}
}

// Damage and odd things in a store that can be written do not even cost the tape.
func TestDamagedStore(t *testing.T) {
	tests := []struct {
		name   string
		damage func(t *testing.T, dir string)
	}{
		{"the catalogue is no bbolt file", func(t *testing.T, dir string) { newFile(t, dir, "acptap.db") }},
		{"the catalogue is a directory", func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, "acptap.db"), 0o700); err != nil {
				t.Fatal(err)
			}
		}},
		{"a tape is no bbolt file", func(t *testing.T, dir string) { newFile(t, dir, "tapes/20260101T000000-aaaaaa.db") }},
		{"a journal is none", func(t *testing.T, dir string) {
			newFile(t, dir, "live/20260101T000000-aaaaaa.lock")
			newFile(t, dir, "live/20260101T000000-aaaaaa.0000000000000000")
		}},
		{"a journal is a directory", func(t *testing.T, dir string) {
			newFile(t, dir, "live/20260101T000000-aaaaaa.lock")
			if err := os.Mkdir(filepath.Join(dir, "live/20260101T000000-aaaaaa.0000000000000000"), 0o700); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range []string{"tapes", "live"} {
				if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			tt.damage(t, dir)
			for _, flags := range [][]string{nil, {"--sessions"}} {
				stdout, stderr := echo(t, dir, flags...)
				if stdout != echoed || stderr != "" {
					t.Errorf("%v: the client got %q and stderr %q, want %q and nothing", flags, stdout, stderr, echoed)
				}
			}
			var out, complaints bytes.Buffer
			if code := run(t.Context(), []string{"--store", dir, "export", "last", "--raw"}, nil, &out, &complaints); code != 0 {
				t.Errorf("export: status %d: %s", code, complaints.String())
			}
			if n := strings.Count(out.String(), `"frame":{"jsonrpc":"2.0","id":1}`); n != 2 {
				t.Errorf("the frame is on the tape %d times, want 2:\n%s", n, out.String())
			}
		})
	}
}

const echoed = `{"jsonrpc":"2.0","id":1}` + "\n" + "no JSON\xff"

// echo sends a frame and more through a proxy to an agent that sends it back.
func echo(t *testing.T, store string, flags ...string) (stdout, stderr string) {
	t.Helper()
	cmd := exec.Command("acptap", slices.Concat([]string{"--store", store, "proxy"}, flags, []string{"--", "cat"})...)
	cmd.Stdin = strings.NewReader(echoed)
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Errorf("proxy: %v", err)
	}
	return out.String(), complaints.String()
}

// newFile makes a small file of nothing that is known.
func newFile(t *testing.T, dir, name string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte("something else\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// mount mounts an empty file system in memory.
func mount(t *testing.T, flags uintptr, options string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", flags, options); err != nil {
		t.Skipf("only root can mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}
