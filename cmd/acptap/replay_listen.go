package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/proxy/relay"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/front"
)

// checkListen returns an error for flags that conflict with --listen or require it.
func (o *replayOptions) checkListen(f *pflag.FlagSet) error {
	if !o.listen.On() {
		return needsListen(f, "expose", "allow-origin")
	}
	if name := cli.Given(f, "file", "mode", "on-miss"); name != "" {
		return fmt.Errorf("--listen only plays a tape, so it does not go with --%s", name)
	}
	return o.listen.checkOrigins()
}

// replayListen plays the agent of a tape over HTTP and WebSockets until a signal ends it,
// and reports on each client.
func replayListen(cmd *cobra.Command, o *replayOptions, asJSON bool) error {
	ctx, stop := cli.UntilSignal(cmd.Context())
	defer stop()
	fr, err := front.New(o.agent)
	if err != nil {
		return err
	}
	ln, hostport, err := o.listen.bind()
	if err != nil {
		return err
	}
	host, _, _ := net.SplitHostPort(hostport)
	fr.Guard, fr.Address = o.listen.guard(host), &url.URL{Scheme: "http", Host: hostport}
	errOut, flush := cli.Sanitized(cmd.ErrOrStderr())
	fr.Stderr = &lockedWriter{w: errOut}
	fmt.Fprintf(cmd.ErrOrStderr(), "acptap: listening on %s%s\n", fr.Address, (&url.URL{Path: fr.Path()}).EscapedPath())
	err = relay.Serve(ctx, ln, fr)
	for _, r := range fr.Close() {
		flush()
		switch {
		case asJSON:
			writeReport(cmd.ErrOrStderr(), r.Report)
		case r.Session != "" && r.Report.String() != "":
			cli.Warn(cmd.ErrOrStderr(), "session %s:\n%s", r.Session, r.Report.String())
		default:
			cli.Warn(cmd.ErrOrStderr(), "%s", r.Report.String())
		}
		if errors.Is(r.Err, replay.ErrDiverged) {
			r.Err = cli.ErrNo
		}
		if err == nil || err == cli.ErrNo && r.Err != nil {
			err = r.Err
		}
	}
	return err
}

// A lockedWriter serializes writes from several goroutines.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
