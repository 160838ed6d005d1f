package acptest

import (
	"context"
	"errors"
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

// Server plays the ACP agent or MCP server of the tape at path, in the portable form,
// over HTTP, and returns its URL. With the scheme ws instead of http it is the URL of a
// WebSocket. Any number of clients may connect, in sequence or concurrently; each gets
// the tape from its beginning. Nothing is recorded.
//
// The server stops when the test ends. The test fails if a client has diverged from the
// tape, if messages of the recorded client are missing, or if no client connected.
func Server(t testing.TB, path string, set ...func(*replay.Agent)) (address string) {
	t.Helper()
	tape, err := record.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	a := replay.Agent{Tapes: []*record.Tape{tape}}
	for _, set := range set {
		set(&a)
	}
	return serve(t, path, a, func(r replay.Report, err error) {
		t.Helper()
		switch text := reportText(r); {
		case errors.Is(err, replay.ErrDiverged):
			t.Errorf("%s: %v\n%s", path, err, text)
		case err != nil:
			t.Errorf("%s: %v", path, err)
		case text != "":
			t.Logf("%s:\n%s", path, text)
		}
	})
}

// playServers replaces the MCP servers of c's agent with the tapes next to the client's
// file. Without such tapes, the agent gets the servers themselves.
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
			commands[file] = listen(t, func(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) wire.Exit {
				report, err := a.Run(ctx, stdin, stdout, stderr)
				return wire.Exit{Code: checkServer(t, file, report, err)}
			})
		} else {
			urls[file] = serve(t, file, a, func(r replay.Report, err error) { checkServer(t, file, r, err) })
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

// checkServer fails the test for requests of an agent that are not on the tape of its
// server. It returns the server's exit status.
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

// serve plays a tape over HTTP until the test ends, and returns its URL. It then calls
// check with each client's results.
func serve(t testing.TB, path string, a replay.Agent, check func(r replay.Report, err error)) (address string) {
	t.Helper()
	f, err := front.New(a)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.Address, f.Stderr = &url.URL{Scheme: "http", Host: ln.Addr().String()}, t.Output()
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- relay.Serve(ctx, ln, f) }()
	t.Cleanup(func() {
		t.Helper()
		stop()
		if err := <-served; err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, r := range f.Close() {
			check(r.Report, r.Err)
		}
	})
	return f.Address.JoinPath(f.Path()).String()
}
