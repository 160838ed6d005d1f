// Package nest changes which MCP servers an agent starts, in the requests of its client
// that set up a session. A Rewriter has them recorded: the agent starts acptap proxy in the
// place of each, which starts the server. A Substitute has the agent start
// something else in their place, such as what was recorded.
//
// Both change nothing but the entries of mcpServers, and of them the command, its arguments,
// or the URL: all other bytes stay as they are. A server that acptap records already is told
// only whose it is. What the agent says is not looked at. Servers that an agent takes from its
// own settings do not cross this connection, so nothing can be done about them here.
package nest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Rewriter is a proxy.Interceptor for one connection. The fields are set before the
// proxy runs.
type Rewriter struct {
	Recorder  []string // the command that records the servers, which flags and -- follow; its program has an absolute path
	Store     string   // absolute path of the store that it records into
	Tape      string   // id of the tape on which the connection is recorded
	Agent     []string // the command of the agent
	Selection Selection

	// URL returns what an agent is to ask in place of a server's URL, which is of the kind
	// HTTPServer or SSEServer. An error leaves the server as it is; Complain is told.
	// nil: all of them stay as they are.
	URL func(p Parent, kind dialect.ServerKind, url string) (string, error)

	// Complain is told, in one line, of what is not recorded and why. It must not
	// block. The tape is told too.
	Complain func(format string, args ...any)

	// Link makes the links of servers. nil: NewLink.
	Link func() string

	notes   []wire.Frame    // for the tape, about the frame that is looked at
	unknown map[string]bool // what the Selection has that no server was called, and was told
	listener
}

// Intercept handles the next frame of the client. The proxy calls it.
func (r *Rewriter) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame {
	r.notes = r.notes[:0]
	f = rewritten(f, r.rewrite)
	return append(append(out, r.notes...), f)
}

// complain tells of something that is not recorded.
func (r *Rewriter) complain(format string, args ...any) {
	r.Complain(format, args...)
	note := wire.Marked{Rule: &wire.Rule{Name: "--mcp", Did: fmt.Sprintf(format, args...)}}
	r.notes = append(r.notes, wire.Frame{Dir: wire.ClientToAgent, Kind: wire.Mark, Raw: note.JSON()})
}

// rewrite returns a frame with other entries of mcpServers; nil if it stays.
func (r *Rewriter) rewrite(frame []byte) []byte {
	if len(frame) > wire.MaxChecked {
		if m := string(wire.Scan(frame).Method); dialect.RoleOf(dialect.ACP, m).Is(dialect.Opens) {
			r.complain("%s is longer than %d MiB: its MCP servers are not recorded", m, wire.MaxChecked>>20)
		}
		return nil
	}
	list, more := dialect.Servers(frame)
	if more > 0 {
		r.complain("the last %d of %d MCP servers are not recorded: they are too many", more, more+len(list))
	}
	r.compare(list)
	list = slices.DeleteFunc(list, func(s dialect.Server) bool { return !r.selects(s) })
	if len(list) == 0 {
		return nil
	}
	if reason := r.unfit(); reason != "" {
		r.complain("%s: MCP servers are not recorded", reason)
		return nil
	}
	return replaced(frame, list, r.entry)
}

// selects reports whether a server is to be recorded, as far as its kind and its name
// tell.
func (r *Rewriter) selects(s dialect.Server) bool {
	switch s.Kind {
	case dialect.StdioServer:
		return r.Selection.Stdio && r.Selection.named(s.Name)
	case dialect.HTTPServer, dialect.SSEServer:
		return r.URL != nil && r.Selection.HTTP && r.Selection.named(s.Name)
	}
	return false
}

// maxNamed is how many names a complaint lists.
const maxNamed = 8

// compare tells of names in the Selection that none of the servers has, once of each: they
// may be mistyped.
func (r *Rewriter) compare(list []dialect.Server) {
	if len(list) == 0 {
		return
	}
	for _, word := range r.Selection.unknown(list) {
		if r.unknown[word] {
			continue
		}
		var names []string
		for _, s := range list[:min(len(list), maxNamed)] {
			names = append(names, argument(s.Name))
		}
		if more := len(list) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("%d more", more))
		}
		r.complain("%s: the client names no such MCP server, but %s", word, strings.Join(names, ", "))
		if r.unknown == nil {
			r.unknown = map[string]bool{}
		}
		r.unknown[word] = true
	}
}

// elsewhere are programs that run another one where the files and ports of this machine
// are not.
var elsewhere = []string{"docker", "podman", "nerdctl", "ssh", "autossh", "wsl", "kubectl", "devcontainer"}

// unfit returns why no server can be recorded, nothing if one can.
func (r *Rewriter) unfit() string {
	if len(r.Agent) > 0 && !r.Selection.Force {
		if name := programName(r.Agent[0]); slices.Contains(elsewhere, name) {
			return fmt.Sprintf("%s runs the agent where it may not find %s (--mcp=force tries all the same)", name, r.Recorder[0])
		}
	}
	if !utf8.ValidString(r.Recorder[0]) || !utf8.ValidString(r.Store) {
		return fmt.Sprintf("the paths %s and %s are no UTF-8", r.Recorder[0], r.Store) // JSON cannot say them
	}
	if info, err := os.Stat(r.Recorder[0]); err != nil || !info.Mode().IsRegular() {
		return fmt.Sprintf("%s, which would record them, is gone", r.Recorder[0])
	}
	return ""
}

// programName returns the name of a program without its directory and .exe.
func programName(path string) string {
	path = path[strings.LastIndexAny(path, `/\`)+1:]
	return strings.TrimSuffix(strings.ToLower(path), ".exe")
}

// sameFile reports whether a program is the file at path.
func sameFile(program, path string) bool {
	if !filepath.IsAbs(program) {
		return false
	}
	a, err := os.Stat(program)
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}
