package settings_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/settings"
)

func add(t testing.TB, s *settings.Setup, c, path, name string, agent ...string) []settings.Step {
	t.Helper()
	return do(t, s, func() (*settings.Change, error) { return s.Add(client(t, c), path, name, agent) })
}

// A new entry is laid out like its file, and is gone again with unwrap.
func TestAdd(t *testing.T) {
	for _, tt := range []struct{ name, client, text, want string }{
		{"behind another", "zed", "{\n    \"agent_servers\": {\n        \"a\": {\n            \"command\": \"b\"\n        }\n    }\n}\n",
			"{\n    \"agent_servers\": {\n        \"a\": {\n            \"command\": \"b\"\n        },\n        \"n\": {\n            \"type\": \"custom\",\n            \"command\": \"/go/bin/acptap\",\n            \"args\": [\"proxy\", \"--name\", \"n\", \"--\", \"agent\", \"--acp\"]\n        }\n    }\n}\n"},
		{"a trailing comma and a comment", "cursor", "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"b\"}, // c\n\t},\n}\n",
			"{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"b\"}, // c\n\t\t\"n\": {\n\t\t\t\"command\": \"/go/bin/acptap\",\n\t\t\t\"args\": [\"proxy\", \"--name\", \"n\", \"--\", \"agent\", \"--acp\"]\n\t\t},\n\t},\n}\n"},
		{"a comment without a comma", "cursor", "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"b\"} // c\n  }\n}",
			"{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"b\"}, // c\n    \"n\": {\n      \"command\": \"/go/bin/acptap\",\n      \"args\": [\"proxy\", \"--name\", \"n\", \"--\", \"agent\", \"--acp\"]\n    }\n  }\n}"},
		{"no list", "acpx", "{\n  \"format\": \"text\"\n}\n",
			"{\n  \"format\": \"text\",\n  \"agents\": {\n    \"n\": {\n      \"argv\": [\"/go/bin/acptap\", \"proxy\", \"--name\", \"n\", \"--\", \"agent\", \"--acp\"]\n    }\n  }\n}\n"},
		{"an empty list", "jetbrains", "{\n  \"agent_servers\": {}\n}\n",
			"{\n  \"agent_servers\": {\n    \"n\": {\n      \"command\": \"/go/bin/acptap\",\n      \"args\": [\"proxy\", \"--name\", \"n\", \"--\", \"agent\", \"--acp\"]\n    }\n  }\n}\n"},
		{"one line", "claude-desktop", `{"mcpServers": {"a": {"command": "b"}}}`,
			`{"mcpServers": {"a": {"command": "b"}, "n": { "command": "/go/bin/acptap", "args": ["proxy", "--name", "n", "--", "agent", "--acp"] }}}`},
		{"empty, CRLF", "vscode-mcp", "{\r\n}\r\n",
			"{\r\n  \"servers\": {\r\n    \"n\": {\r\n      \"type\": \"stdio\",\r\n      \"command\": \"/go/bin/acptap\",\r\n      \"args\": [\"proxy\", \"--name\", \"n\", \"--\", \"agent\", \"--acp\"]\r\n    }\r\n  }\r\n}\r\n"},
		{"opencode 2", "opencode", `{"mcp": {"servers": {}}}`,
			`{"mcp": {"servers": { "n": { "type": "local", "command": ["/go/bin/acptap", "proxy", "--name", "n", "--", "agent", "--acp"] } }}}`},
		{"copilot", "copilot", "{}",
			"{\n  \"mcpServers\": {\n    \"n\": {\n      \"type\": \"local\",\n      \"tools\": [\"*\"],\n      \"command\": \"/go/bin/acptap\",\n      \"args\": [\"proxy\", \"--name\", \"n\", \"--\", \"agent\", \"--acp\"]\n    }\n  }\n}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := setup(t)
			path := write(t, s, "settings.json", tt.text)
			add(t, s, tt.client, path, "n", "agent", "--acp")
			if got := read(t, path); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if e := entry(t, s, tt.client, path, "n"); e.State != settings.Wrapped || !slices.Equal(e.Agent, []string{"agent", "--acp"}) {
				t.Errorf("the entry is %+v", e)
			}
			if _, err := try(s, func() (*settings.Change, error) { return s.Add(client(t, tt.client), path, "n", []string{"x"}) }); err == nil || !strings.Contains(err.Error(), "already") {
				t.Errorf("added twice: %v", err)
			}
			unwrap(t, s, tt.client, path, "n")
			if got := read(t, path); got != tt.text {
				t.Errorf("unwrapped: got\n%s\nwant\n%s", got, tt.text)
			}
		})
	}
}

// Entries that were added go in any order, and leave what others have written.
func TestRemoveAddedInAnyOrder(t *testing.T) {
	const text = "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"b\"}\n  }\n}\n"
	for _, order := range [][]string{{"m", "n"}, {"n", "m"}} {
		s := setup(t)
		path := write(t, s, "mcp.json", text)
		add(t, s, "cursor", path, "m", "one")
		add(t, s, "cursor", path, "n", "two")
		for _, name := range order {
			unwrap(t, s, "cursor", path, name)
		}
		if got := read(t, path); got != text {
			t.Errorf("%v: got\n%s\nwant\n%s", order, got, text)
		}
	}
	s := setup(t)
	path := write(t, s, "mcp.json", "{}")
	add(t, s, "cursor", path, "n", "two")
	write(t, s, "mcp.json", strings.Replace(read(t, path), `"n"`, `"other": {"command": "c"}, "n"`, 1))
	unwrap(t, s, "cursor", path, "n")
	if e := entry(t, s, "cursor", path, "other"); !slices.Equal(e.Agent, []string{"c"}) {
		t.Errorf("the other entry is %+v", e)
	}
}

// A file that acptap created is removed when its entries are.
func TestAddFile(t *testing.T) {
	s := setup(t)
	path := filepath.Join(s.Machine.Home, ".acpx", "config.json")
	if _, err := try(s, func() (*settings.Change, error) { return s.Add(client(t, "acpx"), path, "n", []string{"agent"}) }); err == nil || !strings.Contains(err.Error(), "mkdir ") {
		t.Fatalf("without a directory: %v", err)
	}
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	add(t, s, "acpx", path, "n", "agent")
	if want := "{\n  \"agents\": {\n    \"n\": {\n      \"argv\": [\"/go/bin/acptap\", \"proxy\", \"--name\", \"n\", \"--\", \"agent\"]\n    }\n  }\n}\n"; read(t, path) != want {
		t.Errorf("got\n%s\nwant\n%s", read(t, path), want)
	}
	unwrap(t, s, "acpx", path, "n")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

// An agent of Zed's registry gets a second entry, with the command that Zed's own
// copy of the registry tells.
func TestRegistry(t *testing.T) {
	const text = `{
  "agent_servers": {
    "npm-agent": { "type": "registry", "env": { "K": "1" /* one */ } },
    "py-agent": { "type": "extension" },
    "Bin Agent": { "type": "registry", "env": { "B": "2" } },
    "gone": { "type": "registry" },
    "gemini": { "ignore_system_version": false }
  }
}
`
	const index = `{"version": "1", "agents": [
  {"id": "npm-agent", "name": "N", "version": "1.0.0", "distribution": {"npx": {"package": "@x/agent@1.0.0", "args": ["--acp"]}}},
  {"id": "py-agent", "name": "P", "version": "1.0.0", "distribution": {"uvx": {"package": "py-agent==2", "env": {"P": "q"}}}},
  {"id": "bin-agent", "name": "bin agent", "version": "2.0.0", "distribution": {
    "npx": {"package": "no"}, "binary": {"linux-x86_64": {"archive": "https://example.com/a.tgz", "cmd": "./bin/agent", "args": ["acp"], "env": {"A": "1"}}}}}
], "extensions": []}`
	s := setup(t)
	path := write(t, s, "settings.json", text)
	for _, name := range []string{"npm-agent", "gone"} {
		_, err := try(s, func() (*settings.Change, error) { return s.Wrap(client(t, "zed"), path, []string{name}, false) })
		if err == nil || !strings.Contains(err.Error(), "--new '"+name+" (acptap)' -- COMMAND") {
			t.Errorf("without the registry: %v", err)
		}
	}
	registry := ".local/share/zed/external_agents/registry/"
	write(t, s, registry+"registry.json", index)
	write(t, s, registry+"bin-agent/v_1.0.0_x/bin/agent", "old")
	write(t, s, registry+"bin-agent/v_2.0.0_y/bin/agent", "new")
	write(t, s, registry+"bin-agent/v_3.0.0_z/README", "no program")
	now := entryTime(t, filepath.Join(s.Machine.Home, registry, "bin-agent/v_1.0.0_x"))
	if err := os.Chtimes(filepath.Join(s.Machine.Home, registry, "bin-agent/v_2.0.0_y"), now.Add(1e9), now.Add(1e9)); err != nil {
		t.Fatal(err)
	}
	steps := wrap(t, s, "zed", path)
	for i, want := range []settings.Did{settings.DidAdd, settings.DidAdd, settings.DidAdd, settings.DidSkip, settings.DidSkip} {
		if steps[i].Did != want {
			t.Errorf("%s: %s (%s), want %s", steps[i].Entry, steps[i].Did, steps[i].Why, want)
		}
	}
	for name, want := range map[string][]string{
		"npm-agent (acptap)": {"npx", "-y", "@x/agent@1.0.0", "--acp"},
		"py-agent (acptap)":  {"uvx", "py-agent==2"},
		"Bin Agent (acptap)": {filepath.Join(s.Machine.Home, registry, "bin-agent/v_2.0.0_y/bin/agent"), "acp"},
	} {
		if e := entry(t, s, "zed", path, name); !slices.Equal(e.Agent, want) || e.State != settings.Wrapped {
			t.Errorf("%s: got %q, want %q", name, e.Agent, want)
		}
	}
	for _, want := range []string{`"env": { "K": "1" /* one */ }`, `"env": {"P":"q"}`, `"env": {"A":"1","B":"2"}`} {
		if !strings.Contains(read(t, path), want) {
			t.Errorf("no %s in\n%s", want, read(t, path))
		}
	}
	once := read(t, path)
	wrap(t, s, "zed", path)
	if read(t, path) != once {
		t.Errorf("wrapped twice:\n%s", read(t, path))
	}
	unwrap(t, s, "zed", path, "py-agent (acptap)", "npm-agent (acptap)", "Bin Agent (acptap)")
	if got := read(t, path); got != text {
		t.Errorf("unwrapped: got\n%s", got)
	}
}
