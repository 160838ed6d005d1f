package settings_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/settings"
)

// Wrapped again, an entry gets the path of this acptap, and flags if some are given;
// unwrap still gives the first bytes back.
func TestRewrap(t *testing.T) {
	const text = "{\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"a\", // one\n      \"env\": {}\n    }\n  }\n}\n"
	s := setup(t)
	path := write(t, s, "mcp.json", text)
	wrap(t, s, "cursor", path, "x")
	check := func(did settings.Did, want ...string) {
		t.Helper()
		if steps := wrap(t, s, "cursor", path, "x"); steps[0].Did != did {
			t.Errorf("%s, want %s", steps[0].Did, did)
		}
		if e := entry(t, s, "cursor", path, "x"); !slices.Equal(e.Acptap, want) || !slices.Equal(e.Agent, []string{"a"}) {
			t.Errorf("got %q %q, want %q", e.Acptap, e.Agent, want)
		}
	}
	s.Wrapper.With = []string{"--sessions"}
	check(settings.DidRewrap, "/go/bin/acptap", "proxy", "--name", "x", "--sessions", "--")
	check(settings.DidNothing, "/go/bin/acptap", "proxy", "--name", "x", "--sessions", "--")
	s.Wrapper = settings.Wrapper{Recorder: []string{"/opt/acptap", "proxy"}}
	check(settings.DidRewrap, "/opt/acptap", "proxy", "--name", "x", "--sessions", "--")
	s.Wrapper.With, s.Wrapper.Store = []string{"--name", "y"}, "/tapes"
	check(settings.DidRewrap, "/opt/acptap", "proxy", "--store", "/tapes", "--name", "y", "--")
	unwrap(t, s, "cursor", path, "x")
	if got := read(t, path); got != text {
		t.Errorf("got\n%s\nwant\n%s", got, text)
	}

	path = write(t, s, "mcp.json", "{}")
	add(t, s, "cursor", path, "n", "agent")
	s.Wrapper = settings.Wrapper{Recorder: []string{"/usr/bin/acptap", "proxy"}}
	wrap(t, s, "cursor", path, "n")
	if e := entry(t, s, "cursor", path, "n"); e.Acptap[0] != "/usr/bin/acptap" {
		t.Errorf("an added entry calls %q", e.Acptap)
	}
	unwrap(t, s, "cursor", path, "n")
	if got := read(t, path); got != "{}" {
		t.Errorf("an added entry leaves\n%s", got)
	}
}

// An entry that was wrapped by hand is unwrapped, too.
func TestUnwrapByHand(t *testing.T) {
	for text, want := range map[string]string{
		`{"mcpServers": {"x": {"command": "acptap", "args": ["proxy", "--name", "x", "--", "npx", "-y", "server"]}}}`:               `{"mcpServers": {"x": {"command": "npx", "args": ["-y", "server"]}}}`,
		`{"mcpServers": {"x": {"command": "C:\\acptap.exe", "args": ["--store", "s", "proxy", "--", "a" /* b */, ]}}}`:              `{"mcpServers": {"x": {"command": "a", "args": [ ]}}}`,
		`{"mcpServers": {"x": {"command": "/opt/acptap-1.0", "args": ["proxy", "--sessions", "--protocol=mcp", "--", "a", "--"]}}}`: `{"mcpServers": {"x": {"command": "a", "args": ["--"]}}}`,
	} {
		s := setup(t)
		path := write(t, s, "mcp.json", text)
		unwrap(t, s, "cursor", path, "x")
		if got := read(t, path); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

func TestStatus(t *testing.T) {
	s := setup(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// A program called acptap that can be started: this one, by another name.
	bin := filepath.Join(s.Machine.Home, "bin", "acptap")
	write(t, s, "bin/acptap", "")
	if err := os.Remove(bin); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, bin); err != nil {
		t.Skip(err)
	}
	s.Wrapper.Recorder, s.Programs = programs(bin)
	path := write(t, s, ".cursor/mcp.json", `{"mcpServers": {"x": {"command": "a"}, "y": {"command": "b"}, "z": {"command": "c"}}}`)
	wrap(t, s, "cursor", path, "x")
	s.Wrapper.Recorder, s.Programs = programs(filepath.Join(s.Machine.Home, "gone", "acptap"))
	wrap(t, s, "cursor", path, "y")
	other := write(t, s, "elsewhere.json", `{"mcpServers": {"o": {"command": "d"}}}`)
	wrap(t, s, "cursor", other, "o")
	s.Wrapper.Recorder, s.Programs = programs(bin)
	wrap(t, s, "cursor", path, "z")
	write(t, s, ".cursor/mcp.json", strings.Replace(read(t, path), `"z"`, `"zz"`, 1)) // z is lost, and zz wrapped by hand
	list, err := s.Status()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, st := range list {
		got[st.Name] = st.What
		if st.Bad != strings.Contains(st.What, "cannot be started") || st.IsLost() != (st.Name == "z") {
			t.Errorf("%+v", st)
		}
	}
	for name, want := range map[string]string{"x": "is wrapped", "y": "cannot be started", "zz": "is wrapped", "o": "cannot be started", "z": "is wrapped no longer"} {
		if !strings.Contains(got[name], want) {
			t.Errorf("%s %s, want %s", name, got[name], want)
		}
	}
	if len(list) != 5 {
		t.Errorf("%d entries: %v", len(list), got)
	}
	s.Wrapper.Recorder, s.Programs = programs(write(t, s, "new/acptap", ""))
	list, _ = s.Status()
	for _, st := range list {
		if st.Name == "x" && (st.Bad || !strings.Contains(st.What, "another acptap")) {
			t.Errorf("from another acptap: %+v", st)
		}
		if st.IsLost() {
			if err := s.Forget(st); err != nil {
				t.Error(err)
			}
		}
	}
	if list, _ = s.Status(); len(list) != 4 {
		t.Errorf("after one is forgotten: %+v", list)
	}
}

// What Claude Code keeps in its state is left alone: there are commands for it.
func TestClaudeState(t *testing.T) {
	s := setup(t)
	s.Machine.Dir = filepath.Join(s.Machine.Home, "project")
	state := `{"numStartups": 3, "mcpServers": {"u": {"type": "stdio", "command": "a", "args": ["it's"], "env": {"K": "V"}}}, "projects": {"` + s.Machine.Dir + `": {"mcpServers": {"l": {"command": "b"}}}}}`
	path := write(t, s, ".claude.json", state)
	if got, err := s.FileFor(client(t, "claude-code"), false); err != nil || got != path {
		t.Errorf("got %s, %v, want %s", got, err, path)
	}
	for name, want := range map[string]string{
		"u": "claude mcp remove --scope user u\nclaude mcp add-json --scope user u '{\"args\":[\"proxy\",\"--name\",\"u\",\"--\",\"a\",\"it'\\''s\"],\"command\":\"/go/bin/acptap\",\"env\":{\"K\":\"V\"},\"type\":\"stdio\"}'\n",
		"l": "claude mcp remove --scope local l\nclaude mcp add-json --scope local l '{\"args\":[\"proxy\",\"--name\",\"l\",\"--\",\"b\"],\"command\":\"/go/bin/acptap\",\"type\":\"stdio\"}'\n",
	} {
		_, err := try(s, func() (*settings.Change, error) { return s.Wrap(client(t, "claude-code"), path, []string{name}, false) })
		var instead *settings.PasteError
		if !errors.As(err, &instead) || instead.Lines != want {
			t.Errorf("%s: %v\n%+v\nwant\n%s", name, err, instead, want)
		}
	}
	if read(t, path) != state {
		t.Errorf("it was changed: %s", read(t, path))
	}
	unchangedStore(t, s)
	write(t, s, ".claude.json", `{"mcpServers": {"u": {"command": "acptap", "args": ["proxy", "--", "a"]}}}`)
	_, err := try(s, func() (*settings.Change, error) {
		return s.Unwrap(client(t, "claude-code"), path, []string{"u"}, false)
	})
	var instead *settings.PasteError
	if !errors.As(err, &instead) || !strings.Contains(instead.Lines, `'{"args":[],"command":"a","type":"stdio"}'`) {
		t.Errorf("unwrapped: %v, %+v", err, instead)
	}
	project := write(t, s, "project/.mcp.json", "{}")
	if got, err := s.FileFor(client(t, "claude-code"), false); err != nil || got != project {
		t.Errorf("with a project's file: got %s, %v, want %s", got, err, project)
	}
}

// programs returns how an acptap at path records, and where it is.
func programs(path string) (recorder, all []string) { return []string{path, "proxy"}, []string{path} }
