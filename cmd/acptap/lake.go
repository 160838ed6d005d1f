package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/lake"
	"github.com/acptap/acptap/proxy"
)

// runLake runs acptap-lake with the arguments of this program in place of cmd. Its stdin,
// stdout, stderr and exit status are those of cmd, and signals that ask for its end are
// passed on.
func runLake(cmd *cobra.Command, args []string) error {
	path, err := findLake()
	if err == nil {
		err = checkLake(cmd, path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", cmd.Name(), err)
	}
	c := exec.Command(path, args...)
	c.Stdin, c.Stdout, c.Stderr = cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr()
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	if err := c.Start(); err != nil {
		signal.Stop(signals)
		return err
	}
	ended := make(chan bool) // whether it was asked for
	go func() {
		asked := false
		for s := range signals {
			asked = true
			c.Process.Signal(s) // it may have ended; on Windows the console tells it itself
		}
		ended <- asked
	}()
	err = c.Wait()
	signal.Stop(signals)
	close(signals)
	asked := <-ended
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Exited():
		return &proxy.ExitError{Code: exit.ExitCode()}
	case err != nil && asked:
		return context.Canceled
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// findLake returns the path of acptap-lake: beside this program, else in PATH.
func findLake() (string, error) {
	if exe, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(exe), lake.Program)); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(lake.Program)
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("this needs %s, which is neither beside acptap nor in PATH; %s", lake.Program, installLake())
	}
	return path, err
}

// checkLake returns an error unless the program at path is of the same version as this one.
func checkLake(cmd *cobra.Command, path string) error {
	c := exec.CommandContext(cmd.Context(), path, "--version")
	c.WaitDelay = time.Second
	out, err := c.Output()
	if err != nil && cmd.Context().Err() == nil {
		return fmt.Errorf("%s cannot be run: %w; %s", path, err, installLake())
	}
	words := append(strings.Fields(string(out)), "", "")
	if words[0] != lake.Program || words[1] != cli.Version() {
		return fmt.Errorf("%s is of the version %s, and acptap is %s; %s", path, cmp.Or(words[1], "unknown"), cli.Version(), installLake())
	}
	return nil
}

// installLake says how to install acptap-lake in the version of this program.
func installLake() string {
	v := cli.Version()
	if !strings.HasPrefix(v, "v") || strings.Contains(v, "+") { // built from a clone, in which something may have been changed
		return "to install both, in the clone that acptap was built from: go install ./cmd/acptap/..."
	}
	return "to install it: go install github.com/acptap/acptap/cmd/acptap/" + lake.Program + "@" + v
}
