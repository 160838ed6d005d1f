// Package nest changes which MCP servers an agent starts, in the client's requests that set
// up a session. A Rewriter has them recorded: in place of each server the agent starts
// acptap proxy, which starts the server. A Substitute has the agent start something else
// instead, such as a recording.
//
// Both change only the entries of mcpServers, and in these only the command, its arguments,
// or the URL: all other bytes stay as they are. A server that acptap records already is
// only told its parent. Frames of the agent are not read. Servers from an agent's own
// settings do not cross this connection, so this package cannot change them.
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

// A Rewriter is a proxy.Interceptor for one connection. Set the fields before the proxy
// runs.
type Rewriter struct {
	Recorder  []string // the command that records a server, followed by flags and --; its program is an absolute path
	Store     string   // absolute path of the store that it records into
	Tape      string   // id of the tape that records the connection
	Agent     []string // the command of the agent
	Selection Selection

	// URL returns the URL that the agent should use in place of a server's; the server is
	// of the kind HTTPServer or SSEServer. On error the server stays as it is, and
	// Complain is called. If URL is nil, all servers with a URL stay as they are.
	URL func(p Parent, kind dialect.ServerKind, url string) (string, error)

	// Complain reports, in one line, what is not recorded and why. It must not block. The
	// same is noted on the tape.
	Complain func(format string, args ...any)

	// Link makes the links of servers; nil is NewLink.
	Link func() string

	notes   []wire.Frame    // for the tape, about the current frame
	unknown map[string]bool // names in the Selection that no server had and that were already reported
	listener
}

// Intercept handles the next frame of the client. The proxy calls it.
func (r *Rewriter) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame {
	r.notes = r.notes[:0]
	f = rewritten(f, r.rewrite)
	return append(append(out, r.notes...), f)
}

// complain reports something that is not recorded.
func (r *Rewriter) complain(format string, args ...any) {
	r.Complain(format, args...)
	note := wire.Marked{Rule: &wire.Rule{Name: "--mcp", Did: fmt.Sprintf(format, args...)}}
	r.notes = append(r.notes, wire.Frame{Dir: wire.ClientToAgent, Kind: wire.Mark, Raw: note.JSON()})
}

// rewrite returns a frame with its mcpServers entries replaced, or nil if nothing
// changes.
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

// selects reports whether to record a server, judging by its kind and name.
func (r *Rewriter) selects(s dialect.Server) bool {
	switch s.Kind {
	case dialect.StdioServer:
		return r.Selection.Stdio && r.Selection.named(s.Name)
	case dialect.HTTPServer, dialect.SSEServer:
		return r.URL != nil && r.Selection.HTTP && r.Selection.named(s.Name)
	}
	return false
}

// maxNamed limits the names that a complaint lists.
const maxNamed = 8

// compare complains once about each name in the Selection that no server has: it may be
// mistyped.
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

// elsewhere are programs that run another program where this machine's files and ports are
// not available.
var elsewhere = []string{"docker", "podman", "nerdctl", "ssh", "autossh", "wsl", "kubectl", "devcontainer"}

// unfit returns why no server can be recorded, or "" if servers can be.
func (r *Rewriter) unfit() string {
	if len(r.Agent) > 0 && !r.Selection.Force {
		if name := ProgramName(r.Agent[0]); slices.Contains(elsewhere, name) {
			return fmt.Sprintf("%s runs the agent where it may not find %s (--mcp=force tries all the same)", name, r.Recorder[0])
		}
	}
	if !utf8.ValidString(r.Recorder[0]) || !utf8.ValidString(r.Store) {
		return fmt.Sprintf("the paths %s and %s are no UTF-8", r.Recorder[0], r.Store) // JSON cannot represent them
	}
	if info, err := os.Stat(r.Recorder[0]); err != nil || !info.Mode().IsRegular() {
		return fmt.Sprintf("%s, which would record them, is gone", r.Recorder[0])
	}
	return ""
}

// ProgramName returns the name of a program without its directory and .exe.
func ProgramName(path string) string {
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
