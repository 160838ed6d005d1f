package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
)

// A link in PATH stays one, as it leads to the next version, too.
func TestPath(t *testing.T) {
	dir := t.TempDir()
	program, bin := filepath.Join(dir, "cellar", "1.0", "acptap"), filepath.Join(dir, "bin")
	for _, d := range []string{filepath.Dir(program), bin, filepath.Join(dir, "other")} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{program, filepath.Join(dir, "other", "acptap")} {
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(bin, "acptap")
	if err := os.Symlink(program, link); err != nil {
		t.Skip(err)
	}
	is := func(path string) func() (string, error) { return func() (string, error) { return path, nil } }
	list := string(os.PathListSeparator)
	for path, want := range map[string]string{
		"":                            program,
		bin:                           link,
		dir + "/other" + list + bin:   link, // another program of that name
		dir + "/nothing" + list + ".": program,
	} {
		if got, err := cli.Self(is(program), path); err != nil || got != want {
			t.Errorf("PATH %q: got %s, %v, want %s", path, got, err, want)
		}
	}
	if _, err := cli.Self(func() (string, error) { return "", errors.New("gone") }, bin); err == nil {
		t.Error("without an executable there is a path")
	}
}
