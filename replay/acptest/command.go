package acptest

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay"
)

// AgentCommand is Agent for a client that starts its agent: it returns a program and its
// arguments. The test must start it exactly once, and TestMain must call [Main].
//
// The process exits as the agent on the tape did, or with status 1 if the client diverged
// from the tape. It only passes its stdio on to the test, so a client that kills it gets
// the same verdict as one that closes its stdin.
func AgentCommand(t testing.TB, path string, set ...func(*replay.Cassette)) []string {
	t.Helper()
	p := newPlay(t, path, set)
	var starts atomic.Int32
	t.Cleanup(func() { // runs after the cleanup of listen
		t.Helper()
		n := starts.Load()
		if n > 1 {
			t.Errorf("%s: the agent was started %d times; a tape can be played once", path, n)
		}
		if n > 0 {
			p.check(t)
		} else if !p.cassette.Agent.Partial {
			t.Errorf("%s: the agent was not started, or TestMain does not call acptest.Main", path)
		}
	})
	return listen(t, func(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) wire.Exit {
		if starts.Add(1) > 1 {
			return wire.Exit{Code: 2}
		}
		p.run(ctx, stdin, stdout, stderr)
		var died *proxy.ExitError
		switch {
		case errors.As(p.err, &died): // a rule ended the agent
			return died.Exit()
		case errors.Is(p.err, replay.ErrDiverged):
			return wire.Exit{Code: 1}
		case p.err != nil:
			return wire.Exit{Code: 2}
		case p.report.Exit != nil:
			return *p.report.Exit
		}
		return wire.Exit{}
	})
}

// Command returns, for [Client], a program and its arguments that act as an agent
// implemented by a function. Each process of the program calls serve in the test process,
// and exits when serve returns. serve must return when stdin ends, and TestMain must call
// [Main].
func Command(t testing.TB, serve func(stdin io.Reader, stdout io.Writer)) []string {
	t.Helper()
	return listen(t, func(ctx context.Context, stdin io.Reader, stdout, _ io.Writer) wire.Exit {
		returned := make(chan struct{})
		go func() {
			defer close(returned)
			serve(stdin, stdout)
		}()
		select {
		case <-returned:
		case <-ctx.Done():
			t.Error("the agent does not return at the end of its stdin")
		}
		return wire.Exit{}
	})
}

// Main must come first in the TestMain of a package that uses AgentCommand or Command.
// Their processes are the test binary: in them, Main relays stdio and does not return.
// Otherwise it does nothing.
//
//	func TestMain(m *testing.M) {
//		acptest.Main()
//		m.Run()
//	}
func Main() {
	if len(os.Args) < 2 {
		return
	}
	if address, ok := strings.CutPrefix(os.Args[1], relayFlag); ok {
		passOn(address)
	}
}

// relayFlag begins the argument of our processes. A test binary without Main rejects this
// unknown flag before it runs any test.
const relayFlag = "-acptest.relay="

// listen returns a command that calls serve for each of its processes. At the end of the
// test it ends stdin and, after a while, cancels the context of a serve that has not
// returned.
func listen(t testing.TB, serve func(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) wire.Exit) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "acptest-") // t.TempDir may be too long for a socket address
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	address := filepath.Join(dir, "s")
	l, err := net.Listen("unix", address)
	if err != nil {
		t.Fatal(err)
	}
	over, hangUp := context.WithCancel(context.Background())
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer conn.Close()
				p, err := newProcess(conn)
				if err != nil {
					return // it was killed immediately
				}
				stop := context.AfterFunc(over, p.hangUp)
				defer stop()
				p.end(serve(ctx, p.stdin, output{p, wire.AgentToClient}, output{p, wire.AgentStderr}))
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		hangUp()
		late := time.AfterFunc(grace, cancel)
		running.Wait()
		late.Stop()
		cancel()
	})
	return []string{self, relayFlag + address}
}
