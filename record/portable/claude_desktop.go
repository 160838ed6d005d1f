package portable

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
)

// claudeDesktop reads mcp-server-NAME.log, the log of Claude Desktop about one MCP server, as
// releases from 2025 to 2026 write it. Lines without a time are the server's stderr:
//
//	2025-05-14T06:30:46.668Z [srv] [info] Initializing server...
//	2026-02-02T15:40:55.236Z [srv] [info] Message from client: {"method":…} { metadata: undefined }
//	2026-02-02T15:40:55.239Z [srv] [info] Message from server: {"text":"…[18778 chars truncated]..."} { metadata: undefined }
//	Secure MCP Filesystem Server running on stdio
//
// In mcp.log, which covers all servers, the level may come before the name.
type claudeDesktop struct {
	log
	server string // the server that the log is about
	dump   bool   // inside an object that Claude Desktop logs over several lines
}

var claudeLine = lazyregexp.New(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z) (?:\[([^\]]*)\] \[(?:debug|info|warn|error)\]|\[(?:debug|info|warn|error)\] \[([^\]]*)\]) `)

// claudeShortened matches the mark that replaces the middle of a long message.
var claudeShortened = lazyregexp.New(`\.\.\.\[(\d+) chars truncated\]\.\.\.`)

func isClaudeDesktop(head []byte) bool { return anyDated(head, claudeLine) }

func readClaudeDesktop(f *file) error {
	c := &claudeDesktop{log: log{
		file: f, unit: "line", head: Head{Start: journal.Start{Proto: "mcp"}},
		lacks: "From a log of Claude Desktop: messages were encoded again and long ones shortened, and lines of stderr have no times",
	}}
	return c.end(c.eachLine(c.read))
}

func (c *claudeDesktop) read(l logLine) error {
	m := claudeLine().FindSubmatch(l.text)
	if m == nil {
		switch {
		case !c.dump && l.size == len(l.text):
			return c.message(l.n, wire.AgentStderr, l.text, time.Time{})
		case !c.dump:
			c.unread.add(l.n)
		case l.text[0] == '}':
			c.dump = false
		}
		return nil
	}
	server := string(m[2]) + string(m[3])
	if c.server == "" {
		c.server, c.head.Start.Name = server, server
	}
	if server != c.server {
		return fmt.Errorf("%s:%d: this line is about the server %q, those before about %q, and a tape has one server: grep -F '[%[3]s]' %[1]s, or import mcp-server-%[3]s.log instead", c.name, l.n, server, c.server)
	}
	at, err := time.Parse(time.RFC3339, string(m[1]))
	if c.origin.IsZero() && !c.begun && err == nil {
		c.origin, c.head.Start.Time = at, at
	}
	rest, dir := l.text[len(m[0]):], wire.ClientToAgent
	text, ok := bytes.CutPrefix(rest, []byte("Message from client: "))
	if !ok {
		text, ok = bytes.CutPrefix(rest, []byte("Message from server: "))
		dir = wire.AgentToClient
	}
	if c.dump = !ok && bytes.HasSuffix(rest, []byte("{")); !ok {
		return nil // what Claude Desktop itself did
	}
	if err != nil || l.size > len(l.text) {
		return c.missing(l.n, dir, l.size, at)
	}
	if !json.Valid(text) {
		if i := bytes.LastIndex(text, []byte(" { metadata: ")); i > 0 {
			text = text[:i]
		}
	}
	var cut [][]byte
	if bytes.Contains(text, []byte(" chars truncated]...")) {
		cut = claudeShortened().FindSubmatch(text)
	}
	switch valid := json.Valid(text); {
	case valid && cut != nil:
		c.shortened.add(l.n)
		fallthrough
	case valid:
		return c.message(l.n, dir, text, at)
	case cut != nil:
		n, _ := strconv.Atoi(string(cut[1]))
		return c.missing(l.n, dir, l.size+n, at)
	}
	return c.missing(l.n, dir, l.size, at)
}
