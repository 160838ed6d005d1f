//go:build linux

package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

var killsNested = flag.Int("kills-nested", 1, "how often TestKillNested kills each of those that it kills")

// An agent and its two servers, all behind acptap, talk as fast as they can. Whichever of
// them is killed, and whenever: each byte that any of them received is on the tapes, the
// tapes say which run they belong to, and no process is left.
func TestKillNested(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("two seconds of processor time")
	}
	for i, victim := range []string{"proxy", "agent", "server", "server's proxy", "proxy", "agent", "server", "server's proxy"} {
		recorder := recorders[i/4]
		t.Run(recorder[0]+", "+victim, func(t *testing.T) {
			bytes := 0
			for k := range *killsNested {
				r := &nestedKill{T: t, recorder: recorder, victim: victim, busy: k%2 == 0, dir: t.TempDir()}
				r.store = record.OpenStore(filepath.Join(r.dir, "store"))
				r.run()
				bytes += r.check("killed")
				if err := r.store.Recover(func() bool { return false }, nil); err != nil {
					t.Error(err)
				}
				r.check("recovered")
				if t.Failed() {
					break
				}
				if err := os.RemoveAll(r.dir); err != nil {
					t.Error(err)
				}
			}
			t.Logf("%d kills, %d MB on the tapes", *killsNested, bytes>>20)
		})
	}
}

// A nestedKill is an agent with servers, of which something is killed.
type nestedKill struct {
	*testing.T
	recorder []string
	victim   string
	busy     bool   // it is killed when both servers have been heard, else perhaps before
	dir      string // stands in the arguments of all processes
	store    *record.Store

	said  bytes.Buffer // by the client
	heard []byte       // by the client
}

// run starts all, kills the victim, and returns when no process is left.
func (r *nestedKill) run() {
	r.Helper()
	var entries []string
	for _, name := range []string{"one", "two"} {
		entries = append(entries, fmt.Sprintf(`{"name":%q,"command":"talking-server","args":[%q],"env":[]}`, name, filepath.Join(r.dir, name+".server")))
	}
	cmd := recorderCommand(r.recorder, "--store", r.store.Dir(), "--mcp=stdio", "--", "talking-agent", r.dir)
	in, err := cmd.StdinPipe()
	if err != nil {
		r.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		r.Fatal(err)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	quiet, silent := make(chan bool), make(chan bool)
	go func() {
		defer close(silent)
		defer in.Close()
		line := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[%s]}}`+"\n", strings.Join(entries, ","))
		for n := 0; ; n++ {
			r.said.Write(line)
			if _, err := in.Write(line); err != nil {
				return
			}
			select {
			case <-quiet:
				return
			default:
			}
			line = talkLine(n)
		}
	}()
	go func() {
		r.kill()
		close(quiet)
	}()
	if r.heard, err = io.ReadAll(out); err != nil {
		r.Error(err)
	}
	cmd.Wait()
	<-silent
	<-quiet
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if got, want := [2]bool{status.Signaled(), status.ExitStatus() == 128+9}, [2]bool{r.victim == "proxy", r.victim == "agent"}; got != want {
		r.Errorf("the proxy ends with %v", cmd.ProcessState)
	}
	if stderr.Len() > 0 {
		r.Errorf("stderr: %s", stderr.String())
	}
	r.await("the end of all processes", func() bool { return len(r.processes()) == 0 })
	r.await("the end of all tapes", func() bool { // a process that ends lets go of its files later
		l, err := r.store.List()
		return err == nil && !slices.ContainsFunc(l.Tapes, func(i record.Info) bool { return i.Live })
	})
}

// kill kills the victim a while after it has been started, or after it has work.
func (r *nestedKill) kill() {
	pid := 0
	r.await("the victim", func() bool {
		for p, role := range r.processes() {
			if role == r.victim {
				pid = p
			}
		}
		return pid != 0
	})
	if r.busy {
		r.await("the servers", func() bool { return len(r.voice("one.client").heard) > 0 && len(r.voice("two.client").heard) > 0 })
	}
	time.AfterFunc(time.Duration(rand.IntN(30))*time.Millisecond, func() { syscall.Kill(pid, syscall.SIGKILL) })
	r.await("its end", func() bool { return r.processes()[pid] == "" })
}

// await returns when something is so.
func (r *nestedKill) await(what string, done func() bool) {
	for end := time.Now().Add(2 * time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			r.Errorf("waited for %s; these run: %v", what, r.processes())
			return
		}
	}
}

// processes returns which processes run, and as what.
func (r *nestedKill) processes() map[int]string {
	all := map[int]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file) // empty of one that has ended and not been waited for
		if err != nil || !bytes.Contains(line, []byte(r.dir)) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		args := strings.Split(string(line), "\x00")
		switch program := filepath.Base(args[0]); {
		case program == "talking-agent":
			all[pid] = "agent"
		case program == "talking-server":
			all[pid] = "server"
		case slices.Contains(args, "--parent"):
			all[pid] = "server's proxy"
		default:
			all[pid] = "proxy"
		}
	}
	return all
}

// check compares the tapes with what was sent and received. It returns the number of bytes on
// them.
func (r *nestedKill) check(when string) (n int) {
	r.Helper()
	l, err := r.store.List()
	if err != nil || len(l.Broken) > 0 {
		r.Errorf("%s: broken %v, %v", when, l.Broken, err)
	}
	var parent record.Info
	nested := map[string]record.Info{} // by the server's name
	for _, info := range l.Tapes {
		if info.Live || !info.Complete && when == "recovered" {
			r.Errorf("%s: %+v", when, info)
		}
		if info.Start.Parent.Tape == "" {
			parent = info
		} else {
			nested[info.Start.Parent.Server] = info
		}
	}
	var setup []byte
	if parent.Tape == "" {
		if len(l.Tapes)+len(r.heard) > 0 {
			r.Fatalf("%s: the agent has no tape: %+v", when, l.Tapes)
		}
	} else {
		got := r.compare(when, parent, voice{r.said.Bytes(), r.heard}, r.voice("agent"))
		setup, n = got[wire.ClientToAgent].heard, len(got[wire.AgentToClient].said)
	}
	for _, name := range []string{"one", "two"} {
		client, server := r.voice(name+".client"), r.voice(name+".server")
		info, ok := nested[name]
		if !ok {
			if len(client.heard)+len(server.heard) > 0 {
				r.Errorf("%s: %s has no tape", when, name)
			}
			continue
		}
		if p := info.Start.Parent; p.Tape != parent.Tape || !bytes.Contains(setup, []byte(p.Tape+"/"+p.Link+"/"+name)) {
			r.Errorf("%s: the parent of %s is %+v, and that of the agent's tape %s has\n%s", when, name, p, parent.Tape, setup)
		}
		got := r.compare(when, info, client, server)
		n += len(got[wire.ClientToAgent].said) + len(got[wire.AgentToClient].said)
	}
	if known := len(nested) + 1; len(l.Tapes) > known {
		r.Errorf("%s: %d tapes, of which %d are known", when, len(l.Tapes), known)
	}
	return n
}

// A voice is what one side has sent, or was about to send, and what it has received.
type voice struct{ said, heard []byte }

// voice returns that of a program; an empty one if it was not started.
func (r *nestedKill) voice(name string) voice {
	r.Helper()
	var streams [2][]byte
	for i, ext := range []string{".said", ".heard"} {
		var err error
		if streams[i], err = os.ReadFile(filepath.Join(r.dir, name+ext)); err != nil && !os.IsNotExist(err) {
			r.Error(err)
		}
	}
	return voice{streams[0], streams[1]}
}

// compare compares a tape with what both sides sent and received. It returns the part of that
// on the tape, by direction.
func (r *nestedKill) compare(when string, info record.Info, client, agent voice) (got [2]voice) {
	r.Helper()
	tape, err := r.store.Open(info.Tape)
	if err != nil {
		r.Fatal(err)
	}
	seq := uint64(0)
	for f, err := range tape.Frames(1) {
		if err != nil {
			r.Fatalf("%s: %v", when, err)
		}
		if seq++; f.Seq != seq {
			r.Errorf("%s: frame %d has the number %d", when, seq, f.Seq)
		}
		switch {
		case f.Kind == wire.Mark:
			if m := wire.ReadMark(f.Frame); m.Gap > 0 || m.Damage > 0 {
				r.Errorf("%s: %s", when, f.Raw)
			}
			continue
		case f.Dir == wire.AgentStderr:
			r.Errorf("%s: on stderr: %s", when, f.Raw)
			continue
		}
		v := &got[f.Dir]
		if f.Origin.Sent() {
			v.said = append(append(v.said, f.Raw...), f.End.Bytes()...)
		}
		if f.Origin.Received() {
			v.heard = append(append(v.heard, f.Raw...), f.End.Bytes()...)
		}
	}
	for dir, sides := range [2]struct{ said, heard []byte }{{client.said, agent.heard}, {agent.said, client.heard}} {
		what := fmt.Sprintf("%s: %s %v: said are %d bytes, on the tape %d, %d of them passed on, heard %d", when, info.ServerName(), wire.Direction(dir),
			len(sides.said), len(got[dir].said), len(got[dir].heard), len(sides.heard))
		if !bytes.HasPrefix(sides.said, got[dir].said) {
			r.Errorf("%s: not all that is on the tape was said", what)
		}
		if !bytes.HasPrefix(got[dir].heard, sides.heard) {
			r.Errorf("%s: not all that was heard is on the tape", what)
		}
		missing := len(sides.said) - len(got[dir].said)
		if wire.Direction(dir) == wire.AgentToClient && info.Exit != nil && missing > lastLine(sides.said) {
			r.Errorf("%s: the proxy has not read all", what)
		}
	}
	return got
}

// lastLine returns how long the last line of a stream is, which may be broken off.
func lastLine(stream []byte) int {
	return len(stream) - bytes.LastIndexByte(bytes.TrimSuffix(stream, []byte("\n")), '\n') - 1
}
