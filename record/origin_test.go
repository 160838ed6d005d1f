//go:build linux

package record_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A frame that begins in one block and ends after it keeps its origin, even if another
// dissector continues after that block.
func TestOriginOfHalfSeenFrame(t *testing.T) {
	frame := append(bytes.Repeat([]byte("x"), 4<<20), '\n')
	for _, origin := range []wire.Origin{wire.Withheld, wire.Injected, wire.Rewritten} {
		t.Run(origin.String(), func(t *testing.T) {
			store := record.OpenStore(t.TempDir())
			j := begin(t, store)
			first := segmentsOf(t, store)[0]
			j.Append(wire.AgentToClient, origin, frame[:3<<20])
			waitUntilGone(t, first)
			j.Append(wire.AgentToClient, origin, frame[3<<20:])
			killed := orphan(t, store)
			check := func(when string, store *record.Store) {
				t.Helper()
				var got []line
				for _, l := range lines(t, open(t, store, j.Tape())) {
					if l.kind != wire.Mark {
						got = append(got, l)
					}
				}
				if len(got) != 1 || got[0].origin != origin || got[0].size != 4<<20 {
					t.Errorf("%s: got %+v, want one frame, %v", when, got, origin)
				}
			}
			check("live", store)
			check("killed", killed)
			sealAll(t, killed)
			check("recovered", killed)
			finish(t, store, j)
			check("ended", store)
		})
	}
}

// waitUntilGone returns when the segment was sealed.
func waitUntilGone(t testing.TB, segment string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if _, err := os.Stat(segment); os.IsNotExist(err) {
			return
		}
	}
	t.Fatalf("%s is not sealed after a minute", segment)
}
