package record

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/tapeid"
)

// The clock is set back and forward between tapes of one process and of several: tapes are
// listed in recording order, except for those far ahead, and each has the time that the clock
// showed. A session continues, and its runs and the sessions keep that order too.
func TestClockSetBack(t *testing.T) {
	const (
		opened = `{"jsonrpc":"2.0","id":1,"method":"session/%s","params":{"sessionId":"%s","cwd":"/w","mcpServers":[]}}` + "\n"
		result = `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"%s"}}` + "\n"
		prompt = `{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"%s","prompt":[]}}` + "\n"
		ended  = `{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}` + "\n"
	)
	for _, processes := range []string{"one process", "several"} {
		t.Run(processes, func(t *testing.T) {
			store := OpenStore(t.TempDir())
			var recorded []string
			for _, one := range []struct {
				method, session string
				shift           time.Duration
			}{
				{"new", "ahead", 72 * time.Hour},
				{"new", "s", 0},
				{"load", "s", -2 * time.Hour},
				{"new", "t", -2 * time.Hour},
				{"load", "s", 0},
				{"load", "t", -20 * time.Hour},
			} {
				if processes == "several" {
					store = OpenStore(store.Dir())
				}
				store.shift, store.EndTime = one.shift, time.Minute
				before := time.Now()
				j, err := store.Record(Start{Command: []string{"agent"}})
				if err != nil {
					t.Fatal(err)
				}
				j.Append(wire.ClientToAgent, wire.Wire, fmt.Appendf(nil, opened, one.method, one.session))
				j.Append(wire.AgentToClient, wire.Wire, fmt.Appendf(nil, result, one.session))
				j.Append(wire.ClientToAgent, wire.Wire, fmt.Appendf(nil, prompt, one.session))
				j.Append(wire.AgentToClient, wire.Wire, []byte(ended))
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
				j.Wait()
				recorded = append(recorded, j.Tape())
				tape, err := store.Open(j.Tape())
				if err != nil {
					t.Fatal(err)
				}
				info, err := tape.Info()
				if shown := before.Add(one.shift); err != nil || info.Start.Time.Before(shown.Round(0)) || info.Start.Time.After(shown.Add(time.Since(before))) {
					t.Errorf("got a tape that began at %v, and %v; the clock showed %v", info.Start.Time, err, shown)
				}
			}
			l, err := store.List()
			if err != nil {
				t.Fatal(err)
			}
			var listed, sessions []string
			for _, i := range l.Tapes {
				listed = append(listed, i.Tape)
			}
			if !slices.Equal(listed, recorded) {
				t.Errorf("got the tapes %v, recorded as %v", listed, recorded)
			}
			for _, s := range l.Sessions {
				sessions = append(sessions, s.ID)
				for _, r := range s.Runs {
					sessions = append(sessions, fmt.Sprint(slices.Index(recorded, r.Tape)))
				}
			}
			if want := []string{"ahead", "0", "s", "1", "2", "4", "t", "3", "5"}; !slices.Equal(sessions, want) {
				t.Errorf("got the sessions with their tapes %v, want %v", sessions, want)
			}
			for _, tape := range recorded[1:] {
				tape, err := store.Open(tape)
				if err != nil {
					t.Fatal(err)
				}
				info, err := tape.Info()
				if err != nil || !tapeid.Fits(info.Tape, info.Start.Time) {
					t.Errorf("another store would not take %s, which began at %v: %v", info.Tape, info.Start.Time, err)
				}
			}
		})
	}
}

// BenchmarkFirstTape begins the first tape of a process in a store of many tapes.
func BenchmarkFirstTape(b *testing.B) {
	for _, n := range []int{200, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			store := OpenStore(b.TempDir())
			if err := store.make(); err != nil {
				b.Fatal(err)
			}
			now := time.Now()
			for i := range n {
				file := store.tapeFile(tapeid.New(now.Add(time.Duration(i-n) * time.Minute))).Path
				if err := os.WriteFile(file, nil, 0o600); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if at := new(latestTape).after(store, now, now.Round(0)); !at.Equal(now) {
					b.Fatal(at)
				}
			}
		})
	}
}
