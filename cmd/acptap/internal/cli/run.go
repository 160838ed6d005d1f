package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/proxy"
)

// ErrNo means that the answer is no. It prints nothing.
var ErrNo = errors.New("no")

// ErrInterrupted means that a signal ended the program before it was done.
var ErrInterrupted = errors.New("interrupted")

// Run runs a program with its arguments, reports an error on stderr, and returns the exit
// status.
func Run(ctx context.Context, root *cobra.Command, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if text := complaint(err); text != "" {
		Warn(stderr, "%s", text)
	}
	return ExitCode(err)
}

// UntilSignal returns a copy of ctx that also ends when a signal asks the program to end.
func UntilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// complaint returns the message for err. It is empty if err is the agent's exit status,
// the answer no, or due to a closed stdout; for an interrupt it has no details.
func complaint(err error) string {
	var exit *proxy.ExitError
	switch {
	case err == nil, errors.As(err, &exit), errors.Is(err, ErrNo), errors.Is(err, syscall.EPIPE):
		return ""
	case errors.Is(err, context.Canceled):
		return ErrInterrupted.Error()
	}
	return err.Error()
}

// ExitCode returns the exit status for err: 0 done, 1 the answer is no, 2 wrong usage or
// failure. It passes on the agent's own status; death by signal n is 128+n, as in a shell,
// and an agent that could not be started is 127 or 126.
func ExitCode(err error) int {
	var exit *proxy.ExitError
	var start *proxy.StartError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE):
		return 0
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &start):
		return start.Code
	case errors.Is(err, ErrNo):
		return 1
	}
	return 2
}
