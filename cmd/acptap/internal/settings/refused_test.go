package settings_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/settings"
)

func entryTime(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}

// What cannot be wrapped is refused with what to do, and not a byte is changed.
func TestRefused(t *testing.T) {
	for _, tt := range []struct{ name, client, text, want string }{
		{"broken", "cursor", "{\n  \"mcpServers\": {\n    \"x\": {\"command\" \"a\"}\n", "line 3, column 21"},
		{"a quote too few", "cursor", `{"mcpServers": {"x": {"command": "a}}}`, "unexpected EOF"},
		{"JSON5: single quotes", "cursor", "{'mcpServers': {x: {command: 'a'}}}", "line 1, column 2"},
		{"JSON5: a name without quotes", "cursor", "{\n mcpServers: {}}", "line 2, column 2"},
		{"empty", "cursor", " \n", "it is empty"},
		{"a list", "cursor", "[]", "holds no object"},
		{"UTF-16", "cursor", "\xFF\xFE{\x00}\x00", "UTF-16"},
		{"too deep", "cursor", strings.Repeat("[", 5000), "levels deep"},
		{"too many values", "cursor", `{"a": [` + strings.Repeat("1,", 300_000) + `1], "mcpServers": {"x": {"command": "a"}}}`, "values, which no client writes"},
		{"too many members", "cursor", "{/* \" */" + strings.Repeat(`"":"",`, 150_000) + `"mcpServers": {"x": {"command": "a"}}}`, "values, which no client writes"},
		{"no such entry", "cursor", `{"mcpServers": {"a": {"command": "b"}, "c": {}}}`, `no entry "x"; there are "a", "c"`},
		{"no entries", "cursor", `{}`, `no entry "x"; it has none`},
		{"a URL", "cursor", `{"mcpServers": {"x": {"url": "https://example.com"}}}`, "reached by a URL"},
		{"a URL, with a type", "vscode-mcp", `{"servers": {"x": {"type": "http", "url": "https://example.com", "command": "a"}}}`, "reached by a URL"},
		{"a URL of Windsurf", "windsurf", `{"mcpServers": {"x": {"serverUrl": "https://example.com"}}}`, "reached by a URL"},
		{"another tool", "cursor", `{"mcpServers": {"x": {"command": "/usr/bin/mcpsnoop", "args": ["--", "a"]}}}`, "mcpsnoop is before its agent already"},
		{"another tool through npx", "zed", `{"agent_servers": {"x": {"command": "npx", "args": ["acp-devtools", "--", "a"]}}}`, "acp-devtools is before its agent already"},
		{"acptap in a shell", "cursor", `{"mcpServers": {"x": {"command": "env", "args": ["A=1", "acptap", "proxy", "--", "a"]}}}`, "calls acptap already"},
		{"acptap without --", "cursor", `{"mcpServers": {"x": {"command": "acptap", "args": ["proxy", "a"]}}}`, "without a --"},
		{"no command", "zed-mcp", `{"context_servers": {"x": {"source": "extension", "settings": {}}}}`, "no command"},
		{"an entry that is a string", "cursor", `{"mcpServers": {"x": "a"}}`, "no object"},
		{"a command that is a number", "cursor", `{"mcpServers": {"x": {"command": 1}}}`, "no string"},
		{"an empty command", "acpx", `{"agents": {"x": {"argv": []}}}`, "empty"},
		{"arguments that are a string", "cursor", `{"mcpServers": {"x": {"command": "a", "args": "b"}}}`, "no list"},
		{"an argument that is a number", "cursor", `{"mcpServers": {"x": {"command": "a", "args": ["b", 1]}}}`, "argument 2"},
		{"a command line as a program", "cursor", `{"mcpServers": {"x": {"command": "npx -y server"}}}`, "whole command line"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := setup(t)
			path := write(t, s, "settings.json", tt.text)
			_, err := try(s, func() (*settings.Change, error) { return s.Wrap(client(t, tt.client), path, []string{"x"}, false) })
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
			if got := read(t, path); got != tt.text {
				t.Errorf("the file is\n%q", got)
			}
			unchangedStore(t, s)
		})
	}
}

// unchangedStore checks that nothing waits to be undone.
func unchangedStore(t *testing.T, s *settings.Setup) {
	t.Helper()
	if left, err := filepath.Glob(filepath.Join(s.Undo.Dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("left in the store: %v, %v", left, err)
	}
}

// For settings that cannot be read or written, acptap prints lines to paste.
func TestPasteInstead(t *testing.T) {
	s := setup(t)
	path := write(t, s, "mcp.json", "{'mcpServers': {}}")
	_, err := try(s, func() (*settings.Change, error) { return s.Wrap(client(t, "cursor"), path, []string{"x"}, false) })
	var instead *settings.PasteError
	if !errors.As(err, &instead) || !strings.Contains(instead.Lines, `"command": "/go/bin/acptap"`) {
		t.Errorf("broken: %v", err)
	}
	path = write(t, s, "mcp.json", `{"mcpServers": {"x": {"command": "a"}}}`)
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	_, err = try(s, func() (*settings.Change, error) { return s.Wrap(client(t, "cursor"), path, []string{"x"}, false) })
	if !errors.As(err, &instead) || !strings.Contains(err.Error(), "read-only") || instead.Lines != `"x": {"command": "/go/bin/acptap", "args": ["proxy", "--name", "x", "--", "a"]}`+"\n" {
		t.Errorf("read-only: %v, %+v", err, instead)
	}
	unchangedStore(t, s)
}

// A symbolic link is followed and stays; one that leads nowhere, and a file with
// several names, are refused.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links take privileges")
	}
	const text = `{"mcpServers": {"x": {"command": "a"}}}`
	s := setup(t)
	real := write(t, s, "dotfiles/mcp.json", text)
	link := filepath.Join(s.Machine.Home, "mcp.json")
	if err := os.Symlink("dotfiles/mcp.json", link); err != nil {
		t.Fatal(err)
	}
	wrap(t, s, "cursor", link, "x")
	if to, err := os.Readlink(link); err != nil || to != "dotfiles/mcp.json" || read(t, real) == text {
		t.Errorf("the link leads to %q (%v), and its file has %s", to, err, read(t, real))
	}
	unwrap(t, s, "cursor", real, "x") // by the other name
	if read(t, link) != text {
		t.Errorf("unwrapped: %s", read(t, link))
	}
	if err := os.Link(real, filepath.Join(s.Machine.Home, "other.json")); err != nil {
		t.Fatal(err)
	}
	refuse := func(path, want string) {
		t.Helper()
		_, err := try(s, func() (*settings.Change, error) { return s.Wrap(client(t, "cursor"), path, []string{"x"}, false) })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	refuse(link, "has 2 names")
	if read(t, real) != text {
		t.Errorf("it was changed: %s", read(t, real))
	}
	if err := os.RemoveAll(filepath.Dir(real)); err != nil {
		t.Fatal(err)
	}
	refuse(link, "is a link to dotfiles/mcp.json")
	refuse(filepath.Join(s.Machine.Home, "nothing.json"), "there is no ~/nothing.json")
}

// If another program changes a file between reading and writing, its changes are kept.
func TestChangedMeanwhile(t *testing.T) {
	s := setup(t)
	path := write(t, s, "mcp.json", `{"mcpServers": {"x": {"command": "a"}}}`)
	const theirs = `{"mcpServers": {"x": {"command": "theirs"}}}`
	_, err := try(s, func() (*settings.Change, error) {
		ch, err := s.Wrap(client(t, "cursor"), path, []string{"x"}, false)
		write(t, s, "mcp.json", theirs)
		return ch, err
	})
	if err == nil || !strings.Contains(err.Error(), "changed by another program meanwhile") {
		t.Errorf("got %v", err)
	}
	if got := read(t, path); got != theirs {
		t.Errorf("the file is %s", got)
	}
	if left, _ := filepath.Glob(path + "*"); len(left) != 1 {
		t.Errorf("there are %v", left)
	}
	unchangedStore(t, s)
	if _, err := try(s, func() (*settings.Change, error) { return s.Unwrap(client(t, "cursor"), path, []string{"x"}, false) }); err == nil || read(t, path) != theirs {
		t.Errorf("unwrapped: %v, %s", err, read(t, path))
	}
}

// An entry that another program has unwrapped is left unchanged, and its record is removed.
func TestUnwrappedByOthers(t *testing.T) {
	const text = `{"mcpServers": {"x": {"command": "a"}}}`
	s := setup(t)
	path := write(t, s, "mcp.json", text)
	wrap(t, s, "cursor", path, "x")
	write(t, s, "mcp.json", text+"\n")
	if steps := unwrap(t, s, "cursor", path, "x"); steps[0].Did != settings.DidNothing || read(t, path) != text+"\n" {
		t.Errorf("unwrapped: %+v, %s", steps, read(t, path))
	}
	unchangedStore(t, s)
}

// While a file cannot be read, what undoes its wraps is kept.
func TestBrokenMeanwhile(t *testing.T) {
	const text = `{"mcpServers": {"x": {"command": "a"}}}`
	s := setup(t)
	path := write(t, s, "mcp.json", text)
	wrap(t, s, "cursor", path, "x")
	wrapped := read(t, path)
	write(t, s, "mcp.json", wrapped+"}")
	if list, err := s.Status(); err == nil || len(list) > 0 {
		t.Errorf("got %+v, %v", list, err)
	}
	if _, err := try(s, func() (*settings.Change, error) { return s.Unwrap(client(t, "cursor"), path, []string{"x"}, false) }); err == nil || read(t, path) != wrapped+"}" {
		t.Errorf("unwrapped: %v, %s", err, read(t, path))
	}
	write(t, s, "mcp.json", wrapped)
	unwrap(t, s, "cursor", path, "x")
	if read(t, path) != text {
		t.Errorf("unwrapped: %s", read(t, path))
	}
}

// If one of several entries cannot be wrapped, none is.
func TestAllOrNone(t *testing.T) {
	const text = `{"mcpServers": {"a": {"command": "1"}, "u": {"url": "https://example.com"}}}`
	s := setup(t)
	path := write(t, s, "mcp.json", text)
	_, err := try(s, func() (*settings.Change, error) { return s.Wrap(client(t, "cursor"), path, []string{"a", "u"}, false) })
	if err == nil || read(t, path) != text {
		t.Errorf("%v: %s", err, read(t, path))
	}
	steps := wrap(t, s, "cursor", path)
	if steps[0].Did != settings.DidWrap || steps[1].Did != settings.DidSkip || steps[1].Why == "" {
		t.Errorf("all: %+v", steps)
	}
}

// Many acptaps at once wrap and unwrap entries of one file: each change is whole,
// and none is lost.
func TestAtOnce(t *testing.T) {
	var text strings.Builder
	text.WriteString("{\n  \"mcpServers\": {\n")
	names := strings.Split("abcdefgh", "")
	for _, name := range names {
		text.WriteString("    \"" + name + "\": {\"command\": \"" + name + "\"},\n")
	}
	text.WriteString("  }\n}\n")
	s := setup(t)
	path := write(t, s, "mcp.json", text.String())
	each := func(plan func(*settings.Client, string, []string, bool) (*settings.Change, error)) {
		var all sync.WaitGroup
		for _, name := range append(names, names...) { // each twice: one of both finds it done
			all.Go(func() {
				if _, err := try(s, func() (*settings.Change, error) { return plan(client(t, "cursor"), path, []string{name}, false) }); err != nil && !strings.Contains(err.Error(), "acptap is not before it") {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	each(s.Wrap)
	for _, name := range names {
		if e := entry(t, s, "cursor", path, name); e.State != settings.Wrapped || e.Agent[0] != name {
			t.Errorf("%s is %s: %q", name, e.State, e.Agent)
		}
	}
	each(s.Unwrap)
	if got := read(t, path); got != text.String() {
		t.Errorf("got\n%s\nwant\n%s", got, text.String())
	}
	unchangedStore(t, s)
}

// TestLeftByKilled: files that a killed acptap left next to the settings and the records,
// both with the user's tokens in them, are removed with the next change.
func TestLeftByKilled(t *testing.T) {
	s := setup(t)
	path := write(t, s, ".cursor/mcp.json", `{"mcpServers": {"x": {"command": "a"}}}`)
	records, err := filepath.Rel(s.Machine.Home, s.Undo.Dir)
	if err != nil {
		t.Fatal(err)
	}
	hour := time.Now().Add(-time.Hour)
	leave := func(names ...string) (paths []string) {
		for _, name := range names {
			path := write(t, s, name, "token")
			if err := os.Chtimes(path, hour, hour); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, path)
		}
		return paths
	}
	old := leave(".cursor/mcp.json.new-123", records+"/0123456789abcdef.json.new-1", records+"/0123456789abcdef.before.new-2")
	kept := leave(".cursor/mcp.json.new-1x", ".cursor/other.json.new-123")
	kept = append(kept, write(t, s, ".cursor/mcp.json.new-9", "being written"))
	wrap(t, s, "cursor", path)
	for _, name := range old {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range kept {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}
