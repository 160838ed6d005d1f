package replay_test

import (
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// The tape of each dialect, played as the agent, suits its own client, also one
// that makes other ids.
func TestDialectsAgent(t *testing.T) {
	for name, text := range replaytest.Dialects(t) {
		for _, r := range robots {
			t.Run(name+"/"+r.name, func(t *testing.T) {
				t.Parallel()
				recorded := replaytest.Renamed(t, text, replaytest.Nobody)
				checkRobot(t, r, replaytest.Read(t, recorded), replay.Agent{Cwd: "/srv/garden"})
				if !r.stringIDs { // of such a one they are others already
					checkRobot(t, r, replaytest.Read(t, replaytest.Renamed(t, text, replaytest.Client)), replay.Agent{Tapes: []*record.Tape{replaytest.Read(t, recorded)}, Cwd: "/srv/garden"})
				}
			})
		}
	}
}
