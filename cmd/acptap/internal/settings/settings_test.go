package settings_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tailscale/hujson"

	"github.com/acptap/acptap/cmd/acptap/internal/settings"
)

// setup returns a machine with an empty home directory.
func setup(t testing.TB) *settings.Setup {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	return &settings.Setup{
		Machine: settings.Machine{OS: "linux", Arch: "amd64", Home: home, Dir: home, Env: func(string) string { return "" }},
		Wrapper: settings.Wrapper{Recorder: []string{"/go/bin/acptap", "proxy"}},
		Undo:    settings.Undo{Dir: filepath.Join(dir, "wraps")},
	}
}

// write makes a file in the home directory.
func write(t testing.TB, s *settings.Setup, name, text string) string {
	t.Helper()
	path := filepath.Join(s.Machine.Home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func client(t testing.TB, name string) *settings.Client {
	t.Helper()
	c, err := settings.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// do calls plan for one file, and returns what was done to its entries.
func do(t testing.TB, s *settings.Setup, plan func() (*settings.Change, error)) []settings.Step {
	t.Helper()
	steps, err := try(s, plan)
	if err != nil {
		t.Fatal(err)
	}
	return steps
}

func try(s *settings.Setup, plan func() (*settings.Change, error)) (steps []settings.Step, err error) {
	ch, err := s.Do(plan)
	if err != nil {
		return nil, err
	}
	return ch.Steps, nil
}

func wrap(t testing.TB, s *settings.Setup, c, path string, names ...string) []settings.Step {
	t.Helper()
	return do(t, s, func() (*settings.Change, error) { return s.Wrap(client(t, c), path, names, len(names) == 0) })
}

func unwrap(t testing.TB, s *settings.Setup, c, path string, names ...string) []settings.Step {
	t.Helper()
	return do(t, s, func() (*settings.Change, error) { return s.Unwrap(client(t, c), path, names, len(names) == 0) })
}

// entry returns an entry of a file.
func entry(t testing.TB, s *settings.Setup, c, path, name string) settings.Entry {
	t.Helper()
	list, err := s.Entries(client(t, c), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Name == name {
			return e
		}
	}
	t.Fatalf("no entry %q in %v", name, list)
	return settings.Entry{}
}

// meaning returns what JSON with comments says.
func meaning(t testing.TB, text string) (v any) {
	t.Helper()
	plain, err := hujson.Standardize([]byte(strings.TrimPrefix(text, "\uFEFF") + "\n"))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	decoder := json.NewDecoder(bytes.NewReader(plain))
	decoder.UseNumber() // there are numbers that no float64 holds
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%v in\n%s", err, plain)
	}
	return v
}

// Wrapped and unwrapped, a file has the same bytes; wrapped twice, it is as wrapped
// once.
func TestSamples(t *testing.T) {
	if n := len(samples()); n < 40 {
		t.Errorf("%d samples, want 40", n)
	}
	for _, tt := range samples() {
		t.Run(tt.name, func(t *testing.T) {
			s := setup(t)
			path := write(t, s, "settings.json", tt.text)
			before := entry(t, s, tt.client, path, "x")
			if before.State != settings.Plain {
				t.Fatalf("the entry is %s (%s)", before.State, before.Why)
			}
			wrap(t, s, tt.client, path, "x")
			once := read(t, path)
			after := entry(t, s, tt.client, path, "x")
			want := slices.Clone(before.Agent)
			if strings.HasPrefix(want[0], "~/") {
				want[0] = filepath.Join(s.Machine.Home, want[0][2:])
			}
			if own := []string{"/go/bin/acptap", "proxy", "--name", "x", "--"}; !slices.Equal(after.Acptap, own) || !slices.Equal(after.Agent, want) {
				t.Errorf("the entry calls %q and %q, want %q and %q, in\n%s", after.Acptap, after.Agent, own, want, once)
			}
			meaning(t, once)
			if steps := wrap(t, s, tt.client, path, "x"); steps[0].Did != settings.DidNothing || read(t, path) != once {
				t.Errorf("wrapped twice: %v, and\n%s\nwant\n%s", steps, read(t, path), once)
			}
			unwrap(t, s, tt.client, path, "x")
			if got := read(t, path); got != tt.text {
				t.Errorf("unwrapped: got\n%s\nwant\n%s", got, tt.text)
			}
			if left, err := filepath.Glob(filepath.Join(s.Undo.Dir, "*")); err != nil || len(left) > 0 {
				t.Errorf("left in the store: %v, %v", left, err)
			}
			if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o640 {
				t.Errorf("the mode is %v, %v", info.Mode(), err)
			}
		})
	}
}

// Without a record the command comes from behind the --, and nothing else changes.
func TestUnwrapWithoutRecord(t *testing.T) {
	for _, tt := range samples() {
		t.Run(tt.name, func(t *testing.T) {
			s := setup(t)
			path := write(t, s, "settings.json", tt.text)
			wrap(t, s, tt.client, path, "x")
			s.Undo.Dir += "-other"
			unwrap(t, s, tt.client, path, "x")
			got := meaning(t, read(t, path))
			want := meaning(t, strings.ReplaceAll(tt.text, `"~/bin`, `"`+s.Machine.Home+"/bin"))
			if e := entry(t, s, tt.client, path, "x"); e.State != settings.Plain {
				t.Errorf("the entry is %s", e.State)
			}
			if !reflect.DeepEqual(withoutEmptyArgs(got), withoutEmptyArgs(want)) {
				t.Errorf("got\n%v\nwant\n%v", got, want)
			}
		})
	}
}

// withoutEmptyArgs removes empty lists of arguments, which mean the same as none.
func withoutEmptyArgs(v any) any {
	if m, ok := v.(map[string]any); ok {
		for name, inner := range m {
			if list, ok := inner.([]any); name == "args" && (inner == nil || ok && len(list) == 0) {
				delete(m, name)
			}
			withoutEmptyArgs(inner)
		}
	}
	return v
}

// A directory called acptap is no reason not to wrap.
func TestDirectoryCalledAcptap(t *testing.T) {
	s := setup(t)
	path := write(t, s, "mcp.json", `{"mcpServers": {"x": {"command": "npx", "args": ["server", "/src/acptap"]}}}`)
	if e := entry(t, s, "cursor", path, "x"); e.State != settings.Plain {
		t.Errorf("the entry is %s: %s", e.State, e.Why)
	}
}

// What others change between wrap and unwrap stays.
func TestForeignEdits(t *testing.T) {
	const text = `{
  // servers
  "mcpServers": {
    "a": {"command": "one"},
    "x": {
      "command": "npx", // why
      "args": ["-y", "server"],
      "env": {"K": "1"}
    }
  }
}
`
	for _, tt := range []struct{ name, from, to string }{
		{"another entry", `"one"`, `"two"`},
		{"a comment", "// servers", "// all servers"},
		{"a new entry before", `"a":`, `"b": {"command": "z"}, "a":`},
		{"its environment", `"1"`, `"2"`},
		{"a comment in it", "// why", "// because"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := setup(t)
			path := write(t, s, "mcp.json", text)
			wrap(t, s, "cursor", path, "x")
			edited := strings.Replace(read(t, path), tt.from, tt.to, 1)
			if edited == read(t, path) {
				t.Fatal("nothing was edited")
			}
			write(t, s, "mcp.json", edited)
			unwrap(t, s, "cursor", path, "x")
			if got, want := read(t, path), strings.Replace(text, tt.from, tt.to, 1); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
	t.Run("its arguments", func(t *testing.T) {
		s := setup(t)
		path := write(t, s, "mcp.json", text)
		wrap(t, s, "cursor", path, "x")
		write(t, s, "mcp.json", strings.Replace(read(t, path), `"server"`, `"other"`, 1))
		unwrap(t, s, "cursor", path, "x")
		if got := entry(t, s, "cursor", path, "x"); !slices.Equal(got.Agent, []string{"npx", "-y", "other"}) || got.State != settings.Plain {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("all is written anew, as Claude Desktop does", func(t *testing.T) {
		s := setup(t)
		path := write(t, s, "mcp.json", text)
		wrap(t, s, "cursor", path, "x")
		compact, err := json.Marshal(meaning(t, read(t, path)))
		if err != nil {
			t.Fatal(err)
		}
		write(t, s, "mcp.json", string(compact))
		unwrap(t, s, "cursor", path, "x")
		if got, want := meaning(t, read(t, path)), meaning(t, text); !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%v\nwant\n%v", got, want)
		}
	})
}
