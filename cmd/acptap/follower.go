package main

import (
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/tapeid"
)

// A follower starts acptap ship --follow as a separate process alongside a proxy that
// records. The proxy neither waits for that process nor opens a connection itself. The
// follower starts it after the first tape begins, unless another process already ships to the
// same destination: that one notices the new tape. It is safe for concurrent use.
type follower struct {
	store    string // directory
	address  string // identifies the destination
	args     []string
	complain func(error) // called if the process cannot be started

	mu    sync.Mutex
	timer *time.Timer // nil: no start is pending
	tape  string      // the first tape to ship
}

// startAfter delays the follower after the first tape begins, to leave the processor to
// the agent during its startup.
const startAfter = time.Second

// Begin schedules the start, after a tape has begun.
func (f *follower) Begin(tape string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer == nil {
		f.tape = tape
		f.timer = time.AfterFunc(startAfter, f.start)
	}
}

// End starts a pending process now, because no further tape will begin.
func (f *follower) End() { f.start() }

func (f *follower) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer == nil {
		return
	}
	f.timer.Stop()
	f.timer = nil
	if ship.To(f.store, f.address).Locked() {
		return
	}
	if err := f.run(); err != nil {
		f.complain(err)
	}
}

// run starts the process, and reaps it if it ends before this one.
func (f *follower) run() error {
	path, err := cli.Acptap.Self(os.Executable, os.Getenv("PATH"))
	if err != nil {
		return err
	}
	since := tapeid.Time(f.tape).Format(time.RFC3339Nano)
	cmd := exec.Command(path, append([]string{"--store", f.store, "ship", "--follow", "--until-idle", "--since", since}, f.args...)...)
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	yield(cmd)
	go cmd.Wait() // usually it outlives this process
	return nil
}

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
