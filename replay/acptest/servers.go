package acptest

import (
	"context"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/nest"
	"github.com/acptap/acptap/proxy/relay"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/drive"
	"github.com/acptap/acptap/replay/front"
)

// playServers gives the agent of c the tapes beside the file of its client instead of its
// MCP servers. If there are no such tapes, the agent gets the servers.
func playServers(t testing.TB, path string, c *drive.Client) {
	t.Helper()
	servers, err := drive.ReadServers(c.Tapes, c.Session, func(tape *record.Tape) (drive.Nested, error) { return drive.Beside(path, tape) })
	if err != nil {
		t.Fatal(err)
	}
	commands, urls := map[string][]string{}, map[string]string{}
	for file, kind := range servers.Tapes() {
		tape, err := record.OpenFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a := replay.Agent{Tapes: []*record.Tape{tape}, Partial: true}
		if kind == dialect.StdioServer {
			commands[file] = serverCommand(t, file, a)
		} else {
			urls[file] = serverURL(t, file, a)
		}
	}
	if len(commands)+len(urls) == 0 {
		return
	}
	if missing := servers.Missing(); len(missing) > 0 {
		t.Fatalf("%s: MCP servers have tapes beside it, but %s has none; acptap export --mcp writes those that acptap proxy --mcp has recorded", path, strings.Join(missing, ", "))
	}
	c.Interceptors = append(c.Interceptors, &nest.Substitute{
		Command: func(name string) []string { return commands[servers.Next(name)] },
		URL:     func(name string) string { return urls[servers.Next(name)] },
	})
}

// serverCommand returns a command that plays the MCP server of a tape.
func serverCommand(t testing.TB, path string, a replay.Agent) []string {
	t.Helper()
	return listen(t, func(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) wire.Exit {
		report, err := a.Run(ctx, stdin, stdout, stderr)
		return wire.Exit{Code: checkServer(t, path, report, err)}
	})
}

// serverURL returns the URL at which the MCP server of a tape is played.
func serverURL(t testing.TB, path string, a replay.Agent) string {
	t.Helper()
	f, err := front.New(a)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	address, end := serve(t, path, f)
	t.Cleanup(func() {
		for _, r := range end() {
			checkServer(t, path, r.Report, r.Err)
		}
	})
	return address
}

// checkServer reports as errors of the test what an agent asked that is not on the tape of
// its server. It returns the exit status of the server.
func checkServer(t testing.TB, path string, r replay.Report, err error) (code int) {
	switch {
	case len(r.Misses) > 0:
		t.Errorf("%s: the agent left the tape of its MCP server\n%s", path, reportText(r))
		return 1
	case err != nil:
		t.Errorf("%s: %v", path, err)
		return 2
	}
	return 0
}

// serve plays a tape over HTTP until end is called, and returns its URL.
func serve(t testing.TB, path string, f *front.Front) (address string, end func() []front.Result) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.Address, f.Stderr = &url.URL{Scheme: "http", Host: ln.Addr().String()}, t.Output()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- relay.Serve(ctx, ln, f) }()
	return f.Address.JoinPath(f.Path()).String(), func() []front.Result {
		t.Helper()
		stop()
		if err := <-served; err != nil {
			t.Errorf("%s: %v", path, err)
		}
		return f.Close()
	}
}
