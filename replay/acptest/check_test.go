package acptest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/replay/acptest"
)

// unasked is a prompt with an image, which the agent does not say that it takes.
const unasked = `{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s-notes","prompt":[{"type":"image","mimeType":"image/png","data":""}]}}`

// TestCheckClient: violations of the client under test fail the test, both when the tape is
// recorded and when it is played.
func TestCheckClient(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	g := &greeter{word: "hi"}
	run := func(set ...acptest.CheckOption) *fakeT {
		return try(t, func(f *fakeT) {
			stdin, stdout := acptest.Agent(f, path, acptest.Live(acptest.Command(f, g.serve)...), acptest.CheckClient(f, set...))
			ask(stdin, stdout, initialize, newSession, unasked)
		})
	}
	run().check(t, "✗ ACP129 content-gate   client   frame 5\n") // recorded
	run().check(t, "✗ ACP129 content-gate   client   frame 5\n") // played
	run(acptest.Ignore("ACP12")).check(t, "")
	run(acptest.Ignore("ACP405")).check(t, "ACP129")
	run(acptest.Ignore("ACP129"), acptest.Least(conform.Warning)).check(t, "! ACP107 no-client-info   client   frame 1\n")
	if g.runs.Load() != 1 {
		t.Errorf("the agent ran %d times", g.runs.Load())
	}
}

// TestCheckClientNumbers: findings number the frames of the file, as misses do, though less
// passes than the file has.
func TestCheckClientNumbers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	g := &greeter{word: "hi"}
	run := func(lines ...string) *fakeT {
		return try(t, func(f *fakeT) {
			stdin, stdout := acptest.Agent(f, path, acptest.Live(acptest.Command(f, g.serve)...), acptest.CheckClient(f))
			ask(stdin, stdout, lines...)
		})
	}
	run(initialize, newSession, unasked).check(t, "✗ ACP129 content-gate   client   frame 5\n")
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfterN(string(file), "\n", 3)
	logged := lines[0] + lines[1] + `{"dir":"err","text":"starting"}` + "\n" + lines[2]
	if err := os.WriteFile(path, []byte(logged), 0o644); err != nil {
		t.Fatal(err)
	}
	run(initialize, newSession, unasked).check(t, "✗ ACP129 content-gate   client   frame 6\n")
	run(initialize, newSession).check(t, "session/prompt, frame 6")

	const early = `{"jsonrpc":"2.0","id":9,"method":"session/close","params":{"sessionId":"s-notes"}}`
	run(initialize, newSession, early).check(t, "✗ ACP125 close-gate   client   frame 5 of the run\n")
}

// TestCheckClientCommand: likewise of a client that starts its agent.
func TestCheckClientCommand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.jsonl")
	g := &greeter{word: "hi"}
	try(t, func(f *fakeT) {
		c := spawn(t, acptest.AgentCommand(f, path, acptest.Live(acptest.Command(f, g.serve)...), acptest.CheckClient(f)))
		ask(c.stdin, c.stdout, initialize, newSession, unasked)
		c.end()
	}).check(t, "✗ ACP129 content-gate   client   frame 5\n")
}

// TestCheckAgent: violations of the agent under test fail the test; the recorded client is
// not judged.
func TestCheckAgent(t *testing.T) {
	path := recorded(t, &greeter{word: "hi"})
	run := func(set ...acptest.CheckOption) *fakeT {
		return try(t, func(f *fakeT) {
			g := &greeter{word: "hi"}
			acptest.Client(f, path, acptest.Command(f, g.serve), acptest.CheckAgent(f, set...))
		})
	}
	run().check(t, "")
	f := run(acptest.Least(conform.Warning))
	f.check(t, "! ACP108 no-agent-info   agent   frame ")
	if strings.Contains(f.said.String(), "ACP107") {
		t.Errorf("the client is judged: %s", f.said.String())
	}
}

// TestCheck: a tape is judged on both sides.
func TestCheck(t *testing.T) {
	try(t, func(f *fakeT) { acptest.Check(f, "testdata/greeting.jsonl") }).check(t, "")
	try(t, func(f *fakeT) { acptest.Check(f, "testdata/none.jsonl") }).check(t, "no such file")
	try(t, func(f *fakeT) { acptest.Check(f, "testdata/greeting.jsonl", acptest.Ignore("ACP4O5")) }).check(t, `acptest.Ignore: there is no rule "ACP4O5"`)

	path := filepath.Join(t.TempDir(), "x.jsonl")
	lines := `{"acptap":1}` + "\n" + `{"dir":"a2c","frame":{"id":1,"method":"session/request_permission","params":{}}}` + "\n"
	if err := os.WriteFile(path, []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	try(t, func(f *fakeT) { acptest.Check(f, path) }).check(t, "✗ RPC005 jsonrpc-member   agent   frame 1\n")
}
