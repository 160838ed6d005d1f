package settings

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// An agent in Zed's registry has no command in the settings. Zed takes it from an index
// on disk, and unpacks binaries next to that. Source:
// crates/project/src/agent_registry_store.rs and agent_server_store.rs of
// github.com/zed-industries/zed

// A registered agent is an entry of that index.
type registered struct {
	ID           string `json:"id"`
	Name         string `json:"name"`
	Distribution struct {
		Binary map[string]target `json:"binary"`
		Npx    *packaged         `json:"npx"`
		Uvx    *packaged         `json:"uvx"`
	} `json:"distribution"`
}

type target struct {
	Cmd  string            `json:"cmd"` // relative to the unpacked archive
	Args []string          `json:"args"`
	Env  map[string]string `json:"env"`
}

type packaged struct {
	Package string            `json:"package"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env"`
}

// addRegistered adds an entry that records an agent of the registry, whose own entry has no
// command to change.
func (s *Setup) addRegistered(ch *Change, e Entry) (Step, error) {
	name := wrappedName(e.Name)
	path := append(slices.Clone(e.path[:len(e.path)-1]), name)
	if ch.doc.at(path...) != nil {
		return Step{Did: DidNothing, Why: quote(name) + " records it"}, nil
	}
	words, env, err := s.registered(e.Name)
	if err != nil {
		return Step{}, fmt.Errorf("it comes from the registry, and %w; name its command: acptap wrap %s --new %s -- COMMAND", err, ch.Client.Name, shellWord(name))
	}
	raw := ""
	if v := value(e.value, "env"); v != nil && len(env) == 0 {
		raw = string(ch.doc.of(v))
	} else if raw, err = mergeEnv(env, e); err != nil {
		return Step{}, err
	}
	return s.add(ch, name, s.Wrapper.Words(e.Name), words, raw)
}

// mergeEnv merges the variables of the registry with those of the settings, which win.
func mergeEnv(env map[string]string, e Entry) (string, error) {
	all := map[string]string{}
	for name, v := range env {
		all[name] = v
	}
	if v := value(e.value, "env"); v != nil {
		for _, m := range membersOf(v) {
			all[text(&m.Name)] = text(&m.Value)
		}
	}
	if len(all) == 0 {
		return "{}", nil
	}
	data, err := json.Marshal(all)
	return string(data), err
}

// registered returns the command and environment of an agent of the registry.
func (s *Setup) registered(name string) ([]string, map[string]string, error) {
	dir := filepath.Join(s.Machine.zedData(), "external_agents", "registry")
	data, err := os.ReadFile(filepath.Join(dir, "registry.json"))
	if err != nil {
		return nil, nil, fmt.Errorf("the copy of it that Zed keeps cannot be read (%w)", err)
	}
	var index struct {
		Agents []registered `json:"agents"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, nil, fmt.Errorf("the copy of it that Zed keeps cannot be read: %w", err)
	}
	i := slices.IndexFunc(index.Agents, func(r registered) bool { return r.ID == name })
	if i < 0 {
		i = slices.IndexFunc(index.Agents, func(r registered) bool { return strings.EqualFold(r.Name, name) })
	}
	if i < 0 {
		return nil, nil, errors.New("the copy of it that Zed keeps does not have that")
	}
	return index.Agents[i].command(dir, s.Machine.platform())
}

// command returns the command that starts the agent: the unpacked binary, otherwise its
// package.
func (r registered) command(dir, platform string) ([]string, map[string]string, error) {
	d := r.Distribution
	if t, ok := d.Binary[platform]; ok {
		if path := newest(filepath.Join(dir, r.ID), t.Cmd); path != "" {
			return append([]string{path}, t.Args...), t.Env, nil
		}
	}
	switch {
	case d.Npx != nil:
		return append([]string{"npx", "-y", d.Npx.Package}, d.Npx.Args...), d.Npx.Env, nil
	case d.Uvx != nil:
		return append([]string{"uvx", d.Uvx.Package}, d.Uvx.Args...), d.Uvx.Env, nil
	case len(d.Binary) > 0:
		return nil, nil, errors.New("its program is not unpacked yet (start a thread with it in Zed once)")
	}
	return nil, nil, errors.New("acptap does not know how it is distributed")
}

// newest returns the path of the program that was unpacked last.
func newest(dir, cmd string) (path string) {
	name := filepath.FromSlash(strings.TrimPrefix(strings.ReplaceAll(cmd, `\`, "/"), "./"))
	if !filepath.IsLocal(name) {
		return ""
	}
	versions, _ := os.ReadDir(dir)
	var last int64
	for _, v := range versions {
		info, err := v.Info()
		if err != nil || !v.IsDir() || !isFile(filepath.Join(dir, v.Name(), name)) {
			continue
		}
		if t := info.ModTime().UnixNano(); path == "" || t > last {
			path, last = filepath.Join(dir, v.Name(), name), t
		}
	}
	return path
}

// platform returns the registry's name for the machine.
func (m Machine) platform() string {
	arch := map[string]string{"arm64": "aarch64", "amd64": "x86_64"}[m.Arch]
	return m.OS + "-" + arch
}

// zedData returns the directory of Zed's downloads.
func (m Machine) zedData() string {
	switch m.OS {
	case "darwin":
		return filepath.Join(m.Home, "Library", "Application Support", "Zed")
	case "windows":
		if dir := m.Env("LOCALAPPDATA"); dir != "" {
			return filepath.Join(dir, "Zed")
		}
		return filepath.Join(m.Home, "AppData", "Local", "Zed")
	}
	for _, p := range []string{"$FLATPAK_XDG_DATA_HOME/zed", "$XDG_DATA_HOME/zed"} {
		if dir, ok := m.resolve(p); ok {
			return dir
		}
	}
	data := filepath.Join(m.Home, ".local", "share", "zed")
	flatpak := filepath.Join(m.Home, ".var", "app", "dev.zed.Zed", "data", "zed")
	if _, err := os.Stat(data); err != nil {
		if _, err := os.Stat(flatpak); err == nil {
			return flatpak
		}
	}
	return data
}
