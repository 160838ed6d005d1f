package proxy

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
)

// pipeSize is what the agent's stdout holds, where the system can be asked for
// it: four times the usual, so that an agent that floods is not stopped for
// each read of ours.
const pipeSize = 256 << 10

// An agent is the process and our ends of its pipes.
type agent struct {
	process // what the system has of it
	stdin   *os.File
	stdout  *os.File
	stderr  *os.File

	exited chan struct{} // closed when the process has ended and been waited for
	code   int           // how it ended, as in ExitError; set before exited is closed
	sig    os.Signal     // the same
}

// start begins to run command in a process group of its own. It returns at once;
// wait for the agent with the function that it returns.
func start(command []string) (started func() (*agent, error)) {
	a := &agent{exited: make(chan struct{})}
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // the agent's life hangs on the thread, see attributes
		defer runtime.UnlockOSThread()
		err := a.start(command)
		result <- err
		if err == nil {
			a.wait()
			close(a.exited)
		}
	}()
	return func() (*agent, error) {
		if err := <-result; err != nil {
			return nil, err
		}
		return a, nil
	}
}

func (a *agent) start(command []string) error {
	if len(command) == 0 {
		return exec.ErrNotFound
	}
	cmd := exec.Command(command[0], command[1:]...)
	var theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			f.Close() // the agent has its own by now
		}
	}()
	var err [3]error
	theirs[0], a.stdin, err[0] = pipe()
	a.stdout, theirs[1], err[1] = pipe()
	a.stderr, theirs[2], err[2] = pipe()
	if err := errors.Join(err[:]...); err != nil {
		a.release()
		return err
	}
	widen(a.stdout)
	if err := a.spawn(cmd, theirs); err != nil {
		a.release()
		return err
	}
	return nil
}

// release closes our ends. One that a goroutine is blocked on is closed when
// that returns.
func (a *agent) release() {
	a.stdin.Close()
	a.stdout.Close()
	a.stderr.Close()
}
