//go:build linux

package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

var killsSessions = flag.Int("kills-sessions", 4, "how many proxies TestKillSessions kills")

// However a proxy that rewrites ids is killed: each frame on its tape is whole but
// for the last, and has the origin that it has; also when another process has
// sealed it.
func TestKillSessions(t *testing.T) {
	t.Parallel()
	n := *killsSessions
	if testing.Short() {
		n = min(n, 2)
	}
	const stores = 2
	var group sync.WaitGroup
	var frames [4]atomic.Int64
	for range stores {
		group.Go(func() {
			store := record.OpenStore(t.TempDir())
			for k := range max(n/stores, 1) {
				session := fmt.Sprintf("old-%d", k)
				before := recordOld(t, store, session)
				r := killLoading(t, recorders[k%2], store, session, time.Duration(rand.IntN(400))*time.Millisecond)
				if r == nil {
					return
				}
				var was []string
				for _, when := range []string{"killed", "recovered"} {
					now := r.checkOrigins(t, store, when, &frames)
					if was != nil && strings.Join(was, "\n") != strings.Join(now, "\n") {
						t.Errorf("tape %s: when it is recovered there is another tape", r.tape)
					}
					was = now
					if err := store.Recover(func() bool { return false }, nil); err != nil {
						t.Error(err)
					}
				}
				tapes := []string{before}
				if r.tape != "" {
					tapes = append(tapes, r.tape)
				}
				store.Delete(tapes...)
				if t.Failed() {
					return
				}
			}
		})
	}
	group.Wait()
	var counts []string
	for o := range frames {
		counts = append(counts, fmt.Sprintf("%d %v", frames[o].Load(), wire.Origin(o)))
	}
	if frames[wire.Rewritten].Load() == 0 {
		t.Error("nothing was rewritten")
	}
	t.Logf("%d kills; frames read: %s", n, strings.Join(counts, ", "))
}

// recordOld records a session with one turn, to be loaded.
func recordOld(t *testing.T, store *record.Store, session string) (tape string) {
	journal, err := store.Record(record.Start{Name: "loud", Command: []string{"loud-agent"}, Proto: "acp"})
	if err != nil {
		t.Error(err)
		return ""
	}
	for i, line := range []string{
		`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`,
		`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"sessionId":"` + session + `"}}`,
		`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"` + session + `","prompt":[{"type":"text","text":"recorded"}]}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}`,
	} {
		if err := journal.Append(wire.Direction(i%2), wire.Wire, []byte(line+"\n")); err != nil {
			t.Error(err)
		}
	}
	if err := journal.Close(); err != nil {
		t.Error(err)
	}
	journal.Wait()
	return journal.Tape()
}

// killLoading runs a proxy that loads a session, and prompts in it without end,
// and kills it a while after the agent has begun to talk.
func killLoading(t *testing.T, recorder []string, store *record.Store, session string, after time.Duration) *killedRun {
	known := tapesOf(store)
	cmd := recorderCommand(recorder, "--store", store.Dir(), "--sessions", "--name", "loud", "--", "loud-agent")
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
		fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`+"\n"+`{"jsonrpc":"2.0","id":1,"method":"session/load","params":{"sessionId":%q,"cwd":"/w","mcpServers":[]}}`+"\n", session)
		for i := 2; ; i++ {
			if _, err := fmt.Fprintf(stdin, `{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"%s"}]}}`+"\n", i, session, loudText()); err != nil {
				return
			}
		}
	})
	out := bufio.NewReader(stdout)
	r := &killedRun{}
	for !bytes.Contains(r.client, []byte("live ")) { // the first frame of the agent's own
		line, err := out.ReadBytes('\n')
		r.client = append(r.client, line...)
		if err != nil {
			t.Errorf("the proxy says %q: %v", stderr.String(), err)
			break
		}
	}
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	defer timer.Stop()
	rest, err := io.ReadAll(out)
	if err != nil {
		t.Error(err)
	}
	r.client = append(r.client, rest...)
	cmd.Wait()
	stdin.Close()
	writer.Wait()
	for tape := range tapesOf(store) {
		if !known[tape] {
			r.tape = tape
		}
	}
	return r
}

// loud finds how long the text of a frame is.
var loud = regexp.MustCompile(`"text":"live ([0-9]+) `)

// checkOrigins checks each frame of the tape, and returns them as text.
func (r *killedRun) checkOrigins(t *testing.T, store *record.Store, when string, count *[4]atomic.Int64) (list []string) {
	tape, err := store.Open(r.tape)
	if err != nil {
		t.Errorf("%s: %v", when, err)
		return nil
	}
	type stream struct {
		dir    wire.Direction
		origin wire.Origin
	}
	broken := map[stream]string{} // the frame that is not whole: nothing may follow it
	received := int64(0)          // by the client
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Errorf("%s: tape %s: %v", when, r.tape, err)
			return list
		}
		if f.Kind == wire.Mark {
			if m := wire.ReadMark(f.Frame); m.Gap > 0 || m.Damage > 0 {
				t.Errorf("%s: tape %s: %s", when, r.tape, f.Raw)
			}
			continue
		}
		about := fmt.Sprintf("frame %d %v %v of %d bytes: %.160s", f.Seq, f.Dir, f.Origin, f.Size, f.Raw)
		list = append(list, about)
		count[f.Origin].Add(1)
		if last := broken[stream{f.Dir, f.Origin}]; last != "" {
			t.Errorf("%s: tape %s: %s\nfollows what is not whole\n%s", when, r.tape, about, last)
		}
		if want, ok := originOf(f.Dir, f.Raw); ok && f.Origin != want {
			t.Errorf("%s: tape %s: want it %v: %s", when, r.tape, want, about)
		}
		if f.Dir == wire.AgentToClient && f.Origin.Received() {
			received += f.Size + int64(len(f.End.Bytes()))
		}
		if f.End == wire.None {
			broken[stream{f.Dir, f.Origin}] = about
			continue
		}
		if at := loud.FindSubmatchIndex(f.Raw); at != nil {
			n, _ := strconv.Atoi(string(f.Raw[at[2]:at[3]]))
			tail := int64(len(`"}}}}`))
			if f.Dir == wire.ClientToAgent {
				tail = int64(len(`"}]}}`))
			}
			if f.Size != int64(at[1]+n)+tail {
				t.Errorf("%s: tape %s: want a text of %d bytes in %s", when, r.tape, n, about)
			}
		}
	}
	if received < int64(len(r.client)) {
		t.Errorf("%s: tape %s: the client had %d bytes, and %d are on the tape", when, r.tape, len(r.client), received)
	}
	return list
}

// originOf returns the origin that a frame has, as far as it can be seen from its
// beginning.
func originOf(dir wire.Direction, raw []byte) (wire.Origin, bool) {
	has := func(text string) bool { return bytes.Contains(raw[:min(len(raw), 1000)], []byte(text)) }
	switch toClient := dir == wire.AgentToClient; {
	case has(`"initialize"`), toClient && has(`"stopReason"`):
		return wire.Wire, true
	case has(`"protocolVersion"`) && has(`"shim":`):
		return wire.Rewritten, true
	case has(`"protocolVersion":1}}`):
		return wire.Withheld, true
	case has(`"session/load"`), toClient && has(`"sessionId":"A-`), !toClient && has(`"sessionId":"old-`):
		return wire.Withheld, true
	case has(`"session/new"`), toClient && has(`"sessionId":"old-`) && has(`"recorded"`):
		return wire.Injected, true
	case has(`"sessionId":"`) && has(`"live `):
		return wire.Rewritten, true
	}
	return 0, false
}
