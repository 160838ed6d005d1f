// Package settings inserts acptap before agents and MCP servers in the settings files of
// their clients, and removes it again.
//
// It never reformats a file: it splices bytes at the offsets of the syntax tree, so
// comments, blanks, trailing commas and line ends stay, and removing acptap restores the
// same bytes. Before it writes a file, it parses the result and compares it with the
// intended one. It replaces a file atomically, and only if the file has not changed since
// it was read.
//
// It handles JSON with comments and trailing commas. For Lua, Lisp and TOML it only returns
// lines to paste.
package settings

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// A Machine says where the user's files are.
type Machine struct {
	OS, Arch string // as runtime.GOOS and runtime.GOARCH
	Home     string
	Dir      string              // the working directory
	Env      func(string) string // as os.Getenv
}

// This returns the machine that acptap runs on.
func This() (Machine, error) {
	m := Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, Env: os.Getenv}
	var err error
	if m.Home, err = os.UserHomeDir(); err != nil {
		return m, err
	}
	m.Dir, err = os.Getwd()
	return m, err
}

// resolve returns the path of a place in clients.jsonc; ok is false if this machine has
// none. The methods config and appData return CONFIG and APPDATA.
func (m Machine) resolve(place string) (string, bool) {
	system := m.OS
	if system != "windows" && system != "darwin" {
		system = "linux"
	}
	if only, path, ok := strings.Cut(place, ":"); ok {
		if only != system {
			return "", false
		}
		place = path
	}
	first, rest, _ := strings.Cut(place, "/")
	base := ""
	switch {
	case first == "~":
		base = m.Home
	case first == "CONFIG":
		base = m.config()
	case first == "APPDATA":
		base = m.appData()
	case strings.HasPrefix(first, "$"):
		base = m.Env(first[1:])
	}
	if !filepath.IsAbs(base) {
		return "", false
	}
	return filepath.Join(base, filepath.FromSlash(rest)), true
}

// config returns $XDG_CONFIG_HOME, or ~/.config if that is not absolute, as the XDG
// specification requires.
func (m Machine) config() string {
	if dir := m.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(m.Home, ".config")
}

// appData returns the user's configuration directory as Electron and Rust's dirs define it.
func (m Machine) appData() string {
	switch m.OS {
	case "windows":
		if dir := m.Env("APPDATA"); dir != "" {
			return dir
		}
		return filepath.Join(m.Home, "AppData", "Roaming")
	case "darwin":
		return filepath.Join(m.Home, "Library", "Application Support")
	}
	return m.config()
}

// userFiles returns the possible paths of a client's settings, likeliest first.
func (m Machine) userFiles(c *Client) (files []string) {
	for _, p := range c.User {
		if path, ok := m.resolve(p); ok {
			files = append(files, path)
		}
	}
	return files
}

// projectFile returns the path of a client's settings in the project, and whether the file
// exists. A project ends at the root of its repository, or at the home directory.
func (m Machine) projectFile(c *Client) (path string, exists bool) {
	if len(c.Project) == 0 {
		return "", false
	}
	for dir := m.Dir; ; dir = filepath.Dir(dir) {
		for _, name := range c.Project {
			if path := filepath.Join(dir, filepath.FromSlash(name)); isFile(path) {
				return path, true
			}
		}
		_, err := os.Lstat(filepath.Join(dir, ".git"))
		if err == nil || c.ProjectHere || dir == m.Home || dir == filepath.Dir(dir) {
			return filepath.Join(m.Dir, filepath.FromSlash(c.Project[0])), false
		}
	}
}

// isFile reports whether path is anything but a directory; dangling links count.
func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.IsDir()
}

// Short returns a path as people write it: relative to the working directory, or with ~.
func (m Machine) Short(path string) string {
	if rel, err := filepath.Rel(m.Dir, path); err == nil && filepath.IsLocal(rel) && m.Dir != m.Home {
		return rel
	}
	if rel, err := filepath.Rel(m.Home, path); err == nil && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return path
}
