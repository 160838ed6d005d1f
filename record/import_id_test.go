package record_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// An import gives a tape its own id where that is one of a tape. Whatever it has
// instead, it stands where its time belongs.
func TestImportedIDs(t *testing.T) {
	now := time.Now()
	of := func(t time.Time) string {
		return strings.Replace(t.UTC().Format("20060102T150405.000"), ".", "", 1) + "-abcdef"
	}
	for _, tt := range []struct {
		id, started string
		kept        bool
	}{
		{"20260102T150405000-aaa111", "2026-01-02T15:04:05Z", true},
		{"20260102T150405000-aaa111", "2026-01-02T16:04:05.0001+01:00", true},
		{"20260102T150405-aaa111", "", true},
		{"20260102T150405000-aaa111", "2026-03-02T15:04:05Z", false},
		{of(now.Add(time.Hour)), "", false},
		{of(now.Add(time.Hour)), now.Add(time.Hour).Format(time.RFC3339), false},
		{"29990102T150405000-aaa111", "2999-01-02T15:04:05Z", false},
		{"29990102T150405000-aaa111", "", false},
		{"zz-xxxxxx", "", false},
		{"--dry-run", "2026-01-02T15:04:05Z", false},
		{"last-1234", "", false},
		{"../../victim/precious", "", false},
		{"20260102T150405000-../../x", "", false},
		{"20260102T150405000", "", false},
		{`\u001b[2J20260102`, "", false},
		{"", "2999-01-02T15:04:05Z", false},
	} {
		store := record.OpenStore(t.TempDir())
		header := fmt.Sprintf(`{"acptap":1,"tape":"%s","started":"%s"}`, tt.id, tt.started)
		if tt.started == "" {
			header = fmt.Sprintf(`{"acptap":1,"tape":"%s"}`, tt.id)
		}
		var notes []string
		id, err := store.Import(strings.NewReader(header+"\n"+`{"dir":"c2a","text":"x"}`+"\n"), "file", func(note string) { notes = append(notes, note) })
		if err != nil {
			t.Errorf("%s: %v", header, err)
			continue
		}
		if kept := id == tt.id; kept != tt.kept {
			t.Errorf("%s: imported as %s", header, id)
		}
		if tt.id != "" && (len(notes) > 0) == tt.kept {
			t.Errorf("%s: imported as %s with the notes %q", header, id, notes)
		}
		for _, note := range notes {
			if strings.ContainsFunc(note, func(c rune) bool { return c < ' ' }) {
				t.Errorf("%s: the note %q is not for a terminal", header, note)
			}
		}
		later := recordtest.Record(t, store, record.Start{Command: []string{"agent"}})
		if ids, err := store.Tapes(); err != nil || len(ids) != 2 || ids[1] != later.Tape() {
			t.Errorf("%s: got the tapes %v, %v; want %s last", header, ids, err, later.Tape())
		}
		later.Close()
		later.Wait()
		if l, err := store.List(); err != nil || len(l.Tapes) != 2 || len(l.Broken) > 0 {
			t.Errorf("%s: got %v, %v, %v", header, l.Tapes, l.Broken, err)
		}
	}
}
