package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/tap"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestMain puts acptap on the PATH, and an agent: they are the test binary under these names. Only
// as a process of that name can it start itself.
func TestMain(m *testing.M) {
	// The race detector has each process sleep for a second before it ends.
	os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	// Tests mostly wait for the programs that they start. -parallel overrides this.
	if err := flag.Set("test.parallel", strconv.Itoa(max(6, runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	testscript.Main(m, map[string]func(){"acptap": measured, "acptap-lake": lakeMain, "acptap-proxy": proxyMain, "fault-agent": faultAgent, "hold-agent": holdAgent, "loud-agent": loudAgent, "stalling-agent": stallingAgent, "tool-agent": toolAgent, "tool-server": toolServer, "talking-agent": talkingAgent, "talking-server": talkingServer, "terminal": terminal})
}

// proxyMain is the program acptap-proxy.
func proxyMain() {
	args := os.Args[1:]
	os.Exit(cli.Run(context.Background(), tap.NewProgram(args), args, os.Stdin, os.Stdout, os.Stderr))
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Condition:           ifFile,
		Cmds:                map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", os.Getenv("GORACE"))
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state")) // the store of scripts that name none
			testdata, err := filepath.Abs("../../testdata")
			e.Setenv("TESTDATA", testdata)
			return err
		},
	})
}

// exits is the command exits STATUS PROGRAM ARGS… of scripts: exec with an exact exit status.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARGS…")
	}
	var exit *exec.ExitError
	err, status := ts.Exec(args[1], args[2:]...), 0
	if errors.As(err, &exit) {
		status = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if want := args[0]; strconv.Itoa(status) != want {
		ts.Fatalf("exit status %d, want %s", status, want)
	}
}

// ifFile is the condition file:PATH of scripts: whether there is such a file.
func ifFile(condition string) (bool, error) {
	path, ok := strings.CutPrefix(condition, "file:")
	if !ok {
		return false, fmt.Errorf("unknown condition %q", condition)
	}
	_, err := os.Stat(path)
	return err == nil, nil
}

// A proxy does not wait for the construction of commands that it does not need.
func TestProxyMakesNoOtherCommands(t *testing.T) {
	for args, want := range map[string]bool{
		"proxy -- agent":               true,
		"proxy":                        true,
		"--store dir proxy -- agent":   true,
		"--store=dir proxy -- agent":   true,
		"--store dir proxy --help":     false,
		"proxy -h":                     false,
		"--store proxy ls":             false,
		"--store proxy":                false,
		"--store dir help proxy":       false,
		"--store=proxy":                false,
		"show proxy":                   false,
		"--storeroom dir proxy -- x y": false,
		"":                             false,
	} {
		if got := len(newRootCmd(strings.Fields(args)).Commands()) == 1; got != want {
			t.Errorf("%q: only the proxy's command is made: %v, want %v", args, got, want)
		}
	}
}
