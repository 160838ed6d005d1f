package screen_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
)

// TestCapabilities: a group that offers nothing does not count as offered, an empty marker
// does, and absent capabilities are listed as such.
func TestCapabilities(t *testing.T) {
	initialize := func(params, result string) string {
		return `{"acptap":1,"started":"2026-11-21T11:40:00Z"}
{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"initialize","params":` + params + `}}
{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":` + result + `}}
`
	}
	for _, tt := range []struct {
		name, tape string
		want       string // the lines of both sides; their columns as one blank
	}{
		{"v1", initialize(
			`{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true},"auth":{"_meta":{"x":1}},"elicitation":{}}}`,
			`{"protocolVersion":1,"agentCapabilities":{"promptCapabilities":{},"mcpCapabilities":{"http":false},"sessionCapabilities":{"list":{},"resume":null,"fork":{}},"x":{}}}`), `
fs yes
 readTextFile yes
 writeTextFile no
auth no
 _meta yes
 terminal no
elicitation no
terminal no
session no

promptCapabilities no
mcpCapabilities no
 http no
 sse no
sessionCapabilities yes
 list yes
 resume no
 fork yes
 delete no
 additionalDirectories no
 close no
x yes
loadSession no
auth no
`},
		{"v2-early", initialize(
			`{"protocolVersion":2,"capabilities":{},"clientInfo":{"name":"c"}}`,
			`{"protocolVersion":2,"agentInfo":{"name":"a"},"capabilities":{"session":{"prompt":{},"mcp":{"stdio":{}}}}}`), `

session yes
 prompt no
 mcp yes
  stdio yes
  http no
 load no
 list no
 delete no
 additionalDirectories no
 resume no
 close no
auth no
`},
		{"v2", initialize(
			`{"protocolVersion":2,"info":{"name":"c"},"capabilities":{}}`,
			`{"protocolVersion":2,"info":{"name":"a"},"capabilities":{"session":{}}}`), `
auth no
elicitation no

session yes
 prompt no
 mcp no
 delete no
 additionalDirectories no
`},
		{"mcp", initialize(
			`{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"experimental":{}},"clientInfo":{"name":"c"}}`,
			`{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{},"experimental":{"y":{}}},"serverInfo":{"name":"a"}}`), `
elicitation yes
experimental no
roots no
sampling no

tools yes
 listChanged no
logging yes
experimental yes
 y yes
prompts no
resources no
completions no
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			term := start(t, screen.Inspector{}, portableSubject(t, "tape", tt.tape), 100, 50)
			term.reads(t)
			term.press(t, "5")
			term.wait(t, "what was offered:"+tt.want, func(s string) bool { return offered(s) == tt.want })
		})
	}
}

// offered returns the capabilities on a screen, with those of the agent below an empty line.
func offered(screen string) string {
	var b strings.Builder
	for _, line := range strings.Split(screen, "\n")[1:] {
		if strings.HasPrefix(line, " 1 of ") {
			break
		}
		line = strings.TrimPrefix(line, "   ")
		if strings.HasPrefix(line, " Client") || strings.HasPrefix(line, " Agent") {
			b.WriteByte('\n')
			continue
		}
		name := strings.TrimLeft(line, " ")
		if words := strings.Fields(name); len(words) > 0 {
			b.WriteString(strings.Repeat(" ", (len(line)-len(name))/2) + strings.Join(words, " ") + "\n")
		}
	}
	return b.String()
}

// TestOpenTurnWaits: the turns and the head of the chat agree on what a turn without an end
// waited for until the tape ended.
func TestOpenTurnWaits(t *testing.T) {
	t.Parallel()
	sub := portableSubject(t, "open.jsonl", `{"acptap":1}
{"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go on"}]}}}
{"at":1,"dir":"a2c","frame":{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}}
{"at":4,"dir":"a2c","exit":{"code":0}}
`)
	term := start(t, screen.Inspector{}, sub, 120, 24)
	term.reads(t)
	const want = "«4.00 s: the client 3.00 s»"
	term.press(t, "3"+want+"4«Turn 1»"+want)
}
