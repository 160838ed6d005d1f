// Package settings puts acptap before the agents and MCP servers in the settings
// files of their clients, and takes it away again.
//
// A file is never formatted: its bytes are spliced at the offsets of its syntax
// tree, so comments, blanks, trailing commas and line ends stay, and taking acptap
// away gives the same bytes as before. What comes out is parsed again, and compared
// with what was meant, before it is written. A file is replaced in one step, and
// only if it still is what was read.
//
// It reads and writes JSON with comments and trailing commas. It does not write
// Lua, Lisp or TOML: for these there are lines to paste.
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

// A place is where a file is on some systems: a path that begins with ~, with
// $VARIABLE, or with CONFIG or APPDATA, which config and appData return.
type place struct {
	os   string // windows, darwin, linux (which means all others), or all if empty
	path string
}

// resolve returns the path of a place, and false if there is none on this machine.
func (m Machine) resolve(p place) (string, bool) {
	system := m.OS
	if system != "windows" && system != "darwin" {
		system = "linux"
	}
	if p.os != "" && p.os != system {
		return "", false
	}
	first, rest, _ := strings.Cut(p.path, "/")
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

// config returns $XDG_CONFIG_HOME, else ~/.config. A relative one is ignored, as
// the XDG specification says.
func (m Machine) config() string {
	if dir := m.Env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(m.Home, ".config")
}

// appData returns the directory that Electron and Rust's dirs call that of the
// user's configuration.
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

// userFiles returns where a client's settings may be, the likeliest first.
func (m Machine) userFiles(c *Client) (files []string) {
	for _, p := range c.user {
		if path, ok := m.resolve(p); ok {
			files = append(files, path)
		}
	}
	return files
}

// projectFile returns the file with a client's settings in the project, and where
// it would be if there is none. A project ends where its repository or the home
// directory does.
func (m Machine) projectFile(c *Client) (path string, exists bool) {
	if len(c.project) == 0 {
		return "", false
	}
	for dir := m.Dir; ; dir = filepath.Dir(dir) {
		for _, name := range c.project {
			if path := filepath.Join(dir, filepath.FromSlash(name)); isFile(path) {
				return path, true
			}
		}
		_, err := os.Lstat(filepath.Join(dir, ".git"))
		if err == nil || c.projectHere || dir == m.Home || dir == filepath.Dir(dir) {
			return filepath.Join(m.Dir, filepath.FromSlash(c.project[0])), false
		}
	}
}

// isFile reports whether there is something at path that is no directory, even a
// link that leads nowhere.
func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !info.IsDir()
}

// Short returns a path as people write it: relative in the working directory, with
// ~ for the home directory.
func (m Machine) Short(path string) string {
	if rel, err := filepath.Rel(m.Dir, path); err == nil && filepath.IsLocal(rel) && m.Dir != m.Home {
		return rel
	}
	if rel, err := filepath.Rel(m.Home, path); err == nil && filepath.IsLocal(rel) {
		return filepath.Join("~", rel)
	}
	return path
}
