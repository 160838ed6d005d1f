package main

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/follower"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/record"
)

// otlpFlags are the flags of acptap proxy about spans.
type otlpFlags struct{ to string }

// flags defines the flags.
func (c *otlpFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.to, "otlp", "", "send what is recorded to a collector, in the background, as acptap ship does: `URL`, or env: as the variables OTEL_* say")
	f.Lookup("otlp").NoOptDefVal = otlpFromEnv
}

// check returns an error if the flag has a wrong value. What is wrong with the environment
// is told later, as it does not keep anything from being recorded.
func (c *otlpFlags) check() error {
	if otlpAddress(c.to) == "" {
		return nil
	}
	_, err := otlp.Environment(func(string) string { return "" }).Endpoint(otlp.Traces, c.to)
	return err
}

// follower returns what sends the tapes that begin in a store; nil: nothing does.
func (c *otlpFlags) follower(store *record.Store, w *cli.Warnings) *follower.Follower {
	env := otlp.Environment(os.Getenv)
	if c.to == "" || env.Disabled() {
		return nil
	}
	complain := func(err error) { w.Print("--otlp: nothing is sent: %v", err) }
	u, err := env.Endpoint(otlp.Traces, otlpAddress(c.to))
	if err != nil {
		complain(err)
		return nil
	}
	return &follower.Follower{Store: store.Dir(), Address: u.String(), Args: []string{"--otlp=" + c.to}, Complain: complain}
}
