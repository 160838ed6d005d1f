package tap

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/nest"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/shim"
)

// An Attendant accompanies a recording.
type Attendant interface {
	// URL returns the URL that replaces a server's, as nest.Rewriter requires.
	URL(p nest.Parent, kind dialect.ServerKind, server string) (string, error)

	AgentEnded() // called before the tape ends
	TapeEnded()
}

// run runs an agent and records it.
func run(ctx context.Context, dir string, o *Options, rest Rest, stderr io.Writer) error {
	// Every agent of every editor has a proxy, so memory matters more than the
	// collector's time (BenchmarkMemory, BenchmarkFlood). The delay keeps the collector
	// from running during the agent's startup (BenchmarkStart).
	frugal := time.AfterFunc(100*time.Millisecond, func() { debug.SetGCPercent(30) })
	defer frugal.Stop()
	w := &cli.Warnings{Stderr: stderr}
	if o.complaint != "" {
		w.Print("%s", o.complaint)
	}
	defer w.Wait()
	p := &proxy.Proxy{Command: o.Start.Command, Complain: func(err error) {
		w.Print("%s", termtext.Line(err.Error())) // a panic may quote the traffic
	}}
	var journal *record.Recorder
	var helper *shim.Shim
	var beside Attendant
	program := cli.Proxy
	if rest != nil {
		program = cli.Acptap
	}
	sessions := o.host.host(p, o.Start, w)
	p.Prepare = func() (j proxy.Journal, chain []proxy.Interceptor) {
		if rest != nil {
			defer func() { chain = rest.Chain(chain) }() // rules apply even if nothing is recorded
		}
		store, err := OpenStore(dir, w)
		defer func() { sessions.recording(store, journal) }()
		if err == nil {
			journal, err = Begin(store, o.Start)
		}
		if err != nil {
			w.Print("not recording: %v", err)
			return nil, nil // without a tape, nothing can be loaded later or nested
		}
		if helper, err = o.sessions.shim(dir, o.Start, journal.Tape()); err != nil {
			w.Print("--sessions: %v", err)
		}
		if helper != nil {
			helper.Complain = func(text string) { w.Print("%s", termtext.Line(text)) }
			chain = append(chain, helper)
		}
		servers, err := o.mcp.rewriter(program, o.Start, store, journal.Tape(), w)
		if err != nil {
			w.Print("--mcp: %v", err)
		}
		if servers != nil {
			chain = append(chain, servers) // after the shim, which sets up sessions too
		}
		if rest != nil {
			beside = rest.Attend(o, store, journal, w)
			if servers != nil {
				servers.URL = beside.URL
			}
		}
		return journal, chain
	}
	err := p.Run(ctx)
	if beside != nil {
		beside.AgentEnded()
	}
	if helper != nil {
		helper.Close()
	}
	if journal != nil {
		if err := journal.Close(); err != nil {
			w.Print("%v", err) // the exit status remains the agent's
		}
	}
	if beside != nil {
		beside.TapeEnded()
	}
	var unstarted *proxy.StartError
	if errors.As(err, &unstarted) {
		w.Print("%v", err)
		return &proxy.ExitError{Code: unstarted.Code} // already reported
	}
	return err
}

// OpenStore opens the store to record into. Call it only once per process, because each
// Store has a worker that seals tapes. w reports errors after a tape has begun.
func OpenStore(dir string, w *cli.Warnings) (*record.Store, error) {
	store, err := ref.OpenStore(dir)
	if err != nil {
		return nil, err
	}
	store.OnError = func(err error) { w.Print("%v", err) }
	return store, nil
}

// Begin starts recording a tape.
func Begin(store *record.Store, start record.Start) (*record.Recorder, error) {
	start.Cwd, _ = os.Getwd() // fails if the directory was deleted
	start.Version = cli.Version()
	start.PID = os.Getpid()
	return store.Record(start)
}
