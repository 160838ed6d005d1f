package settings_test

import (
	"path/filepath"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/settings"
)

// The files of clients are where each client looks, on each system.
func TestFileFor(t *testing.T) {
	for _, tt := range []struct {
		os, client string
		env        map[string]string
		want       string
	}{
		{"linux", "zed", nil, "~/.config/zed/settings.json"},
		{"linux", "zed", map[string]string{"XDG_CONFIG_HOME": "/c"}, "/c/zed/settings.json"},
		{"linux", "zed", map[string]string{"XDG_CONFIG_HOME": "relative"}, "~/.config/zed/settings.json"},
		{"linux", "zed", map[string]string{"FLATPAK_XDG_CONFIG_HOME": "/f", "XDG_CONFIG_HOME": "/c"}, "/f/zed/settings.json"},
		{"darwin", "zed-mcp", map[string]string{"XDG_CONFIG_HOME": "/c"}, "~/.config/zed/settings.json"},
		{"windows", "zed", map[string]string{"APPDATA": "/AppData"}, "/AppData/Zed/settings.json"},
		{"windows", "zed", nil, "~/AppData/Roaming/Zed/settings.json"},
		{"linux", "jetbrains", nil, "~/.jetbrains/acp.json"},
		{"linux", "vscode", nil, "~/.config/Code/User/settings.json"},
		{"darwin", "vscode-mcp", nil, "~/Library/Application Support/Code/User/mcp.json"},
		{"windows", "vscode-mcp", map[string]string{"APPDATA": "/AppData"}, "/AppData/Code/User/mcp.json"},
		{"linux", "acpx", nil, "~/.acpx/config.json"},
		{"linux", "claude-desktop", nil, "~/.config/Claude/claude_desktop_config.json"},
		{"darwin", "claude-desktop", nil, "~/Library/Application Support/Claude/claude_desktop_config.json"},
		{"linux", "claude-code", nil, "~/project/.mcp.json"},
		{"linux", "cursor", nil, "~/.cursor/mcp.json"},
		{"linux", "windsurf", nil, "~/.codeium/windsurf/mcp_config.json"},
		{"linux", "copilot", nil, "~/.copilot/mcp-config.json"},
		{"linux", "copilot", map[string]string{"COPILOT_HOME": "/h"}, "/h/mcp-config.json"},
		{"linux", "opencode", map[string]string{"OPENCODE_CONFIG": "/o.json"}, "/o.json"},
	} {
		s := setup(t)
		home := s.Machine.Home
		s.Machine.OS, s.Machine.Dir = tt.os, filepath.Join(home, "project")
		s.Machine.Env = func(name string) string { return tt.env[name] }
		want := tt.want
		if want[0] == '~' {
			want = filepath.Join(home, want[1:])
		}
		if got, err := s.FileFor(client(t, tt.client), false); err != nil || got != want {
			t.Errorf("%s on %s with %v: %s, %v, want %s", tt.client, tt.os, tt.env, got, err, want)
		}
	}
}

// A file that exists comes before one that does not, and Flathub's Zed is found.
func TestFilesThatExist(t *testing.T) {
	s := setup(t)
	flatpak := write(t, s, ".var/app/dev.zed.Zed/config/zed/settings.json", "{}")
	if got, err := s.FileFor(client(t, "zed"), false); err != nil || got != flatpak {
		t.Errorf("got %s, %v, want %s", got, err, flatpak)
	}
	insiders := write(t, s, ".config/Code - Insiders/User/mcp.json", "{}")
	if got, err := s.FileFor(client(t, "vscode-mcp"), false); err != nil || got != insiders {
		t.Errorf("got %s, %v, want %s", got, err, insiders)
	}
}

// The project's settings are looked for up to the top of the repository.
func TestProjectFile(t *testing.T) {
	s := setup(t)
	file := write(t, s, "repo/.mcp.json", "{}")
	write(t, s, "repo/.git/HEAD", "")
	write(t, s, "repo/a/b/x", "")
	write(t, s, ".cursor/mcp.json", "{}")
	s.Machine.Dir = filepath.Join(s.Machine.Home, "repo", "a", "b")
	if got, err := s.FileFor(client(t, "claude-code"), false); err != nil || got != file {
		t.Errorf("got %s, %v, want %s", got, err, file)
	}
	if got, err := s.FileFor(client(t, "cursor"), true); err != nil || got != filepath.Join(s.Machine.Dir, ".cursor", "mcp.json") {
		t.Errorf("above the repository there is nothing: got %s, %v", got, err)
	}
	acpx := filepath.Join(s.Machine.Dir, ".acpxrc.json")
	write(t, s, "repo/.acpxrc.json", "{}")
	if got, err := s.FileFor(client(t, "acpx"), true); err != nil || got != acpx {
		t.Errorf("acpx looks in its directory only: got %s, %v, want %s", got, err, acpx)
	}
	if _, err := s.FileFor(client(t, "jetbrains"), true); err == nil {
		t.Error("JetBrains has a project file")
	}
}

// Names of clients are plain words, each once, and have what the commands print.
func TestClients(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range settings.Clients() {
		if seen[c.Name] || c.Title == "" || c.IsFile() && c.Next == "" {
			t.Errorf("%+v", c)
		}
		seen[c.Name] = true
		if !c.IsFile() && c.Paste("n", []string{`/a "b"\c`, "proxy"}) == "" {
			t.Errorf("%s: no lines", c.Name)
		}
	}
	for name, want := range map[string]string{"zedd": "did you mean zed?", "code": "vscode-mcp or claude-code", "ed": "zed", "vim": "nvim", "sublime": "known are"} {
		if _, err := settings.Find(name); err == nil || !contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
