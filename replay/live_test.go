package replay_test

import (
	"bufio"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// asking: an MCP server whose tools ask the client something, wait until it has
// made progress with that, and then want no answer any more.
func asking([]string) {
	s := replaytest.NewStdio()
	for {
		m := s.Next()
		switch m.Get("method").Text() {
		case "initialize":
			s.Result(m, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}`)
		case "tools/call":
			s.Say(`{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"_meta":{"progressToken":5}}}`)
			for m := s.Read(); m.Get("params.progressToken").Raw() != "5"; m = s.Read() {
			}
			s.Say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
			s.Result(m, `{"content":[]}`)
		}
	}
}

// The client sees a request of a live agent under another id; when the agent cancels it, the
// client gets that id, and the agent gets the progress of it.
func TestLiveAsks(t *testing.T) {
	const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"sampling":{}},"clientInfo":{"name":"c","version":"1"}}}`
	c := &replay.Cassette{Path: filepath.Join(t.TempDir(), "fix.jsonl"), Mode: replay.ModeAll, Command: replaytest.Role("asking").Command}
	if _, _, err := converse(t, c, hello); err != nil {
		t.Fatal(err)
	}
	c.Mode = replay.ModeNew
	in, says := io.Pipe()
	hears, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(t.Context(), in, out, io.Discard)
		out.Close()
		ended <- err
	}()
	fmt.Fprintf(says, "%s\n%s\n", hello, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}`)
	var got []string
	seen := ""
	for lines := bufio.NewScanner(hears); lines.Scan(); {
		m := wire.ValueOf(lines.Text())
		switch {
		case m.Get("id").Raw() == "0":
			continue
		case m.Get("method").Text() == "sampling/createMessage":
			seen = m.Get("id").Raw()
			fmt.Fprintln(says, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":1}}`)
		case m.Get("id").Raw() == "1":
			says.Close()
		}
		got = append(got, m.Raw())
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	want := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + seen + `}}`
	if len(got) != 3 || seen == "" || got[1] != want {
		t.Errorf("got\n%s\nwant second %s", strings.Join(got, "\n"), want)
	}
}
