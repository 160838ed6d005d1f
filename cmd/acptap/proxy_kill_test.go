//go:build linux

package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

var kills = flag.Int("kills", 100, "how many proxies TestKill kills")

// Editors kill their agents without warning. Whenever that happens, what either
// side had received is on the tape, and the next proxy seals it.
func TestKill(t *testing.T) {
	t.Parallel()
	for _, recorder := range recorders {
		t.Run(recorder[0], func(t *testing.T) { testKill(t, recorder) })
	}
}

// recorders are the two ways to run a proxy.
var recorders = [][]string{{"acptap", "proxy"}, {"acptap-proxy"}}

// recorderCommand returns the command that runs a proxy in one of those ways, with its flags and agent.
func recorderCommand(recorder []string, args ...string) *exec.Cmd {
	return exec.Command(recorder[0], append(recorder[1:len(recorder):len(recorder)], args...)...)
}

func testKill(t *testing.T, recorder []string) {
	n := *kills / len(recorders)
	if testing.Short() {
		n = min(n, 10)
	}
	const stores = 4
	var group sync.WaitGroup
	var received atomic.Int64 // bytes, by clients and agents
	for i := range stores {
		group.Go(func() {
			store := record.OpenStore(t.TempDir())
			var runs []*killedRun
			for k := range max(n/stores, 1) {
				r := killOne(t, recorder, store, k%2 == 1, time.Duration(rand.IntN(80))*time.Millisecond)
				if r == nil {
					return
				}
				r.check(t, store, "killed")
				received.Add(int64(len(r.client) + len(r.agent)))
				runs = append(runs, r)
			}
			recoverByProxy(t, recorder, store)
			for _, r := range runs {
				r.check(t, store, "recovered")
			}
			l, err := store.List()
			if err != nil || len(l.Broken) > 0 {
				t.Errorf("store %d: broken %v, %v", i, l.Broken, err)
			}
			for _, info := range l.Tapes {
				if !info.Complete {
					t.Errorf("tape %s was not recovered: %+v", info.Tape, info)
				}
			}
		})
	}
	group.Wait()
	if received.Load() == 0 {
		t.Errorf("nothing passed before %d proxies were killed", n)
	}
	t.Logf("%d MB passed before %d proxies were killed", received.Load()>>20, n)
}

// A killedRun is what both sides had from a proxy that was killed.
type killedRun struct {
	tape   string // empty if it was killed before it began one
	client []byte // what the client received
	agent  []byte // what the agent received
	frames int    // that could be read then
}

// killOne runs a proxy in front of an echo under full load, and kills it a while
// after its start, or after the first byte has come back.
func killOne(t *testing.T, recorder []string, store *record.Store, flowing bool, after time.Duration) *killedRun {
	known := tapesOf(store)
	file := filepath.Join(t.TempDir(), "agent")
	cmd := recorderCommand(recorder, "--store", store.Dir(), "--", "tee", file)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Error(err)
		return nil
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return nil
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return nil
	}
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			if _, err := fmt.Fprintf(stdin, `{"jsonrpc":"2.0","method":"test","params":{"n":%d,"text":"%s"}}`+"\n", i, strings.Repeat("text ", i%100)); err != nil {
				return
			}
		}
	})
	out := bufio.NewReader(stdout)
	if flowing {
		out.Peek(1) // an error comes again below
	}
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	defer timer.Stop()
	r := &killedRun{}
	if r.client, err = io.ReadAll(out); err != nil {
		t.Error(err)
	}
	cmd.Wait()
	stdin.Close()
	writer.Wait()
	if stderr.Len() > 0 {
		t.Errorf("stderr: %s", stderr.String())
	}
	r.agent, _ = os.ReadFile(file) // not there if the agent did not come so far
	for tape := range tapesOf(store) {
		if !known[tape] {
			r.tape = tape
		}
	}
	return r
}

// tapesOf returns the tapes that have a journal or a file.
func tapesOf(store *record.Store) map[string]bool {
	tapes := map[string]bool{}
	for _, pattern := range []string{"tapes/*.db", "live/*.lock"} {
		paths, _ := filepath.Glob(filepath.Join(store.Dir(), pattern))
		for _, path := range paths {
			name := filepath.Base(path)
			tapes[strings.TrimSuffix(name, filepath.Ext(name))] = true
		}
	}
	return tapes
}

func (r *killedRun) check(t *testing.T, store *record.Store, when string) {
	if r.tape == "" {
		if len(r.client)+len(r.agent) > 0 {
			t.Errorf("%s: %d and %d bytes passed without a tape", when, len(r.client), len(r.agent))
		}
		return
	}
	tape, err := store.Open(r.tape)
	if err != nil {
		if when == "recovered" && r.frames == 0 {
			return // there was nothing to recover
		}
		t.Errorf("%s: %v", when, err)
		return
	}
	var streams [wire.Directions]bytes.Buffer
	frames := 0
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Errorf("%s: tape %s: %v", when, r.tape, err)
			return
		}
		if frames++; f.Seq != uint64(frames) {
			t.Errorf("%s: tape %s: frame %d has the number %d", when, r.tape, frames, f.Seq)
		}
		if f.Kind == wire.Mark {
			if m := wire.ReadMark(f.Frame); m.Gap > 0 || m.Damage > 0 {
				t.Errorf("%s: tape %s: %s", when, r.tape, f.Raw)
			}
			continue
		}
		streams[f.Dir].Write(f.Raw)
		streams[f.Dir].WriteString(f.End.Bytes())
	}
	if when == "killed" {
		r.frames = frames
	} else if frames != r.frames {
		t.Errorf("%s: tape %s: %d frames, %d when it was killed", when, r.tape, frames, r.frames)
	}
	if !bytes.HasPrefix(streams[wire.AgentToClient].Bytes(), r.client) {
		t.Errorf("%s: tape %s: the client had %d bytes that are not all on the tape (%d)", when, r.tape, len(r.client), streams[wire.AgentToClient].Len())
	}
	if !bytes.HasPrefix(streams[wire.ClientToAgent].Bytes(), r.agent) {
		t.Errorf("%s: tape %s: the agent had %d bytes that are not all on the tape (%d)", when, r.tape, len(r.agent), streams[wire.ClientToAgent].Len())
	}
}

// recoverByProxy runs a proxy until it has sealed what others have left.
func recoverByProxy(t *testing.T, recorder []string, store *record.Store) {
	cmd := recorderCommand(recorder, "--store", store.Dir(), "--", "cat")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Error(err)
		return
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Error(err)
		return
	}
	if err := cmd.Start(); err != nil {
		t.Error(err)
		return
	}
	out := bufio.NewScanner(stdout)
	for deadline := time.Now().Add(time.Minute); ; {
		fmt.Fprintln(stdin, "{}")
		if !out.Scan() || out.Text() != "{}" {
			t.Errorf("the next proxy does not work: %q", out.Text())
			break
		}
		left, _ := filepath.Glob(filepath.Join(store.Dir(), "live", "*.lock"))
		if len(left) <= 1 { // its own
			break
		}
		if time.Now().After(deadline) {
			t.Errorf("%d journals are not recovered: %v", len(left)-1, left)
			break
		}
		time.Sleep(20 * time.Millisecond) // it recovers in its second second, without reporting it
	}
	stdin.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the next proxy: %v", err)
	}
	if err := store.Recover(func() bool { return false }, nil); err != nil { // left over when it ended
		t.Error(err)
	}
}
