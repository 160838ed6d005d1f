package settings

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/proxy/nest"
)

// A Wrapper is the command to insert before an agent's.
type Wrapper struct {
	Recorder []string // acptap proxy, or acptap-proxy, by its absolute path
	Store    string   // the directory of the store; empty for the default one
	With     []string // flags of acptap proxy; nil keeps the present ones
	Fresh    []string // the same for an entry that was not wrapped before, if With is nil
}

// Words returns the words to insert before the command of the agent called name.
func (w Wrapper) Words(name string) []string {
	words, with := slices.Clone(w.Recorder), w.With
	if with == nil {
		with = w.Fresh
	}
	if w.Store != "" {
		words = append(words, "--store", w.Store)
	}
	if !slices.ContainsFunc(with, func(f string) bool { return f == "--name" || strings.HasPrefix(f, "--name=") }) {
		words = append(words, "--name", name)
	}
	return slices.Concat(words, with, []string{"--"})
}

// flagsAt returns the index in a command of the first flag of acptap proxy or
// acptap-proxy, not counting --store before the name proxy; 0 if the program is neither.
func flagsAt(words []string) int {
	if len(words) < 2 {
		return 0
	}
	name := nest.ProgramName(words[0])
	if strings.HasPrefix(name, string(cli.Proxy)) {
		return 1
	}
	proxy := slices.IndexFunc(words, func(w string) bool { return slices.Contains(cli.ProxyNames, w) })
	if !strings.HasPrefix(name, string(cli.Acptap)) || // acptap-1.0 is one, too
		proxy != 1 && proxy != 2 && proxy != 3 || !strings.HasPrefix(words[1], "--store") && proxy != 1 {
		return 0
	}
	return proxy + 1
}

// own returns the number of words of a command that are acptap's, up to and including --.
// It returns 0 if the program is not acptap, and -1 if no -- separates the agent's
// command.
func own(words []string) int {
	at := flagsAt(words)
	if at == 0 {
		return 0
	}
	flag := false
	for i, w := range words[at:] {
		switch {
		case w == "--" && at+i+1 < len(words):
			return at + i + 1
		case strings.HasPrefix(w, "-"):
			flag = !strings.Contains(w, "=")
		case flag:
			flag = false // its value
		default:
			return -1
		}
	}
	return -1
}

// others lists other tools that record. If they and acptap were removed in the wrong
// order, the remaining entry would match none of its former versions.
var others = []string{"mcpsnoop", "mcp-snoop", "acp-devtools", "acp-debug", "mcp-log-proxy"}

// otherTool returns the recording tool that a command starts before the agent, possibly
// through npx or uvx, or an empty string.
func otherTool(words []string) string {
	for i, w := range words {
		if name := nest.ProgramName(w); slices.Contains(others, name) {
			return name
		}
		if i == 0 && !slices.Contains([]string{"npx", "npx.cmd", "uvx", "bunx", "pipx"}, nest.ProgramName(w)) {
			return ""
		}
	}
	return ""
}

// expand returns a program with ~ replaced by the home directory.
func expand(program, home string) string {
	if rest, ok := strings.CutPrefix(program, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return program
}
