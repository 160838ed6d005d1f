package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// A story is what a tape tells.
type story struct {
	name   string // of the file, and of the tape in the store
	header object
	tell   func(*tape)
}

// slowNumber is the place of slow in stories, and slowID its tape, which the headers of its
// servers name.
const slowNumber = 4

var slowID = tapeID(startOf(slowNumber), "slow")

// serverHeader returns the header of a server that slow starts.
func serverHeader(name, link string) object {
	start := startOf(slowNumber).Add(2100 * time.Millisecond)
	return object{
		"name": name, "command": []string{"npx", "-y", "@modelcontextprotocol/server-" + name}, "protocol": "mcp",
		"started": start.Format(time.RFC3339Nano), "tape": tapeID(start, name),
		"parent": object{"tape": slowID, "link": link, "server": name},
	}
}

// stories returns all stories in the order of their tapes.
func stories() []story {
	claude := object{"command": []string{"npx", "-y", "@agentclientprotocol/claude-agent-acp"}}
	codex := object{"command": []string{"codex-acp"}}
	geminiCLI := object{"command": []string{"gemini", "--experimental-acp"}}
	return []story{
		{"bad-empty", claude, badEmpty},
		{"failed", claude, failed},
		{"killed", claude, killed},
		{"cutoff", codex, cutoff},
		{"slow", claude, slow},
		{"slow.mcp.github", serverHeader("github", "kdjfhgas"),
			server("github-mcp-server", 6.2, "list_issues", object{"state": "open", "labels": "customer"}, 23.65, "#212 Acme: export is empty\n#219 Birch & Sons: wrong VAT", 1.8)},
		{"slow.mcp.postgres", serverHeader("postgres", "qwmnebrv"),
			server("postgres", 11.9, "query", object{"sql": "select name from customer join invoice using (customer_id) where paid_at is null"}, 27.15, "[{\"name\":\"Acme\"},{\"name\":\"Cobalt\"}]", 0.7)},
		{"long", claude, long},
		{"images", claude, images},
		{"elicit", claude, elicit},
		{"gemini", geminiCLI, gemini},
		{"a", claude, compared(false)},
		{"b", claude, compared(true)},
		{"bad-titles", claude, badTitles},
		{"bad-text", claude, badText},
		{"bad-turns", claude, badTurns},
		{"bad-times", claude, badTimes},
		{"bad-clock", claude, badClock},
	}
}

// writeTapes writes all tapes to a directory: those of the stories, and a copy of one of an
// MCP server.
func writeTapes(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i, s := range stories() {
		t := newTape(i, s.name, s.header)
		s.tell(t)
		if err := os.WriteFile(filepath.Join(dir, s.name+".jsonl"), t.text.Bytes(), 0o644); err != nil {
			return err
		}
	}
	text, err := os.ReadFile("testdata/tapes/mcp-everything.jsonl")
	if err != nil {
		return fmt.Errorf("%w (run this from the root of the repository)", err)
	}
	text = bytes.Replace(text, []byte(`{"acptap":1,`), []byte(`{"acptap":1,"name":"mcp",`), 1)
	return os.WriteFile(filepath.Join(dir, "mcp.jsonl"), text, 0o644)
}
