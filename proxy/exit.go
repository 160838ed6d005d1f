package proxy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/acptap/acptap/proxy/wire"
)

// An ExitError reports that the agent ended with a status other than 0.
type ExitError struct {
	Code   int       // as in a shell: the agent's exit status, or 128 plus the number of the signal that ended it
	Signal os.Signal // nil if the agent exited by itself
}

func (e *ExitError) Error() string {
	if e.Signal != nil {
		return fmt.Sprintf("agent ended by signal: %v", e.Signal)
	}
	return fmt.Sprintf("agent exited with status %d", e.Code)
}

// Exit returns the same as a tape has it.
func (e *ExitError) Exit() wire.Exit {
	exit := wire.Exit{Code: e.Code}
	if e.Signal != nil {
		exit.Signal = e.Signal.String()
	}
	return exit
}

// A StartError reports that the agent could not be started.
type StartError struct {
	Agent string // as given
	Code  int    // as in a shell: 127 not found, 126 not executable
	Err   error
}

func newStartError(command []string, err error) *StartError {
	e := &StartError{Code: 126, Err: err}
	if len(command) > 0 {
		e.Agent = command[0]
	}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		e.Code = 127
	}
	// Both errors repeat the agent's name.
	var lookup *exec.Error
	var path *fs.PathError
	switch {
	case errors.As(err, &lookup):
		e.Err = lookup.Err
	case errors.As(err, &path):
		e.Err = path.Err
	}
	// The system does not say which file lacks the permission, nor that the missing file is
	// the interpreter of a script.
	switch info, failed := os.Stat(e.Agent); {
	case failed != nil, filepath.Base(e.Agent) == e.Agent: // looked up in PATH
	case info.IsDir():
		e.Err = fmt.Errorf("%w: it is a directory", e.Err)
	case errors.Is(err, fs.ErrPermission):
		e.Err = fmt.Errorf("%w: it is not executable", e.Err)
	case errors.Is(err, fs.ErrNotExist):
		e.Err = fmt.Errorf("%w: the interpreter that its first line names", e.Err)
	}
	return e
}

func (e *StartError) Error() string { return fmt.Sprintf("starting agent %q: %v", e.Agent, e.Err) }

func (e *StartError) Unwrap() error { return e.Err }
