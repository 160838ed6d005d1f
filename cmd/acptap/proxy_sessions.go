package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/shim"
)

// A sessionFlags is what the flags of acptap proxy say of the session shim.
type sessionFlags struct {
	mode     string
	history  string
	from     []string
	cwd      string
	fork     bool
	patience time.Duration
}

// flags adds the flags.
func (c *sessionFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.mode, "sessions", "off", "give the agent the session methods that it lacks, or not: this `mode`, auto, force or off")
	f.Lookup("sessions").NoOptDefVal = "auto"
	f.DurationVar(&c.patience, "load-patience", 20*time.Second, "with --sessions, how long a session method of the agent's own may be silent")
	f.StringVar(&c.history, "history", "merged", "with --sessions, the `form` in which a loaded conversation is sent: merged, or raw, as it was recorded")
	f.StringSliceVar(&c.from, "sessions-from", []string{"same"}, "with --sessions, `whose` sessions are offered: of the same agent, or any; and imported, with a comma between: what was imported of those too")
	f.StringVar(&c.cwd, "sessions-cwd", "same", "with --sessions, `where` a session may be loaded: in the same directory, or any, which is then its own")
	f.BoolVar(&c.fork, "sessions-fork", false, "with --sessions, serve session/fork too, which is not stable in the protocol")
}

// check says what is wrong with the flags' values.
func (c *sessionFlags) check() error {
	for _, v := range []struct {
		flag, value string
		one, two    string
	}{
		{"history", c.history, "merged", "raw"},
		{"sessions-cwd", c.cwd, "same", "any"},
	} {
		if v.value != v.one && v.value != v.two {
			return fmt.Errorf("--%s is %s or %s, not %q", v.flag, v.one, v.two, v.value)
		}
	}
	for _, from := range c.from {
		if from != "same" && from != "any" && from != "imported" {
			return fmt.Errorf("--sessions-from is same, any or imported, or some of them with a comma between, not %q", from)
		}
	}
	switch c.mode {
	case "auto", "force", "off":
		return nil
	}
	return fmt.Errorf("--sessions is auto, force or off, not %q", c.mode)
}

// shim returns the interceptor that serves sessions from the store in dir for an
// agent that is recorded there on a tape; nil if it is off. The caller closes it
// when the proxy has returned.
func (c *sessionFlags) shim(dir string, start record.Start, tape string) (*shim.Shim, error) {
	if c.mode == "off" {
		return nil, nil
	}
	store, err := openStore(dir)
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
		Patience: c.patience,
	}
	if c.mode == "force" {
		s.Mode = shim.Force
	}
	return s, nil
}
