package drive_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/compare"
	"github.com/acptap/acptap/replay/drive"
	"github.com/acptap/acptap/replay/testdata/replaytest"
)

// The tape of each dialect, played as the client, has the same conversation with
// its own agent, also with one that makes other ids.
func TestDialectsClient(t *testing.T) {
	for name, text := range replaytest.Dialects(t) {
		for _, whose := range []replaytest.Party{replaytest.Nobody, replaytest.Agent} {
			t.Run(name+"/"+string(whose), func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "agent.jsonl")
				if err := os.WriteFile(path, replaytest.Renamed(t, text, whose), 0o600); err != nil {
					t.Fatal(err)
				}
				then := compare.Side{Tapes: []*record.Tape{replaytest.Read(t, replaytest.Renamed(t, text, replaytest.Nobody))}}
				store := record.OpenStore(t.TempDir())
				report, diff, said, err := playing(t, drive.Client{Tapes: then.Tapes, Start: replaytest.Role("tape", path), Store: store, Level: compare.Content})
				if err != nil || len(report.Notes) > 0 || len(report.Tapes) != 1 {
					t.Fatalf("got %v\n%v\n%s\n%s", err, report, diff, said)
				}
				if !strings.HasSuffix(said, "<nil>") || strings.Contains(said, "note: ") {
					t.Errorf("the agent says %s", said)
				}
				tape, err := store.Open(report.Tapes[0])
				if err != nil {
					t.Fatal(err)
				}
				now := compare.Side{Tapes: []*record.Tape{tape}}
				for _, pair := range [][2]compare.Side{{then, then}, {now, now}, {now, then}} {
					if diff, err := compare.Tapes(pair[0], pair[1], compare.Content); err != nil || !diff.Same() {
						t.Errorf("got %v, %v", diff, err)
					}
				}
			})
		}
	}
}
