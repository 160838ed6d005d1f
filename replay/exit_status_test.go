package replay_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// An agent that was killed after the n-th frame of its tape is killed there: all
// that it said before is said, and nothing more, however much the client has to
// say.
func TestDeath(t *testing.T) {
	for _, path := range replaytest.Recorded(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			file, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dieEverywhere(t, file)
		})
	}
	for seed := range uint64(10) {
		dieEverywhere(t, []byte(replaytest.Talk(rand.New(rand.NewPCG(seed, 4)))))
	}
}

// dieEverywhere cuts off a tape in the portable form after each of its lines.
func dieEverywhere(t *testing.T, file []byte) {
	t.Helper()
	whole, err := record.ReadPortable(bytes.NewReader(file), "whole")
	if err != nil {
		t.Fatal(err)
	}
	info, err := whole.Info()
	if err != nil {
		t.Fatal(err)
	}
	says := replaytest.Said(t, whole, wire.ClientToAgent)
	lines := bytes.SplitAfter(bytes.TrimSpace(file), []byte("\n"))
	for n := range len(lines) {
		cut := append(bytes.Join(lines[:n], nil), `{"dir":"a2c","exit":{"code":137,"signal":"killed"}}`...)
		tape, err := record.ReadPortable(bytes.NewReader(cut), "cut")
		if err != nil {
			t.Fatal(err)
		}
		want := replaytest.Said(t, tape, wire.AgentToClient)
		if last, err := tape.Last(); err != nil {
			t.Fatal(err)
		} else if f, err := tape.Frame(last - 1); err == nil && f.Dir == wire.AgentToClient && f.Method == "ping" {
			continue // a ping is optional, so the end does not wait for it
		}
		var out bytes.Buffer
		a := replay.Agent{Tapes: []*record.Tape{tape}, Cwd: info.Start.Cwd}
		report, err := a.Run(t.Context(), bytes.NewReader(says), &out, io.Discard)
		if err != nil {
			t.Errorf("killed behind line %d: %v\n%s", n, err, &report)
		}
		if d := cmp.Diff(sorted(out.Bytes()), sorted(want)); d != "" {
			t.Errorf("killed behind line %d: what the agent said (-got +want):\n%s", n, d)
		}
		if report.Exit == nil || report.Exit.Signal != "killed" || report.Exit.Code != 137 {
			t.Errorf("killed behind line %d: got the exit %+v", n, report.Exit)
		}
	}
}

// sorted sorts lines: the order of concurrent sessions and calls is arbitrary.
func sorted(text []byte) []string { return slices.Sorted(strings.Lines(string(text))) }

// Frames come at the recorded pace, at half of it, and not later than the longest
// wait after one another.
func TestPace(t *testing.T) {
	const tape = `
! {"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
! {"at":3,"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
`
	// A rule of the recorded proxy had the answer written later than it came.
	delayed := strings.Replace(tape, "! {\"at\":3", `! {"at":1,"dir":"a2c","rule":{"name":"late","did":"delay 2 s","frames":1,"delay":2}}
! {"at":1`, 1)
	for _, tt := range []struct {
		pace string
		tape string
		want time.Duration
	}{
		{"fast", tape, 0},
		{"recorded", tape, 3 * time.Second},
		{"recorded", delayed, 3 * time.Second},
		{"0.5x", tape, 6 * time.Second},
		{"recorded,max=1s", tape, time.Second},
	} {
		t.Run(tt.pace, func(t *testing.T) {
			pace, err := replay.ParsePace(tt.pace)
			if err != nil || pace.String() != tt.pace {
				t.Fatalf("got %v, %v", pace, err)
			}
			synctest.Test(t, func(t *testing.T) {
				out := &stamped{start: time.Now()}
				in, client := io.Pipe()
				go func() {
					io.WriteString(client, hello+"\n")
					time.Sleep(time.Minute)
					client.Close()
				}()
				a := replay.Agent{Tapes: []*record.Tape{replaytest.Tape(t, tt.tape)}, Pace: pace, Patience: time.Hour}
				if report, err := a.Run(context.Background(), in, out, io.Discard); err != nil {
					t.Fatalf("%v\n%s", err, &report)
				}
				if out.after != tt.want {
					t.Errorf("the answer came after %v, want %v", out.after, tt.want)
				}
			})
		})
	}
}

// No goroutine remains after a run.
func TestNothingLeft(t *testing.T) {
	tape := replaytest.Tape(t, twoTurns)
	before := runtime.NumGoroutine()
	for range 20 {
		a := replay.Agent{Tapes: []*record.Tape{tape}, Partial: true}
		if _, err := a.Run(context.Background(), strings.NewReader(hello+"\n"+makeNew+"\n"), io.Discard, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	replaytest.WaitForGoroutines(t, before)
}

// An agent that outlived a signal, and ended later without one, ends by itself.
func TestDeathAfterSignal(t *testing.T) {
	tape := replaytest.Tape(t, `! {"dir":"c2a","signal":"hangup"}`+twoTurns+`! {"dir":"a2c","exit":{"code":3}}`)
	in, client := io.Pipe()
	defer client.Close()
	go client.Write(replaytest.Said(t, tape, wire.ClientToAgent))
	a := replay.Agent{Tapes: []*record.Tape{tape}, Cwd: "/w/rec"}
	report, err := a.Run(t.Context(), in, io.Discard, io.Discard) // returns though in is open
	if err != nil || report.Exit == nil || report.Exit.Code != 3 || report.Signal != "" {
		t.Errorf("got %v, %+v", err, report)
	}
}

// The client's time limit does not include the time that the agent takes.
func TestPaceIsNoStall(t *testing.T) {
	const tape = `
! {"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":11,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
! {"at":0,"dir":"a2c","frame":{"jsonrpc":"2.0","id":11,"result":{"sessionId":"s"}}}
! {"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":12,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}}
! {"at":20,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}}
! {"at":21,"dir":"c2a","frame":{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}}
! {"at":22,"dir":"a2c","frame":{"jsonrpc":"2.0","id":12,"result":{"stopReason":"cancelled"}}}
`
	synctest.Test(t, func(t *testing.T) {
		in, client := io.Pipe()
		go func() {
			io.WriteString(client, makeNew+"\n"+`{"jsonrpc":"2.0","id":12,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`+"\n")
			time.Sleep(21 * time.Second)
			io.WriteString(client, cancel+"\n")
			time.Sleep(time.Second)
			client.Close()
		}()
		a := replay.Agent{Tapes: []*record.Tape{replaytest.Tape(t, tape)}, Pace: replay.Pace{Speed: 1}}
		if report, err := a.Run(t.Context(), in, io.Discard, io.Discard); err != nil {
			t.Errorf("%v\n%s", err, &report)
		}
	})
}

// However a client gets to the second connection of a tape, it gets one answer to each of its
// requests.
func TestPaceOfConnections(t *testing.T) {
	const load = `{"jsonrpc":"2.0","id":11,"method":"session/load","params":{"sessionId":"s","cwd":"/w","mcpServers":[]}}`
	connection := func(begin int, session string, delay int) string {
		return fmt.Sprintf(`
! {"at":%d,"dir":"c2a","frame":{"jsonrpc":"2.0","id":10,"method":"initialize","params":{"protocolVersion":1}}}
! {"at":%d,"dir":"a2c","frame":{"jsonrpc":"2.0","id":10,"result":{"protocolVersion":1}}}
! {"at":%[2]d,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"_x/status","params":{}}}
! {"at":%d,"dir":"c2a","frame":{"jsonrpc":"2.0","id":11,"method":"session/load","params":{"sessionId":%q,"cwd":"/w","mcpServers":[]}}}
! {"at":%d,"dir":"a2c","frame":{"jsonrpc":"2.0","id":11,"result":{"of":%[4]q}}}
`, begin, begin+delay, begin+10, session, begin+13)
	}
	want := []string{`{"jsonrpc":"2.0","id":10,"result":{"protocolVersion":1}}`, `{"jsonrpc":"2.0","method":"_x/status","params":{}}`, `{"jsonrpc":"2.0","id":11,"result":{"of":"s"}}`}
	for _, tt := range []struct {
		name          string
		first, second int // seconds until initialize was answered
		wait          time.Duration
	}{
		{"at once", 3, 3, 0},
		{"when the answer has come", 3, 3, 4 * time.Second},
		{"before that of the second would have come", 3, 9, 4 * time.Second},
		{"when only that of the second would have come", 9, 3, 4 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				in, client := io.Pipe()
				go func() {
					io.WriteString(client, hello+"\n")
					time.Sleep(tt.wait)
					io.WriteString(client, load+"\n")
					time.Sleep(time.Minute)
					client.Close()
				}()
				tape := replaytest.Tape(t, connection(0, "r", tt.first)+connection(20, "s", tt.second))
				a := replay.Agent{Tapes: []*record.Tape{tape}, Pace: replay.Pace{Speed: 1}, Cwd: "/"}
				report, err := a.Run(t.Context(), in, &out, io.Discard)
				if err != nil || report.Sent != 3 || report.Received != 2 || report.Matched != 2 {
					t.Errorf("got %v with the report %+v", err, report)
				}
				if got := strings.Split(strings.TrimSpace(out.String()), "\n"); !slices.Equal(got, want) {
					t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			})
		})
	}
}
