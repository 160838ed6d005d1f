package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/follower"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/cmd/acptap/internal/watch"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/shim"
)

func newProxyCmd(dir *string) *cobra.Command {
	var o proxyFlags
	cmd := &cobra.Command{
		Use:   "proxy [flags] -- AGENT [ARG...]",
		Short: "Run an agent and record what it and its client say",
		Long: `Runs AGENT with its arguments, and passes on stdin, stdout, stderr, signals and
the exit status unchanged. Everything that passes is recorded in the store. If
recording fails, stderr says so, and the traffic goes on. AGENT decides what to
do about a signal; acptap ends when AGENT ends. See acptap help editors.

With --sessions, an agent that forgets its sessions when it ends gets
session/load, list, resume, delete and close: acptap serves the client from the
store, and gives the agent a record of the conversation with the next prompt.
Frames that acptap adds or changes are marked on the tape. For more, see
acptap help resume.

With --mcp, the MCP servers that the client names to the agent are recorded too,
on tapes of their own: in the client's session/new, load, resume and fork,
acptap proxy takes the place of their commands, and runs them, and an address of
this machine takes the place of their URLs. Servers that the agent takes from
its own settings are not recorded. See acptap help servers.

With --mcp-sessions, an MCP server that has no sessions gets those of a proposal
for MCP that was closed, for authors of clients who want to try it: acptap runs
a process of the server for each session. See acptap help mcp-sessions.

With --watch 30s, stderr says when the agent is silent for so long in a turn, or
something else hangs, as acptap watch does: in one line, at most once a minute
for each kind. What you are asked is left out.

With --otlp, what is recorded is sent to a collector of OpenTelemetry, as acptap
ship --follow does: in a process of its own, for which nothing waits, and which
ends once all is sent, or a minute after the last tape. OTEL_* variables without
--otlp have no effect here; the agent sees them in either case.

With --listen ADDR --upstream URL, acptap listens in place of an MCP or ACP
server that is reached over HTTP or a WebSocket, and runs nothing: clients use
the URL that stderr tells, and each of their connections has a tape. Values of
credentials in HTTP headers are not recorded. OAuth may not work through another
URL; give the client the token as a header then. acptap ends with SIGINT or
SIGTERM, and status 0.

The exit status is that of AGENT; 128+n if signal n ended it; 127 if it is not
found; 126 if it cannot be run.`,
		Example: `  acptap proxy -- claude-agent-acp
  acptap proxy --name claude -- npx -y @agentclientprotocol/claude-agent-acp
  acptap proxy --sessions --name my-agent -- my-agent --acp
  acptap proxy --mcp=not:browser --name my-agent -- my-agent --acp
  acptap proxy --mcp-sessions -- my-mcp-server
  acptap proxy --store /tmp/tapes -- gemini --acp
  acptap proxy --otlp=http://localhost:4318 -- my-agent --acp
  acptap proxy --listen 127.0.0.1:7000 --upstream https://example.com/mcp`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !o.listen.on() && o.listen.upstream == "" {
				return errors.New("the agent's command is missing: acptap proxy -- AGENT ARG…")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			o.start.Command = args
			if err := o.check(cmd.Flags()); err != nil {
				return err
			}
			if o.listen.on() {
				return runListen(cmd.Context(), *dir, &o, cmd.ErrOrStderr())
			}
			return runProxy(cmd.Context(), *dir, &o, cmd.ErrOrStderr())
		},
	}
	f := cmd.Flags()
	f.SetInterspersed(false) // flags after AGENT are its own
	f.StringVar(&o.start.Name, "name", "", "the agent's `name` in listings; sessions recorded under one name belong together")
	f.StringVar(&o.start.Proto, "protocol", "", "the `protocol`: acp or mcp (default: as the traffic shows)")
	f.DurationVar(&o.watched, "watch", 0, "say on stderr what hangs, such as an agent that is silent for a `time` such as 30s")
	o.sessions.flags(f)
	o.mcp.flags(f)
	o.mcpSessions.flags(f)
	o.listen.flags(f)
	o.otlp.flags(f)
	return cmd
}

// proxyFlags are what acptap proxy is told.
type proxyFlags struct {
	start       record.Start
	sessions    sessionFlags
	mcp         mcpFlags
	mcpSessions mcpSessionFlags
	listen      listenFlags
	otlp        otlpFlags
	watched     time.Duration
}

// check returns an error if a flag has a wrong value.
func (o *proxyFlags) check(f *pflag.FlagSet) error {
	switch o.start.Proto {
	case "", "acp", "mcp":
	default:
		return fmt.Errorf("--protocol is acp or mcp, not %q", o.start.Proto)
	}
	if err := checkValues(f, o.start.Command); err != nil {
		return err
	}
	if err := o.listen.check(f, o.start.Command); err != nil {
		return err
	}
	if err := o.sessions.check(); err != nil {
		return err
	}
	if err := o.mcp.check(&o.start); err != nil {
		return err
	}
	if err := o.mcpSessions.check(f, o); err != nil {
		return err
	}
	if err := o.otlp.check(); err != nil {
		return err
	}
	if f.Changed("watch") {
		return checkAfter("watch", o.watched)
	}
	return nil
}

// checkValues returns an error if an agent's command begins with what was meant as the value
// of a flag that takes one behind = only, as in --mcp stdio -- AGENT or --otlp URL AGENT.
func checkValues(f *pflag.FlagSet, command []string) (err error) {
	if len(command) == 0 { // with --listen
		return nil
	}
	if !strings.Contains(command[0], "://") && (len(command) < 2 || command[1] != "--") {
		return nil
	}
	if _, found := exec.LookPath(command[0]); found == nil {
		return nil
	}
	f.Visit(func(flag *pflag.Flag) {
		if flag.Value.Type() == "string" && flag.NoOptDefVal != "" && flag.Value.String() == flag.NoOptDefVal {
			err = fmt.Errorf("%q is no program; a value of --%s stands behind =: --%s=%s -- AGENT", command[0], flag.Name, flag.Name, command[0])
		}
	})
	return err
}

func runProxy(ctx context.Context, dir string, o *proxyFlags, stderr io.Writer) error {
	// Every agent of every editor has a proxy, so memory matters more than the
	// collector's time (BenchmarkMemory, BenchmarkFlood). Not from the start: then
	// it would collect while the agent starts (BenchmarkStart).
	frugal := time.AfterFunc(100*time.Millisecond, func() { debug.SetGCPercent(30) })
	defer frugal.Stop()
	w := &cli.Warnings{Stderr: stderr}
	defer w.Wait()
	p := &proxy.Proxy{Command: o.start.Command, Complain: func(err error) {
		w.Print("%s", termtext.Line(err.Error())) // a panic may quote the traffic
	}}
	var journal *record.Recorder
	var helper *shim.Shim
	var own *watch.Own
	var sender *follower.Follower
	relays := &nestedRelays{w: w}
	sessions := o.mcpSessions.host(p, o.start, w)
	p.Prepare = func() (j proxy.Journal, chain []proxy.Interceptor) {
		store, err := recordingStore(dir, w)
		defer func() { sessions.recording(store, journal) }()
		if err == nil {
			journal, err = beginTape(store, o.start)
		}
		if err != nil {
			w.Print("not recording: %v", err)
			return nil, nil // no interceptor either: what is not recorded cannot be loaded later, nor be a parent
		}
		relays.store = store
		if helper, err = o.sessions.shim(dir, o.start, journal.Tape()); err != nil {
			w.Print("--sessions: %v", err)
		}
		if helper != nil {
			chain = append(chain, helper)
		}
		if servers, err := o.mcp.rewriter(o.start, journal.Tape(), relays, w); err != nil {
			w.Print("--mcp: %v", err)
		} else if servers != nil {
			chain = append(chain, servers) // behind the shim, which sets up sessions too
		}
		if sender = o.otlp.follower(store, w); sender != nil {
			sender.Begin(journal.Tape())
		}
		if o.watched > 0 {
			own = startWatch(dir, journal, o.watched, w)
		}
		return journal, chain
	}
	err := p.Run(ctx)
	relays.close()
	if helper != nil {
		helper.Close()
	}
	if sender != nil {
		sender.End() // before the tape has ended
	}
	if journal != nil {
		if err := journal.Close(); err != nil {
			w.Print("%v", err) // the exit status remains the agent's
		}
	}
	if own != nil {
		own.Stop()
	}
	var unstarted *proxy.StartError
	if errors.As(err, &unstarted) {
		w.Print("%v", err)
		return &proxy.ExitError{Code: unstarted.Code} // reported already
	}
	return err
}

// recordingStore opens the store to record into, once in a process: one worker seals all
// tapes of a Store. Failures behind a tape that has begun are reported by w.
func recordingStore(dir string, w *cli.Warnings) (*record.Store, error) {
	store, err := ref.OpenStore(dir)
	if err != nil {
		return nil, err
	}
	store.OnError = func(err error) { w.Print("%v", err) }
	return store, nil
}

// beginTape begins to record.
func beginTape(store *record.Store, start record.Start) (*record.Recorder, error) {
	start.Cwd, _ = os.Getwd() // fails if the directory was deleted
	start.Version = cli.Version()
	start.PID = os.Getpid()
	return store.Record(start)
}
