package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// evil controls a terminal. It is spelled as in an id, and in JSON with characters that JSON
// need not escape.
const (
	evil     = "s\x1b]0;owned\a\x1b[2J\r\n\u009b2J\x7f\u202e"
	evilJSON = `s\u001b]0;owned\u0007\u001b[2J\r\n` + "\u009b2J\x7f\u202e"
)

// escapeStore returns a store with tapes on which everything that can be chosen
// by a peer controls a terminal.
func escapeStore(t *testing.T) *record.Store {
	t.Helper()
	store := record.OpenStore(t.TempDir())
	for range 2 {
		j := recordtest.Record(t, store, record.Start{Command: []string{"agent" + evil}, Cwd: "/w" + evil, Proto: "acp"})
		for _, line := range []struct {
			dir  wire.Direction
			text string
		}{
			{wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"EVIL","version":"EVIL"}}}`},
			{wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"EVIL","title":"EVIL","version":"EVIL"}}}`},
			{wire.ClientToAgent, `{"jsonrpc":"2.0","id":"EVIL","method":"session/new","params":{"cwd":"/EVIL","mcpServers":[]}}`},
			{wire.AgentToClient, `{"jsonrpc":"2.0","id":"EVIL","result":{"sessionId":"EVIL"}}`},
			{wire.ClientToAgent, `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"EVIL","prompt":[{"type":"text","text":"EVIL"}]}}`},
			{wire.AgentToClient, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"EVIL","update":{"sessionUpdate":"EVIL"}}}`},
			{wire.AgentToClient, `{"jsonrpc":"2.0","method":"EVIL","params":{"EVIL":"EVIL"}}`},
			{wire.AgentStderr, evil},
			{wire.AgentToClient, `{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"EVIL"}}`},
			{wire.ClientToAgent, `{"jsonrpc":"2.0","id":4,"method":"session/prompt","params":{"sessionId":"other","prompt":[]}}`},
		} {
			text := strings.ReplaceAll(line.text, "EVIL", evilJSON)
			if err := j.Append(line.dir, wire.Wire, []byte(text+"\n")); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		j.Wait()
	}
	return store
}

// TestTerminalEscape: no command lets anything on a tape control the terminal,
// whether it writes text, JSON or what went wrong.
func TestTerminalEscape(t *testing.T) {
	store := escapeStore(t)
	for _, args := range [][]string{
		{"ls"},
		{"ls", "--json"},
		{"sessions"},
		{"sessions", "--json"},
		{"sessions", "check-load", "s"},
		{"show"},
		{"show", "--json"},
		{"show", "--chat"},
		{"show", "--chat", "--json"},
		{"show", "--frame", "7"},
		{"show", "--frame", "8"},
		{"show", "--frame", "99", "s"},
		{"show", "s"},
		{"search", "method:*"},
		{"search", "--json", "method:*"},
		{"diff", "last", "last~1"},
		{"diff", "--json", "last", "s"},
		{"diff", "--exact", "last", "other"},
		{"export", "last"},
		{"export", "--raw", "last"},
		{"export", "s"},
		{"replay", "agent", "nothing" + evil},
		{"rm", "--dry-run", "s"},
		{"rm", "--dry-run", evil},
		{"rm", "--dry-run", evil + "@" + "last"},
		{"doctor", "--deep"},
		{evil},
		{"ls", "--" + evil},
	} {
		var stdout, stderr bytes.Buffer
		run(t.Context(), append(args, "--store", store.Dir()), strings.NewReader(""), &stdout, &stderr)
		for _, out := range []string{stdout.String(), stderr.String()} {
			if i := strings.IndexFunc(out, controls); i >= 0 {
				t.Errorf("%q: the terminal gets %q", args, out[max(i-40, 0):min(len(out), i+40)])
			}
		}
		for line := range strings.Lines(stdout.String()) {
			if (args[0] == "export" || args[len(args)-1] == "--json") && !json.Valid([]byte(line)) {
				t.Errorf("%q: no JSON: %q", args, line)
			}
		}
	}
}

// controls reports whether a character controls a terminal, but for the end of a
// line.
func controls(r rune) bool {
	return r != '\n' && unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}
