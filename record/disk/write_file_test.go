//go:build unix

package disk_test

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/acptap/acptap/record/disk"
)

// TestWriteFile checks what a write replaces.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	write := func(name string) error {
		t.Helper()
		return disk.WriteFile(path(name), func(w io.Writer) error {
			_, err := io.WriteString(w, "new")
			return err
		})
	}
	if err := os.WriteFile(path("file"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"link": "file", "pipe link": "pipe", "broken": "nothing/file"} {
		if err := os.Symlink(to, path(link)); err != nil {
			t.Fatal(err)
		}
	}
	modes := map[string]os.FileMode{}
	for _, name := range []string{"file", "pipe", "link", "pipe link", "broken"} {
		fi, err := os.Lstat(path(name))
		if err != nil {
			t.Fatal(err)
		}
		modes[name] = fi.Mode()
	}
	for _, tt := range []struct {
		name, file string // the path written to, and the path where the content is then
		fails      bool
	}{
		{name: "missing", file: "missing"},
		{name: "file", file: "file"},
		{name: "link", file: "file"},
		{name: "pipe", file: "pipe"},
		{name: "pipe link", file: "pipe"},
		{name: "broken", fails: true},
		{name: ".", fails: true},
	} {
		read := make(chan []byte, 1)
		if tt.file == "pipe" {
			// It is open for reading and writing, so that neither a writer nor a reader waits
			// for the other end.
			f, err := os.OpenFile(path("pipe"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				defer f.Close()
				b := make([]byte, 3)
				io.ReadFull(f, b)
				read <- b
			}()
			if err := write(tt.name); err != nil {
				f.Write([]byte("...")) // so that the reader ends
			}
		} else if err := write(tt.name); (err != nil) != tt.fails {
			t.Errorf("%s: got %v", tt.name, err)
		} else if !tt.fails {
			b, err := os.ReadFile(path(tt.file))
			if err != nil {
				t.Fatal(err)
			}
			read <- b
		}
		if mode, ok := modes[tt.name]; ok {
			fi, err := os.Lstat(path(tt.name))
			if err != nil || fi.Mode() != mode {
				t.Fatalf("%s: got %v and %v, want that it stays %v", tt.name, fi.Mode(), err, mode)
			}
		}
		if !tt.fails {
			if got := string(<-read); got != "new" {
				t.Errorf("%s: got %q", tt.name, got)
			}
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != len(modes)+1 {
		t.Errorf("got %v and %v, want nothing else there", left, err)
	}
}
