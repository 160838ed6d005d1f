package main

import (
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/testdata/collectortest"
)

const turn = `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}
`

// proxied runs cat behind a proxy with environment variables, and returns its output.
func proxied(t *testing.T, store string, vars []string, flags ...string) (out, complaints string) {
	t.Helper()
	args := append([]string{"--store", store, "proxy"}, flags...)
	cmd := exec.Command("acptap", append(args, "--", "sh", "-c", "cat; printenv OTEL_EXPORTER_OTLP_ENDPOINT")...)
	cmd.Env = append(cmd.Environ(), vars...)
	cmd.Stdin = strings.NewReader(turn)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return stdout.String(), stderr.String()
}

// TestProxyOTLP: the destination of the spans does not affect the traffic. Variables in the
// environment have no effect without the flag, and are passed to the agent.
func TestProxyOTLP(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections, and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead.Close()
	live := collectortest.New(t)
	for _, address := range []string{"http://" + dead.Addr().String(), "http://" + silent.Addr().String(), live.URL} {
		store := t.TempDir()
		out, complaints := proxied(t, store, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + address, "OTEL_EXPORTER_OTLP_TIMEOUT=100"}, "--otlp")
		if want := turn + address + "\n"; out != want || complaints != "" {
			t.Errorf("%s: got\n%s%s\nwant\n%s", address, out, complaints, want)
		}
		if address == live.URL {
			live.Wait(2) // the turn and the connection
		}
		endFollower(t, store, address+"/v1/traces")
	}
	live.Fail(func(int, http.ResponseWriter, *http.Request) bool {
		t.Error("it was sent without --otlp")
		return false
	})
	store := t.TempDir()
	if out, complaints := proxied(t, store, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + live.URL}); out != turn+live.URL+"\n" || complaints != "" {
		t.Errorf("got\n%s%s", out, complaints)
	}
	if list, err := ship.Destinations(store); len(list) > 0 || err != nil {
		t.Errorf("without --otlp: got %v, %v", list, err)
	}
}

// endFollower kills the process that a proxy has started, once it is at work, unless it has
// done all of that.
func endFollower(t *testing.T, store, address string) {
	d := ship.To(store, address)
	for tick := time.NewTicker(time.Millisecond); ; <-tick.C {
		_, cursors, err := d.Read()
		if err != nil {
			t.Error(err)
		}
		p, err := os.FindProcess(d.Holder())
		if err == nil && p.Pid > 0 {
			p.Kill() // it may have ended
		}
		if done := slices.ContainsFunc(slices.Collect(maps.Values(cursors)), func(c ship.Cursor) bool { return c.Done }); done || err == nil && p.Pid > 0 {
			break
		}
	}
	for tick := time.NewTicker(time.Millisecond); d.Locked(); <-tick.C {
	}
}

// TestProxyOTLPMistakes: a wrong URL is a usage error; a wrong environment is reported, and
// the agent runs.
func TestProxyOTLPMistakes(t *testing.T) {
	if status, _, complaints := runs(t, t.TempDir(), "proxy", "--otlp=localhost:4318", "--", "cat"); status != 2 || !strings.Contains(complaints, "--otlp is not a URL such as") {
		t.Errorf("got %d, %s", status, complaints)
	}
	if status, _, complaints := runs(t, t.TempDir(), "proxy", "--otlp", "http://localhost:4318", "--", "cat"); status != 2 || !strings.Contains(complaints, "--otlp=http://localhost:4318 -- AGENT") {
		t.Errorf("got %d, %s", status, complaints)
	}
	out, complaints := proxied(t, t.TempDir(), []string{"OTEL_EXPORTER_OTLP_ENDPOINT=x", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, "--otlp")
	if want := "acptap: --otlp: nothing is sent: OTEL_EXPORTER_OTLP_PROTOCOL is grpc, which acptap does not speak: set it to http/protobuf, which collectors take at port 4318\n"; out != turn+"x\n" || complaints != want {
		t.Errorf("got\n%s%s", out, complaints)
	}
}
