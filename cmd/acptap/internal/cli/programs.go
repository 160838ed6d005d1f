package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/proxy"
)

// A Program is one of the programs of acptap.
type Program string

// The programs are installed together, but any of them may be missing.
const (
	Acptap Program = "acptap"
	Proxy  Program = "acptap-proxy" // only acptap proxy
	Lake   Program = "acptap-lake"  // talks to object storage
)

// Version returns the version that this program was built from, such as v1.2.0.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}

// Commit returns the commit that this program was built from and its date, such as
// 2026-11-28. They are empty if it was not built in a clone.
func Commit() (hash, date string) {
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return "", ""
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			hash = s.Value
		case "vcs.time":
			date, _, _ = strings.Cut(s.Value, "T")
		}
	}
	return hash, date
}

// VersionLine returns the output of --version.
func (p Program) VersionLine() string {
	from := ""
	if hash, date := Commit(); hash != "" {
		from = fmt.Sprintf(" (%.8s, %s)", hash, date)
	}
	return fmt.Sprintf("%s %s%s %s %s/%s\n", p, Version(), from, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// AddVersion adds the flag --version to root. Cobra's own would need a template to write
// VersionLine, and templates make the linker keep every method of every type.
func (p Program) AddVersion(root *cobra.Command) {
	asked := root.Flags().BoolP("version", "v", false, "version for "+string(p))
	check, run := root.Args, root.RunE
	root.Args = func(cmd *cobra.Command, args []string) error {
		if *asked {
			return nil
		}
		return check(cmd, args)
	}
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *asked {
			_, err := io.WriteString(cmd.OutOrStdout(), p.VersionLine())
			return err
		}
		return run(cmd, args)
	}
}

// Typed returns what users type to run acptap: npx acptap if npx started this program.
func Typed() string {
	if os.Getenv("npm_lifecycle_event") == "npx" {
		return "npx acptap"
	}
	return "acptap"
}

// Self returns the absolute path of this program. executable is os.Executable. If a
// directory in path contains a link to the program, Self returns the link, because a
// package manager will point it to the next version.
func (p Program) Self(executable func() (string, error), path string) (string, error) {
	exe, err := executable()
	if err != nil {
		return "", err
	}
	return p.linked(exe, path)
}

// linked searches the directories in path for exe or a link to it, and returns the first
// match, or exe if there is none.
func (p Program) linked(exe, path string) (string, error) {
	file, err := os.Stat(exe)
	if err != nil {
		return "", err
	}
	for _, dir := range filepath.SplitList(path) {
		for _, name := range []string{string(p), string(p) + ".exe", filepath.Base(exe)} {
			found := filepath.Join(dir, name)
			if info, err := os.Stat(found); err == nil && filepath.IsAbs(found) && os.SameFile(file, info) {
				return found, nil
			}
		}
	}
	return exe, nil
}

// beside returns the path of p in the directory of this program.
func (p Program) beside(executable func() (string, error)) (string, error) {
	exe, err := executable()
	if err != nil {
		return "", err
	}
	return exec.LookPath(filepath.Join(filepath.Dir(exe), string(p)))
}

// Find returns the path of p: in the directory of this program, otherwise in PATH.
func (p Program) Find() (string, error) {
	if path, err := p.beside(os.Executable); err == nil {
		return path, nil
	}
	path, err := exec.LookPath(string(p))
	if errors.Is(err, exec.ErrNotFound) {
		return "", fmt.Errorf("this needs %s, which is neither beside this program nor in PATH; %s", p, p.install())
	}
	return path, err
}

// install explains how to install p in this program's version.
func (p Program) install() string {
	v := Version()
	if !strings.HasPrefix(v, "v") || strings.Contains(v, "+") { // built from a clone, possibly with changes
		return "to install all of acptap, in the clone that this was built from: go install ./cmd/acptap/..."
	}
	return "to install all of acptap, unpack an archive of https://github.com/acptap/acptap/releases or run: go install github.com/acptap/acptap/cmd/acptap/...@" + v
}

// Check returns an error unless the program at path is p in this program's version.
func (p Program) Check(ctx context.Context, path string) error {
	c := exec.CommandContext(ctx, path, "--version")
	c.WaitDelay = 10 * time.Second // on a busy machine it may take long to receive its output
	out, err := c.Output()
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("%s cannot be run: %w; %s", path, err, p.install())
	}
	words := append(strings.Fields(string(out)), "", "")
	version := words[1]
	if version == "" {
		version = "unknown"
	}
	if words[0] != string(p) || version != Version() {
		return fmt.Errorf("%s is of the version %s, and this is %s; %s", path, version, Version(), p.install())
	}
	return nil
}

// ProxyNames lists the names of acptap proxy: its own, then its aliases.
var ProxyNames = []string{"proxy", "run", "record", "start"}

// Recorder returns the command that runs acptap proxy from p: acptap-proxy if p is that
// or its directory contains it, otherwise acptap.
func (p Program) Recorder(executable func() (string, error), path string) ([]string, error) {
	if p == Proxy {
		exe, err := p.Self(executable, path)
		return []string{exe}, err
	}
	if exe, err := Proxy.beside(executable); err == nil {
		exe, err = Proxy.linked(exe, path)
		return []string{exe}, err
	}
	exe, err := p.Self(executable, path)
	return []string{exe, "proxy"}, err
}

// RunInPlace runs a command in place of this program: it forwards termination signals,
// and returns how the command ended.
func RunInPlace(c *exec.Cmd) error {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	if err := c.Start(); err != nil {
		signal.Stop(signals)
		return err
	}
	ended := make(chan bool) // whether a signal asked for it
	go func() {
		asked := false
		for s := range signals {
			asked = true
			c.Process.Signal(s) // ignore errors: it may have ended, and on Windows the console notifies it
		}
		ended <- asked
	}()
	err := c.Wait()
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
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	return nil
}
