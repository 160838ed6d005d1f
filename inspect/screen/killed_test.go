package screen_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// recordInto is the variable of the environment with the store that a process
// of this test is to record into.
const recordInto = "INSPECT_TEST_RECORD_INTO"

// recordForever records a request, and then waits to be killed.
func recordForever(dir string) {
	j, err := record.OpenStore(dir).Record(record.Start{Command: []string{"agent"}, Cwd: "/w"})
	if err == nil {
		err = j.Append(wire.ClientToAgent, wire.Wire, []byte(`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s1","prompt":[]}}`+"\n"))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}

// TestKilled looks at a tape whose proxy is killed meanwhile: the timers stop. It is
// not for t.Parallel: until the new process has begun, it holds the locks of other
// tests' tapes too.
func TestKilled(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	store := record.OpenStore(t.TempDir())
	proxy := exec.Command(exe)
	proxy.Env = append(os.Environ(), recordInto+"="+store.Dir())
	proxy.Stderr = os.Stderr
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	defer proxy.Wait()
	defer proxy.Process.Kill()
	term := start(t, screen.Inspector{Store: store}, screen.Subject{}, 120, 24)
	term.wait(t, "a tape", has("●"))
	term.press(t, "<Enter>")
	term.wait(t, "the timer", has("waits "))
	if err := proxy.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	term.wait(t, "that it is cut off", func(s string) bool {
		bar, _, _ := strings.Cut(s, "\n")
		return strings.Contains(bar, "cut off") && strings.Contains(s, "no answer") && !strings.Contains(s, "no answer yet") && !strings.Contains(s, "waits ") && !strings.Contains(s, "following")
	})
	term.press(t, "4")
	term.wait(t, "a turn without an end", func(s string) bool {
		_, below, _ := strings.Cut(s, "\n")
		return strings.Contains(below, "recording cut off")
	})
	term.press(t, "6")
	term.wait(t, "what it was asked", func(s string) bool {
		_, open, found := strings.Cut(s, "Calls without an answer")
		return found && strings.Contains(open, "frame 1 ") && strings.Contains(open, "session/prompt")
	})
	term.press(t, "1")
	term.wait(t, "the same in the store", func(s string) bool { return strings.Contains(s, "cut off") && !strings.Contains(s, "running") })
}
