package acptest_test

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/acptest"
)

// Requests of the client, as they are in testdata/greeting.jsonl.
const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"writeTextFile":true}}}}`
	newSession = `{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/home/ada/notes","mcpServers":[]}}`
	prompt     = `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s-notes","prompt":[{"type":"text","text":"Write a greeting"}]}}`
)

var greeting = []string{initialize, newSession, prompt}

// ask sends requests, each after the answer to the previous one, grants all permissions, and
// returns the agent's messages.
func ask(stdin io.Writer, stdout io.Reader, requests ...string) string {
	var said strings.Builder
	lines := bufio.NewScanner(stdout)
	for _, r := range requests {
		fmt.Fprintln(stdin, r)
		for answered := false; !answered && lines.Scan(); {
			said.WriteString(lines.Text() + "\n")
			m := wire.ValueOf(lines.Text())
			switch m.Get("method").Text() {
			case "":
				answered = true
			case "session/request_permission":
				fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"yes"}}}`+"\n", m.Get("id").Raw())
			case "fs/write_text_file":
				fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", m.Get("id").Raw())
			}
		}
	}
	return said.String()
}

// A greeter is a real agent, for tests. Its session in a directory is s- and the
// name of that.
type greeter struct {
	word string
	runs atomic.Int32
}

func (g *greeter) serve(stdin io.Reader, stdout io.Writer) {
	g.runs.Add(1)
	lines := bufio.NewScanner(stdin)
	for lines.Scan() {
		m := wire.ValueOf(lines.Text())
		result := `{"protocolVersion":1}`
		switch m.Get("method").Text() {
		case "session/new":
			result = fmt.Sprintf(`{"sessionId":%q}`, "s-"+path.Base(m.Get("params.cwd").Text()))
		case "session/prompt":
			fmt.Fprintf(stdout, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`+"\n", m.Get("params.sessionId").Raw(), g.word)
			result = `{"stopReason":"end_turn"}`
		}
		fmt.Fprintf(stdout, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.Get("id").Raw(), result)
	}
}

// recorded returns a tape of the greeting with an agent.
func recorded(t testing.TB, g *greeter) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	f := try(t, func(f *fakeT) {
		stdin, stdout := acptest.Agent(f, path, acptest.Live(acptest.Command(f, g.serve)...))
		ask(stdin, stdout, greeting...)
	})
	f.check(t, "")
	return path
}
