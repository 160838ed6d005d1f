//go:build unix

package drive_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/drive"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

func init() { roles["stubborn"] = stubborn }

// stubborn: an agent that ends neither at EOF nor at SIGTERM, with a process of
// its own.
func stubborn(args []string) {
	signal.Ignore(syscall.SIGTERM)
	if len(args) > 0 { // the second process
		time.Sleep(time.Minute)
	}
	child := exec.Command(os.Args[0], append(os.Args[1:], "child")...)
	if err := child.Start(); err != nil {
		panic(err)
	}
	fmt.Fprintln(os.Stderr, os.Getpid(), child.Process.Pid)
	s := replaytest.NewStdio()
	for _, result := range []string{`{"protocolVersion":1}`, `{"sessionId":"live-1"}`, `{"stopReason":"end_turn"}`} {
		s.Result(s.Next(), result)
	}
	io.Copy(io.Discard, s.In)
	time.Sleep(time.Minute)
}

func TestClientLeavesNoProcess(t *testing.T) {
	_, _, said, err := playing(t, drive.Client{
		Tapes: []*record.Tape{replaytest.Tape(t, replaytest.Cleaning)}, Start: replaytest.Role("stubborn"), Level: compare.None, Grace: 200 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	pids := strings.Fields(said)
	if len(pids) != 2 {
		t.Fatalf("got %q", said)
	}
	for _, pid := range pids {
		var n int
		fmt.Sscan(pid, &n)
		for range 3000 { // a killed orphan is there until its new parent has noticed
			if errors.Is(syscall.Kill(n, 0), syscall.ESRCH) {
				n = 0
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		if n != 0 && !zombie(n) {
			t.Errorf("process %d is left", n)
		}
	}
}

// zombie reports whether a process is dead, and only its parent has not noticed.
func zombie(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && strings.Contains(string(stat), ") Z ")
}
