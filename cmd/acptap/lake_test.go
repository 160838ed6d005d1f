package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/lake/program"
	"github.com/acptap/acptap/proxy"
)

// lakeMain is the program acptap-lake, for scripts.
func lakeMain() {
	os.Exit(program.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Each program contains only what it needs: more would slow the start of a proxy, and cost
// memory for as long as its agent runs.
func TestLinked(t *testing.T) {
	for program, unwanted := range map[string][]string{
		".":              {"minio", "parquet"},
		"./acptap-proxy": {"minio", "parquet", "net/http", "crypto/tls", "protobuf", "opentelemetry", "tview", "tcell", "toml", "inspect/conform", "inspect/frame"},
	} {
		out, err := exec.Command("go", "list", "-deps", program).Output()
		if err != nil {
			t.Fatal(err)
		}
		for p := range strings.Lines(string(out)) {
			for _, not := range unwanted {
				if strings.Contains(p, not) {
					t.Errorf("%s is linked with %s", program, p)
				}
			}
		}
		if !strings.Contains(string(out), module+"/cmd/acptap/internal/tap\n") {
			t.Errorf("no %s in\n%s", module, out)
		}
	}
}

// runsLake runs acptap-lake in place of a command.
func runsLake(t *testing.T, args ...string) (out, complaints string, err error) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := &cobra.Command{Use: "push"}
	(&cobra.Command{Use: "acptap"}).AddCommand(cmd)
	cmd.SetContext(t.Context())
	cmd.SetIn(strings.NewReader(""))
	cmd.SetOut(&stdout)
	cmd.SetErr(&stderr)
	err = runLake(cmd, args)
	return stdout.String(), stderr.String(), err
}

func TestRunLake(t *testing.T) {
	out, complaints, err := runsLake(t, "--version")
	if !strings.HasPrefix(out, string(cli.Lake)+" "+cli.Version()) || complaints != "" || err != nil {
		t.Errorf("--version: %q, %q, %v", out, complaints, err)
	}
	out, complaints, err = runsLake(t, "swim")
	var exit *proxy.ExitError
	if !errors.As(err, &exit) || exit.Code != 2 || out != "" || !strings.HasPrefix(complaints, `acptap: unknown command "swim"`) {
		t.Errorf("swim: %q, %q, %v", out, complaints, err)
	}
}

// If acptap-lake is missing, or is a different version, the error says how to install it.
func TestNoLake(t *testing.T) {
	fake := func(script string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, string(cli.Lake)), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, tt := range []struct{ path, want string }{
		{t.TempDir(), "this needs acptap-lake, which is neither beside this program nor in PATH; to install"},
		{fake("echo acptap-lake v0.0.1 go1.26"), "acptap-lake is of the version v0.0.1, and this is "},
		{fake("echo swims"), "acptap-lake is of the version unknown, and this is "},
		{fake("exit 3"), "acptap-lake cannot be run: exit status 3; to install"},
	} {
		if runtime.GOOS == "windows" && !strings.Contains(tt.want, "neither") {
			continue // it runs no scripts
		}
		t.Setenv("PATH", tt.path)
		_, complaints, err := runsLake(t, "push")
		if err == nil || !strings.HasPrefix(err.Error(), "push: ") || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "go install ") || complaints != "" {
			t.Errorf("got %q, %v, want %s", complaints, err, tt.want)
		}
	}
}

// acptap-lake gets the flags that the configuration file set.
func TestLakeConfig(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte("[push]\njson = true\nagent = \"coder\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	root := newRootCmd(nil)
	push, _, err := root.Find([]string{"push"})
	if err != nil {
		t.Fatal(err)
	}
	if err := root.PersistentFlags().Set("store", dir); err != nil {
		t.Fatal(err)
	}
	if err := push.ValidateArgs([]string{"s3://tapes"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ args, want string }{
		{"push s3://tapes", "push s3://tapes --agent=coder --json=true"},
		{"push -- s3://tapes", "push --agent=coder --json=true -- s3://tapes"},
	} {
		if got := strings.Join(withConfig(push, strings.Fields(tt.args)), " "); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}
