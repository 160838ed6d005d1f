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

// Of the tape of each dialect, each session that was made for itself is a
// conversation of its own: both sides play it alone.
func TestDialectsOneSession(t *testing.T) {
	for name, text := range replaytest.Dialects(t) {
		sessions, err := replaytest.Read(t, text).Sessions()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions {
			if s.Parent != "" {
				continue // it cannot be without that
			}
			t.Run(name+"/"+s.ID, func(t *testing.T) {
				t.Parallel()
				path := filepath.Join(t.TempDir(), "agent.jsonl")
				if err := os.WriteFile(path, text, 0o600); err != nil {
					t.Fatal(err)
				}
				report, diff, said, err := playing(t, drive.Client{Tapes: []*record.Tape{replaytest.Read(t, text)}, Session: s.ID, Start: replaytest.Role("tape", path, s.ID), Level: compare.Content})
				if err != nil || len(report.Notes) > 0 {
					t.Fatalf("got %v\n%v\n%s\n%s", err, report, diff, said)
				}
				if !strings.HasSuffix(said, "<nil>") || strings.Contains(said, "note: ") {
					t.Errorf("the agent says %s", said)
				}
			})
		}
	}
}

// A fork of a session that was not made on the tape is made anew, as a load is.
func TestClientForksAnew(t *testing.T) {
	report, _, said, err := playing(t, drive.Client{
		Tapes: []*record.Tape{replaytest.Tape(t, `
c {"id":0,"method":"initialize","params":{"protocolVersion":1}}
a {"id":0,"result":{"protocolVersion":1}}
c {"id":1,"method":"session/fork","params":{"sessionId":"elsewhere","cwd":"/w"}}
a {"id":1,"result":{"sessionId":"f"}}
c {"id":2,"method":"session/close","params":{"sessionId":"f"}}
a {"id":2,"result":{}}`)},
		Start: replaytest.Role("canned", `{"protocolVersion":1}`, `{"sessionId":"now"}`, `{}`), Level: compare.Content, AsNew: true,
	})
	if err != nil || len(report.Notes) > 0 || !strings.Contains(said, "session/new {\"cwd\"") || !strings.HasSuffix(said, "session/close {\"sessionId\":\"now\"}\n") {
		t.Errorf("got %v, %v\n%s", err, report, said)
	}
}
