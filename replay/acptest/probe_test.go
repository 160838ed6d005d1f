package acptest_test

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/replay/acptest"
	"github.com/acptap/acptap/replay/script"
)

// scriptedAgent returns a command that plays a script as an agent.
func scriptedAgent(t *testing.T, text string) []string {
	t.Helper()
	s, err := script.Parse("agent", text, dialect.ACPv1)
	if err != nil {
		t.Fatal(err)
	}
	return acptest.Command(t, func(in io.Reader, out io.Writer) {
		script.NewAgent(s, dialect.ACPv1, nil, nil).Run(t.Context(), in, out, io.Discard)
	})
}

// badAgent is the variable with which TestProbe probes a bad agent.
const badAgent = "ACPTEST_BAD_AGENT"

// TestProbe shows how an agent is probed. This one knows no session but says that it does if
// the variable badAgent is set.
func TestProbe(t *testing.T) {
	loaded := `error -32002 "no such session"`
	if os.Getenv(badAgent) != "" {
		loaded = `result {"token":"sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"}`
	}
	command := scriptedAgent(t, `on initialize result {"protocolVersion":1,"agentInfo":{"name":"scripted","version":"1"},"agentCapabilities":{"loadSession":true}}
on session/load `+loaded)
	acptest.Probe(t, command, acptest.Only("load/unknown", "version/same"), acptest.FailOn("hurts,hang"))
}

// TestProbeFails runs TestProbe with a bad agent: the subtest of the case fails, says what
// the case wanted, and names the tape's file.
func TestProbeFails(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestProbe$", "-test.v", "-test.artifacts", "-test.outputdir="+dir)
	cmd.Env = append(os.Environ(), badAgent+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Error("the test passed")
	}
	for _, want := range []string{"--- FAIL: TestProbe/load/unknown", "--- PASS: TestProbe/version/same", "--- PASS: TestProbe/rules", "wanted an error, got result {", "load.unknown.jsonl:"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	_, tape, _ := strings.Cut(string(out), "acptap show ")
	tape, _, _ = strings.Cut(tape, ":")
	data, err := os.ReadFile(tape)
	if err != nil || !strings.Contains(string(data), "session/load") || strings.Contains(string(data), "abcdefghijkl") {
		t.Errorf("the tape %s: %v\n%s", tape, err, data)
	}
}
