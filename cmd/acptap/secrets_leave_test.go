package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/testdata/collectortest"
)

// leakyTape has a secret wherever a tape has text, once in two pieces.
const leakyTape = `{"acptap":1,"tape":"20260301T090000000-leaks1","started":"2026-03-01T09:00:00Z","name":"npm_0123456789abcdefghijklmnopqrstuvwxyz","command":["agent","--token","npm_0123456789abcdefghijklmnopqrstuvwxyz"],"cwd":"/npm_0123456789abcdefghijklmnopqrstuvwxyz"}
{"seq":1,"at":0.1,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientInfo":{"name":"client","version":"1"}}}}
{"seq":2,"at":0.2,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentInfo":{"name":"agent","version":"1"}}}}
{"seq":3,"at":0.3,"dir":"c2a","frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"It is npm_0123456789abcdefghijklmnopqrstuvwxyz"}]}}}
{"seq":4,"at":0.4,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"So npm_0123456789abcdef"}}}}}
{"seq":5,"at":0.5,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ghijklmnopqrstuvwxyz it is"}}}}}
{"seq":6,"at":0.6,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"npm_0123456789abcdefghijklmnopqrstuvwxyz","kind":"execute","status":"completed","locations":[{"path":"/npm_0123456789abcdefghijklmnopqrstuvwxyz"}],"rawInput":{"command":["npm_0123456789abcdefghijklmnopqrstuvwxyz"]},"content":[{"type":"content","content":{"type":"text","text":"npm_0123456789abcdefghijklmnopqrstuvwxyz"}}]}}}}
{"seq":7,"at":0.7,"dir":"err","text":"npm_0123456789abcdefghijklmnopqrstuvwxyz"}
{"seq":8,"at":0.8,"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"npm_0123456789abcdefghijklmnopqrstuvwxyz"}}}
`

// TestNoSecretLeaves: nothing sent, pushed or shown of a tape full of one secret contains it,
// even where the rest of the conversation is included.
func TestNoSecretLeaves(t *testing.T) {
	storage(t, openly)
	here, there := t.TempDir(), t.TempDir()
	c, reticent := collectortest.New(t), collectortest.New(t)
	file, page := filepath.Join(here, "leaky.jsonl"), filepath.Join(here, "page.html")
	if err := os.WriteFile(file, []byte(leakyTape), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, 0, "--store", here, "import", file)
	must(t, 0, "--store", here, "tag", "last", "bug")
	must(t, 0, "--store", here, "note", "last", "it was npm_0123456789abcdefghijklmnopqrstuvwxyz")

	said, _ := must(t, 0, "--store", here, "ship", "--content", "--all", "--otlp="+c.URL)
	unsaid, _ := must(t, 0, "--store", here, "ship", "--all", "--otlp="+reticent.URL)
	pushed, _ := must(t, 0, "--store", here, "push", "s3://tapes")
	must(t, 0, "--store", there, "pull", "s3://tapes")
	pulled, _ := must(t, 0, "--store", there, "export", "--raw", "last")
	must(t, 0, "--store", here, "report", "-o", page, "last")
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]string{
		"ship": said + unsaid, "spans with content": strings.Join(c.Values(), "\n"), "spans": strings.Join(reticent.Values(), "\n"),
		"push": pushed, "what was pushed": pulled, "report": string(html),
	} {
		for _, part := range []string{"0123456789abcdef", "ghijklmnopqrstuvwxyz"} {
			if i := strings.Index(out, part); i >= 0 {
				t.Errorf("%s has the secret: %q", name, out[max(0, i-80):i+len(part)])
			}
		}
		if want := name != "ship" && name != "push" && name != "spans"; strings.Contains(out, "it is") != want {
			t.Errorf("%s has what was said: %v, want %v\n%.500s", name, !want, want, out)
		}
	}
}
