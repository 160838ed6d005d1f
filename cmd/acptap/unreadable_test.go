package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

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

// Of a tape that is damaged a page is written that says so, and the status is 2.
func TestReportDamaged(t *testing.T) {
	store, page := t.TempDir(), filepath.Join(t.TempDir(), "page.html")
	out, _ := must(t, 0, "--store", store, "import", "../../testdata/tapes/acp-go-sdk.jsonl")
	tape, _, _ := strings.Cut(out, "\n")
	db, err := bolt.Open(filepath.Join(store, "tapes", tape+".db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		blocks := tx.Bucket([]byte("blocks"))
		k, _ := blocks.Cursor().First()
		text := bytes.Clone(blocks.Bucket(k).Get([]byte("bytes")))
		text[len(text)/2] ^= 0x10
		return blocks.Bucket(k).Put([]byte("bytes"), text)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	_, complaints := must(t, 2, "--store", store, "report", "-o", page, "last")
	if !strings.Contains(complaints, "acptap: 1 part cannot be read; acptap doctor --deep says more\n") {
		t.Errorf("got %q", complaints)
	}
	text, err := os.ReadFile(page)
	if err != nil || !bytes.Contains(text, []byte(">damaged</span>")) || !bytes.HasSuffix(bytes.TrimSpace(text), []byte("</html>")) {
		t.Errorf("the page does not say it, or is cut: %v, %d bytes", err, len(text))
	}
}
