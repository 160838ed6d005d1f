package cli_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
		if got, err := cli.Acptap.Self(is(program), path); err != nil || got != want {
			t.Errorf("PATH %q: got %s, %v, want %s", path, got, err, want)
		}
	}
	if _, err := cli.Acptap.Self(func() (string, error) { return "", errors.New("gone") }, bin); err == nil {
		t.Error("without an executable there is a path")
	}
}

// TestRecorder: acptap-proxy records if it is next to acptap, or to what a link to acptap
// leads to.
func TestRecorder(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	for _, name := range []string{"both/acptap", "both/acptap-proxy", "alone/acptap", "renamed/tap"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("programs have other names there")
	}
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(bin, "acptap-proxy")
	if err := os.Symlink(filepath.Join(dir, "both", "acptap-proxy"), link); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		is         cli.Program
		file, path string
		want       []string
	}{
		{cli.Acptap, "both/acptap", "", []string{filepath.Join(dir, "both/acptap-proxy")}},
		{cli.Acptap, "both/acptap", bin, []string{link}},
		{cli.Acptap, "alone/acptap", bin, []string{filepath.Join(dir, "alone/acptap"), "proxy"}},
		{cli.Proxy, "both/acptap-proxy", bin, []string{link}},
		{cli.Proxy, "renamed/tap", bin, []string{filepath.Join(dir, "renamed/tap")}},
	} {
		got, err := tt.is.Recorder(func() (string, error) { return filepath.Join(dir, filepath.FromSlash(tt.file)), nil }, tt.path)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%s with PATH %q: got %q, %v, want %q", tt.file, tt.path, got, err, tt.want)
		}
	}
}
