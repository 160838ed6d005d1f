package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/nest"
	"github.com/acptap/acptap/proxy/relay"
	"github.com/acptap/acptap/record"
)

// nestedRelays forwards to those MCP servers of an agent that have a URL. It starts
// listening when the first such server is added.
type nestedRelays struct {
	store *record.Store
	w     *cli.Warnings

	mu     sync.Mutex
	nested *relay.Nested // guarded by mu; nil until the first server
	stop   func()        // guarded by mu
}

// URL returns the URL of a relay that records and forwards to server, for nest.Rewriter.
func (n *nestedRelays) URL(p nest.Parent, _ dialect.ServerKind, server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", fmt.Errorf("its URL begins neither with http:// nor with https://")
	}
	if v := otherProxy(os.Getenv); v != "" {
		return "", fmt.Errorf("the agent would look for acptap behind %s; with NO_PROXY=127.0.0.1 it does not", v)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.listen(); err != nil {
		return "", err
	}
	r := newRelay(n.store, record.Start{
		Name: p.Server, Proto: "mcp", Parent: record.Parent{Tape: p.Tape, Link: p.Link, Server: p.Server},
	}, n.w)
	r.Upstream = u
	return n.nested.Add(p.Link, r).String(), nil
}

// listen starts listening unless it already has. The caller must hold mu.
func (n *nestedRelays) listen() error {
	if n.nested != nil {
		return nil
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	n.nested = &relay.Nested{Host: ln.Addr().String()}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- relay.Serve(ctx, ln, n.nested) }()
	n.stop = func() {
		cancel()
		if err := <-served; err != nil {
			n.w.Print("--mcp: %v", err)
		}
		n.nested.Close("the agent ended")
	}
	return nil
}

// close stops listening and ends the relays once the agent has ended.
func (n *nestedRelays) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.stop != nil {
		n.stop()
	}
}

// otherProxy returns the environment variable that makes an agent send even requests to
// 127.0.0.1 through another proxy, or "" if none does.
func otherProxy(env func(name string) string) string {
	for _, name := range []string{"NO_PROXY", "no_proxy"} {
		for host := range strings.SplitSeq(env(name), ",") {
			host = strings.TrimSpace(host)
			network, err := netip.ParsePrefix(host)
			if host == "*" || host == "127.0.0.1" || err == nil && network.Contains(netip.AddrFrom4([4]byte{127, 0, 0, 1})) {
				return ""
			}
		}
	}
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"} {
		if env(name) != "" {
			return name
		}
	}
	return ""
}
