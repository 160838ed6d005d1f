package main

import (
	"os"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/record"
)

// checkOTLP returns an error if the flag --otlp has a wrong value. What is wrong with the
// environment is told later, as it does not keep anything from being recorded.
func checkOTLP(to string) error {
	if otlpAddress(to) == "" {
		return nil
	}
	_, err := otlp.Environment(func(string) string { return "" }).Endpoint(otlp.Traces, to)
	return err
}

// newFollower returns what sends the tapes that begin in a store to where --otlp says; nil:
// nothing does.
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
