package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/record"
)

// A store with a tape that cannot be read is not called empty, and each command
// names the tape once.
func TestUnreadableTape(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	tape, err := store.Import(strings.NewReader(`{"dir":"c2a","frame":{"jsonrpc":"2.0","method":"x"}}`+"\n"), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(store.Dir(), "tapes", tape+".db")
	if err := os.WriteFile(file, bytes.Repeat([]byte("no tape "), 4<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ command, want string }{
		{"doctor --rebuild", ""},
		{"ls", ""},
		{"sessions", "No sessions on the tapes that can be read.\n"},
	} {
		t.Run(tt.command, func(t *testing.T) {
			var out, complaints bytes.Buffer
			args := append(strings.Fields(tt.command), "--store", store.Dir())
			if code := run(t.Context(), args, nil, &out, &complaints); code != 2 {
				t.Errorf("got status %d, want 2", code)
			}
			if got := out.String(); tt.command != "doctor --rebuild" && got != tt.want {
				t.Errorf("got output %q, want %q", got, tt.want)
			}
			if n := strings.Count(complaints.String(), "database"); n != 1 {
				t.Errorf("the damage is named %d times, want once:\n%s", n, complaints.String())
			}
		})
	}
}
