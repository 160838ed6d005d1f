package replay_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// Frames of no session, and lines that are not frames of the protocol, come when everything
// has arrived that the client had sent before them, and not earlier.
func TestPlaces(t *testing.T) {
	for _, path := range replaytest.Recorded(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { checkPlaces(t, replaytest.Open(t, path)) })
	}
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			text := replaytest.Talk(rand.New(rand.NewPCG(seed, 6)))
			tape, err := record.ReadPortable(strings.NewReader(text), "generated")
			if err != nil {
				t.Fatal(err)
			}
			if checkPlaces(t, tape); t.Failed() {
				t.Log(text)
			}
		})
	}
}

// checkPlaces makes a client send one message after the other, and checks each time which
// frames of no session the agent has sent.
func checkPlaces(t *testing.T, tape *record.Tape) {
	t.Helper()
	info, err := tape.Info()
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		in, client := io.Pipe()
		var out, errOut bytes.Buffer
		done := make(chan error)
		go func() {
			a := replay.Agent{Tapes: []*record.Tape{tape}, Cwd: info.Start.Cwd}
			_, err := a.Run(t.Context(), in, &out, &errOut)
			done <- err
		}()
		synctest.Wait()
		var want, wantErr strings.Builder
		for f, err := range tape.Frames(1) {
			switch {
			case err != nil:
				t.Fatal(err)
			case f.Kind == wire.Mark:
			case f.Dir == wire.ClientToAgent && !unneeded(&f):
				if got, want := free(out.String()), free(want.String()); got != want {
					t.Errorf("before frame %d: %s", f.Seq, cmp.Diff(got, want))
				}
				if got, want := errOut.String(), wantErr.String(); got != want {
					t.Errorf("stderr before frame %d: %s", f.Seq, cmp.Diff(got, want))
				}
				fallthrough
			case f.Dir == wire.ClientToAgent:
				client.Write(append(bytes.Clone(f.Raw), '\n'))
				synctest.Wait()
			case f.Dir == wire.AgentToClient:
				fmt.Fprintf(&want, "%s%s", f.Raw, f.End.Bytes())
			case f.Dir == wire.AgentStderr:
				fmt.Fprintf(&wantErr, "%s%s", f.Raw, f.End.Bytes())
			}
		}
		client.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if got, want := errOut.String(), wantErr.String(); got != want {
			t.Errorf("stderr at the end: %s", cmp.Diff(got, want))
		}
	})
}

// unneeded reports whether nothing waits for a message of the client.
func unneeded(f *dialect.Frame) bool {
	e := wire.Scan(f.Raw)
	return f.Method == "$/cancel_request" || f.Method == "ping" ||
		f.Kind == wire.Notification && strings.HasPrefix(f.Method, "notifications/") && f.Method != "notifications/initialized" && f.Method != "notifications/cancelled" ||
		f.Kind == wire.Response && (e.Error != nil || bytes.Contains(e.Result, []byte(`"cancelled"`)))
}

// free returns the lines that are of no session and answer nothing.
func free(said string) string {
	var b strings.Builder
	for line := range strings.Lines(said) {
		e := wire.Scan([]byte(line))
		switch {
		case e.Kind == wire.Response, e.Kind == wire.Batch, e.Session != nil, bytes.Contains(e.Params, []byte(`"sessionId"`)):
		default:
			b.WriteString(line)
		}
	}
	return b.String()
}

// Other sessions' frames between those of a session do not come before the session is
// requested, and stderr keeps its order.
func TestBeside(t *testing.T) {
	const tape = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
! {"dir":"err","text":"zero"}
c {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w/rec","mcpServers":[]}}
! {"dir":"err","text":"one"}
a {"jsonrpc":"2.0","method":"_auth/status_update","params":{}}
! {"dir":"err","text":"two"}
! {"dir":"a2c","text":"no frame"}
a {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
`
	synctest.Test(t, func(t *testing.T) {
		in, client := io.Pipe()
		var said bytes.Buffer
		done := make(chan error)
		go func() {
			a := replay.Agent{Tapes: []*record.Tape{replaytest.Tape(t, tape)}, Cwd: "/w/rec"}
			_, err := a.Run(t.Context(), in, &said, &said)
			done <- err
		}()
		for _, step := range []struct{ says, want string }{
			{hello, `{"jsonrpc":"2.0","id":10,"result":{"protocolVersion":1}}` + "\nzero\n"},
			{makeNew, "one\n" + `{"jsonrpc":"2.0","method":"_auth/status_update","params":{}}` + "\ntwo\nno frame\n" + `{"jsonrpc":"2.0","id":11,"result":{"sessionId":"s"}}` + "\n"},
		} {
			said.Reset()
			io.WriteString(client, step.says+"\n")
			synctest.Wait()
			if d := cmp.Diff(said.String(), step.want); d != "" {
				t.Errorf("after %s (-got +want):\n%s", step.says, d)
			}
		}
		client.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// A client that waits for each answer need not wait for messages that a faster recorded
// client had sent earlier: the answer comes without the frames of no session.
func TestHastyTape(t *testing.T) {
	const tape = `
c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
c {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/none","mcpServers":[]}}
c {"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/w/rec","mcpServers":[]}}
a {"jsonrpc":"2.0","method":"_x/status","params":{}}
a {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
a {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"there is no /none"}}
a {"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}
`
	for _, r := range robots {
		t.Run(r.name, func(t *testing.T) { checkRobot(t, r, replaytest.Tape(t, tape), replay.Agent{Cwd: "/"}) })
	}
	t.Run("in lockstep", func(t *testing.T) {
		asks := robot{name: "asks", wait: func(s *scene, lines []line, i int) bool {
			return i > 0 && !s.answered[string(lines[i-1].e.ID)]
		}}
		checkRobot(t, asks, replaytest.Tape(t, tape), replay.Agent{Cwd: "/"})
	})
}

// A line on stderr is as long as it was.
func TestLongLine(t *testing.T) {
	long := strings.Repeat("word ", 1<<19)
	tape := replaytest.Tape(t, `! {"dir":"err","text":"`+long+`"}`+"\nc "+hello)
	var out, errOut bytes.Buffer
	a := replay.Agent{Tapes: []*record.Tape{tape}, Partial: true}
	if _, err := a.Run(t.Context(), strings.NewReader(""), &out, &errOut); err != nil {
		t.Fatal(err)
	}
	if errOut.String() != long+"\n" {
		t.Errorf("got %d bytes, want %d", errOut.Len(), len(long)+1)
	}
}
