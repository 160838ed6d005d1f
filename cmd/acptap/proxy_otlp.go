package main

import (
	"os"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/record"
)

// checkOTLP returns an error if --otlp has an invalid value. Errors in the environment are
// reported later, because they must not prevent recording.
func checkOTLP(to string) error {
	if otlpAddress(to) == "" {
		return nil
	}
	_, err := otlp.Environment(func(string) string { return "" }).Endpoint(otlp.Traces, to)
	return err
}

// newFollower returns the follower that ships new tapes of a store to the destination of
// --otlp, or nil if there is none.
func newFollower(to string, store *record.Store, w *cli.Warnings) *follower {
	env := otlp.Environment(os.Getenv)
	if to == "" || env.Disabled() {
		return nil
	}
	complain := func(err error) { w.Print("--otlp: nothing is sent: %v", err) }
	u, err := env.Endpoint(otlp.Traces, otlpAddress(to))
	if err != nil {
		complain(err)
		return nil
	}
	return &follower{store: store.Dir(), address: u.String(), args: []string{"--otlp=" + to}, complain: complain}
}
