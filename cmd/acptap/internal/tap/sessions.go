package tap

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/shim"
)

// sessionFlags are the flags about sessions.
type sessionFlags struct {
	mode     string
	history  string
	from     []string
	cwd      string
	fork     bool
	patience time.Duration
}

// flags defines the flags.
func (c *sessionFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.mode, "sessions", "off", "serve session methods from the store, in this `mode`: auto (those that the agent lacks), mend (also history that its own load leaves out), force or off")
	f.Lookup("sessions").NoOptDefVal = "auto"
	f.DurationVar(&c.patience, "load-patience", 20*time.Second, "with --sessions, how long the agent's own session methods may be silent")
	f.StringVar(&c.history, "history", "merged", "with --sessions, the `form` in which a loaded conversation is sent: merged, or raw (as recorded)")
	f.StringSliceVar(&c.from, "sessions-from", []string{"same"}, "with --sessions, `whose` sessions are offered: same (of the same agent) or any; with ,imported also imported ones")
	f.StringVar(&c.cwd, "sessions-cwd", "same", "with --sessions, `where` a session may be loaded: same (in its own directory) or any")
	f.BoolVar(&c.fork, "sessions-fork", false, "with --sessions, also serve session/fork, which is not stable in the protocol")
}

// check returns an error if a flag has a wrong value.
func (c *sessionFlags) check() error {
	for _, from := range c.from {
		if from != "same" && from != "any" && from != "imported" {
			return fmt.Errorf("--sessions-from is same, any or imported, or several of them with commas between, not %q", from)
		}
	}
	return cmp.Or(
		cli.OneOf("history", c.history, "merged", "raw"),
		cli.OneOf("sessions-cwd", c.cwd, "same", "any"),
		cli.OneOf("sessions", c.mode, "auto", "mend", "force", "off"),
	)
}

// shim returns the interceptor that serves sessions from the store in dir to the client of
// the agent recorded on tape, or nil if it is off. The caller must close it after the proxy
// has returned.
func (c *sessionFlags) shim(dir string, start record.Start, tape string) (*shim.Shim, error) {
	if c.mode == "off" {
		return nil, nil
	}
	store, err := ref.OpenStore(dir)
	if err != nil {
		return nil, err
	}
	s := &shim.Shim{
		Store:    store,
		Agent:    record.Info{Start: start}.Agent(),
		Tape:     tape,
		Called:   tapetext.AgentName,
		Raw:      c.history == "raw",
		AnyAgent: slices.Contains(c.from, "any"),
		Imported: slices.Contains(c.from, "imported"),
		Adopt:    c.cwd == "any",
		Fork:     c.fork,
		Force:    c.mode == "force",
		Mend:     c.mode == "mend",
		Patience: c.patience,
	}
	return s, nil
}
