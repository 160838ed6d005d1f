package program_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/acptap/acptap/cmd/acptap/internal/lake/program"
	tables "github.com/acptap/acptap/cmd/acptap/internal/ship/lake"
)

const secretTape = `{"acptap":1,"tape":"20261122T090000-secret","started":"2026-11-22T09:00:00Z","name":"agent ghp_0123456789abcdefABCDEF0123456789abcd","command":["/opt/somebody/agent"]}
{"at":0.01,"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}}
{"at":0.02,"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
{"at":0.03,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"The token is ghp_0123456789abcdefABCDEF0123456789abcd"}]}}}
{"at":0.04,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Whisper"}}}}
{"at":0.05,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}}
`

// export runs the command on a tape, and returns the rows of turns, tools and frames.
func export(t *testing.T, flags ...string) (turns []tables.Turn, tools []tables.Tool, frames []tables.Frame) {
	t.Helper()
	dir := t.TempDir()
	tape := filepath.Join(dir, "tape.jsonl")
	if err := os.WriteFile(tape, []byte(secretTape), 0o600); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	args := append([]string{"export", "--format", "parquet", "-o", dir, tape}, flags...)
	if code := program.Run(t.Context(), args, strings.NewReader(""), &stdout, &stderr); code != 0 || stdout.Len()+stderr.Len() > 0 {
		t.Fatalf("status %d, stdout %q, stderr %q", code, &stdout, &stderr)
	}
	return rows[tables.Turn](t, dir, "turns"), rows[tables.Tool](t, dir, "tools"), rows[tables.Frame](t, dir, "frames")
}

func rows[T any](t *testing.T, dir, table string) []T {
	t.Helper()
	list, err := parquet.ReadFile[T](filepath.Join(dir, "table="+table, "date=2026-11-22", "20261122T090000-secret.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The tables include content only on request, and secrets in it only on a further request.
func TestContent(t *testing.T) {
	for _, tt := range []struct {
		flags       []string
		title, tool string
		token       bool
	}{
		{nil, "", "", false},
		{[]string{"--content"}, "The token is ghp_[redacted]", "Whisper", false},
		{[]string{"--content", "--raw"}, "The token is ghp_0123456789abcdefABCDEF0123456789abcd", "Whisper", true},
	} {
		t.Run(strings.Join(tt.flags, " "), func(t *testing.T) {
			turns, tools, frames := export(t, tt.flags...)
			if len(turns) != 1 || len(tools) != 1 || len(frames) != 5 {
				t.Fatalf("got %d turns, %d tool calls and %d frames", len(turns), len(tools), len(frames))
			}
			if turns[0].Title != tt.title || tools[0].Title != tt.tool {
				t.Errorf("got the titles %q and %q, want %q and %q", turns[0].Title, tools[0].Title, tt.title, tt.tool)
			}
			if name := turns[0].Agent; strings.Contains(name, "0123456789abcdef") != tt.token || !strings.HasPrefix(name, "agent ghp_") {
				t.Errorf("got the agent %q", name)
			}
			for _, f := range frames {
				if want := tt.flags != nil; (f.Body != "") != want {
					t.Errorf("frame %d: got the body %q", f.Frame, f.Body)
				}
			}
			if body := frames[2].Body; strings.Contains(body, "0123456789abcdef") != tt.token || frames[2].Bytes != 167 {
				t.Errorf("got %q of %d bytes", body, frames[2].Bytes)
			}
		})
	}
}

// An export that is interrupted leaves nothing behind.
func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	dir := t.TempDir()
	var stdout, stderr bytes.Buffer
	code := program.Run(ctx, []string{"export", "--format", "parquet", "-o", filepath.Join(dir, "lake"), "-"}, strings.NewReader(secretTape), &stdout, &stderr)
	if code != 2 || stderr.String() != "acptap: interrupted\n" {
		t.Errorf("status %d, stderr %q", code, &stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
