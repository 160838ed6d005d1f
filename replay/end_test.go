package replay_test

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acptap/acptap/replay"
)

// An agent that was killed after its n-th frame says n frames and is killed,
// however much the client has to say.
func TestDeath(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(twoTurns), "\n")
	says := strings.Join([]string{hello, makeNew, first, allow, second, cancel}, "\n") + "\n"
	for n, want := 0, ""; n <= len(lines); n++ {
		if n > 0 {
			if frame, ok := strings.CutPrefix(lines[n-1], "a "); ok {
				want += frame + "\n"
			}
		}
		cut := strings.Join(lines[:n], "\n") + "\n" + `! {"dir":"a2c","exit":{"code":137,"signal":"killed"}}` + "\n"
		var out bytes.Buffer
		a := replay.Agent{Sources: []replay.Source{{Tape: tapeOf(t, cut)}}, Cwd: "/w/rec", Partial: true}
		report, err := a.Run(context.Background(), strings.NewReader(says), &out, io.Discard)
		if err != nil && n == len(lines) {
			t.Errorf("killed after frame %d: %v\n%s", n, err, &report)
		}
		if got := strings.Count(out.String(), "\n"); got < strings.Count(want, "\n") {
			t.Errorf("killed after frame %d: the agent said %d lines, want\n%s\ngot\n%s", n, got, want, out.String())
		}
		if report.Exit == nil || report.Exit.Signal != "killed" {
			t.Errorf("killed after frame %d: got the exit %+v", n, report.Exit)
		}
	}
}

// Frames come at the recorded pace, at half of it, and not later than the longest
// wait after one another.
func TestPace(t *testing.T) {
	const tape = `
! {"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
! {"at":3,"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
`
	for _, tt := range []struct {
		pace string
		want time.Duration
	}{
		{"fast", 0},
		{"recorded", 3 * time.Second},
		{"0.5x", 6 * time.Second},
		{"recorded,max=1s", time.Second},
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
				a := replay.Agent{Sources: []replay.Source{{Tape: tapeOf(t, tape)}}, Pace: pace, Patience: time.Hour}
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

// A run leaves no goroutine behind.
func TestNothingLeft(t *testing.T) {
	tape := tapeOf(t, twoTurns)
	before := runtime.NumGoroutine()
	for range 20 {
		a := replay.Agent{Sources: []replay.Source{{Tape: tape}}, Partial: true}
		if _, err := a.Run(context.Background(), strings.NewReader(hello+"\n"+makeNew+"\n"), io.Discard, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, before)
}

// settle waits for goroutines to end that are about to.
func settle(t testing.TB, want int) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > want; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			buf := make([]byte, 64<<10)
			t.Fatalf("got %d goroutines, want %d:\n%s", runtime.NumGoroutine(), want, buf[:runtime.Stack(buf, true)])
		}
	}
}
