package main

import (
	"flag"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestMain puts acptap on the PATH, and an agent: they are the test binary under these names. Only
// as a process of that name can it start itself.
func TestMain(m *testing.M) {
	// The race detector has each process sleep for a second before it ends.
	os.Setenv("GORACE", os.Getenv("GORACE")+" atexit_sleep_ms=0")
	testscript.Main(m, map[string]func(){"acptap": measured, "loud-agent": loudAgent})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
	})
}
