package tap

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/host"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// hostFlags are the flags of acptap proxy that add sessions to an MCP server that has none.
type hostFlags struct {
	which    string
	max      int
	idle     time.Duration
	required bool
	warm     int

	proposal dialect.Proposal // parsed from which
}

// flags defines the flags.
func (c *hostFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.which, "mcp-sessions", "off", "give an MCP server without sessions those of a closed proposal, `which`: dls, sep1364-a1, sep1364-a2 or off")
	f.Lookup("mcp-sessions").NoOptDefVal = "dls"
	f.IntVar(&c.max, "mcp-sessions-max", 16, "with --mcp-sessions, how `many` sessions there may be at a time; 0: as a server without sessions")
	f.DurationVar(&c.idle, "mcp-sessions-idle", 30*time.Minute, "with --mcp-sessions, after what `time` without use a session ends; 0: never")
	f.BoolVar(&c.required, "mcp-sessions-required", false, "with --mcp-sessions=sep1364-a1 or sep1364-a2, refuse requests without a session")
	f.IntVar(&c.warm, "mcp-sessions-warm", 0, "with --mcp-sessions, how `many` processes are started ahead")
}

func (c *hostFlags) on() bool { return c.which != "off" }

// check returns an error for invalid flags or combinations. It sets in o what the flags say
// about the tape.
func (c *hostFlags) check(f *pflag.FlagSet, o *Options) error {
	if !c.on() {
		if name := cli.Given(f, "mcp-sessions-max", "mcp-sessions-idle", "mcp-sessions-required", "mcp-sessions-warm"); name != "" {
			return fmt.Errorf("--%s needs --mcp-sessions", name)
		}
		return nil
	}
	if err := c.proposal.UnmarshalText([]byte(c.which)); err != nil || c.proposal == dialect.NoProposal {
		return fmt.Errorf("--mcp-sessions is dls, sep1364-a1, sep1364-a2 or off, not %q", c.which)
	}
	switch {
	case o.Listen.On():
		return errors.New("--mcp-sessions runs a server, and --listen runs none")
	case o.sessions.mode != "off", o.mcp.which != "off":
		return errors.New("--mcp-sessions is about an MCP server, --sessions and --mcp are about an ACP agent")
	case o.Start.Proto == "acp":
		return errors.New("--mcp-sessions is about an MCP server, and --protocol says acp")
	case c.required && c.proposal == dialect.DataLayer:
		return errors.New("--mcp-sessions-required: in data-layer sessions no server can require them; SEP-1364 has that")
	case c.max < 0, c.idle < 0, c.warm < 0:
		return errors.New("--mcp-sessions-max, --mcp-sessions-idle and --mcp-sessions-warm are not negative")
	}
	o.Start.Proto = "mcp"
	return nil
}

// hostPatience limits each step of ending the host. It exceeds the time that the host
// waits for all of its processes.
const hostPatience = 10 * time.Second

// A sessionHost connects a proxy with its host of MCP sessions.
type sessionHost struct {
	ready chan struct{} // closed when recording has begun or failed

	store *record.Store // set before ready is closed
	tape  string        // the proxy's tape, set before ready is closed; empty if nothing is recorded
}

// host makes p run the server in a host. It returns nil if the flags do not ask for that.
func (c *hostFlags) host(p *proxy.Proxy, start record.Start, w *cli.Warnings) *sessionHost {
	if !c.on() {
		return nil
	}
	s := &sessionHost{ready: make(chan struct{})}
	h := &host.Host{
		Command: start.Command, Proposal: c.proposal,
		Max: c.max, Idle: c.idle, Required: c.required, Warm: c.warm,
		Begin: func(session string) (host.Journal, error) {
			<-s.ready
			if s.tape == "" {
				return nil, nil // already reported
			}
			start := start
			start.Name = cmp.Or(start.Name, filepath.Base(start.Command[0]))
			start.Parent = record.Parent{Tape: s.tape, Link: cmp.Or(session, "no-session"), Server: start.Name}
			journal, err := Begin(s.store, start)
			if err != nil {
				return nil, err
			}
			return journal, nil
		},
		Complain: func(err error) { w.Print("%s", termtext.Line(err.Error())) },
	}
	p.Peer, p.Patience = h.Peer(), hostPatience
	return s
}

// recording passes on the store and journal of the proxy and lets the server's processes
// start. journal is nil if the proxy does not record.
func (s *sessionHost) recording(store *record.Store, journal *record.Recorder) {
	if s == nil {
		return
	}
	if journal != nil {
		s.store, s.tape = store, journal.Tape()
	}
	close(s.ready)
}
