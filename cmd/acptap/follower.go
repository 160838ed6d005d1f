package main

import (
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	"github.com/acptap/acptap/record/tapeid"
)

// A follower is a process of acptap ship --follow beside a proxy that records. The proxy does
// not wait for it, hears nothing of it, and opens no connection itself. It is started when a
// tape has begun, unless one delivers to the same destination already: that one sees the new
// tape. It may be used from several goroutines.
type follower struct {
	store    string // directory
	address  string // identifies the destination
	args     []string
	complain func(error) // is told if it cannot be started

	mu    sync.Mutex
	timer *time.Timer // nil: nothing is to be started
	tape  string      // the first one that it is to be started for
}

// startAfter is how long after a tape a follower is started: an agent that starts has the
// processor for itself until then.
const startAfter = time.Second

// Begin says that a tape has begun.
func (f *follower) Begin(tape string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.timer == nil {
		f.tape = tape
		f.timer = time.AfterFunc(startAfter, f.start)
	}
}

// End says that no tape will begin any more. What was to be started is started now.
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

// run starts the process. It is reaped if it ends before this one does.
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
	go cmd.Wait() // it outlives this process, as a rule
	return nil
}
