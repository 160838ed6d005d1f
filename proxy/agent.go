package proxy

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
)

// pipeSize is what the agent's stdout holds, where the system can be asked for
// it: four times the usual, so that an agent that floods is not stopped for
// each read of ours.
const pipeSize = 256 << 10

// An agent is the process and our ends of its pipes.
type agent struct {
	cmd    *exec.Cmd
	pid    int
	stdin  *os.File
	stdout *os.File
	stderr *os.File

	stopping atomic.Bool   // it was told to stop, and has not
	stopped  atomic.Bool   // it has, and was not told to go on
	exited   chan struct{} // closed when the process has ended and been waited for
	code     int           // how it ended, as in ExitError; set before exited is closed
	sig      os.Signal     // the same
}

// start runs command in a process group of its own.
func start(command []string) (*agent, error) {
	if len(command) == 0 {
		return nil, exec.ErrNotFound
	}
	a := &agent{cmd: exec.Command(command[0], command[1:]...), exited: make(chan struct{})}
	var theirs [3]*os.File
	defer func() {
		for _, f := range theirs {
			f.Close() // the agent has its own by now
		}
	}()
	var err [3]error
	theirs[0], a.stdin, err[0] = os.Pipe()
	a.stdout, theirs[1], err[1] = os.Pipe()
	a.stderr, theirs[2], err[2] = os.Pipe()
	if err := errors.Join(err[:]...); err != nil {
		a.release()
		return nil, err
	}
	for _, f := range []*os.File{a.stdin, a.stdout, a.stderr} {
		f.Fd() // makes it blocking: through the poller a round trip of 64 KiB takes 10 ms
	}
	widen(a.stdout)
	a.cmd.Stdin, a.cmd.Stdout, a.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	a.cmd.SysProcAttr = attributes()
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // the agent's life hangs on the thread, see attributes
		defer runtime.UnlockOSThread()
		err := a.cmd.Start()
		if err != nil {
			started <- err
			return
		}
		a.pid = a.cmd.Process.Pid
		started <- nil
		a.wait()
		close(a.exited)
	}()
	if err := <-started; err != nil {
		a.release()
		return nil, err
	}
	return a, nil
}

// release closes our ends. One that a goroutine is blocked on is closed when
// that returns.
func (a *agent) release() {
	a.stdin.Close()
	a.stdout.Close()
	a.stderr.Close()
}
