package frameindex_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frameindex"
	"github.com/acptap/acptap/record"
)

// twice makes a store with a session on two tapes, and returns their ids.
func twice(tb testing.TB) (store *record.Store, ids []string) {
	tb.Helper()
	store = record.OpenStore(tb.TempDir())
	for _, day := range []string{"monday", "tuesday"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "screen", "testdata", "session-on-two-tapes", day+".jsonl"))
		if err != nil {
			tb.Fatal(err)
		}
		id, err := store.Import(bytes.NewReader(text), "tape", nil)
		if err != nil {
			tb.Fatal(err)
		}
		ids = append(ids, id)
	}
	return store, ids
}

func TestSearch(t *testing.T) {
	store, ids := twice(t)
	tests := []struct {
		query string
		want  []string
	}{
		{"tokens", []string{ids[1] + " 5"}},
		{"kind:request", []string{ids[1] + " 1", ids[1] + " 3", ids[0] + " 1", ids[0] + " 2"}},
		{"latency:>2s", []string{ids[1] + " 5"}},
		{"is:open", []string{ids[0] + " 2"}},
		{"turn:1 kind:request", []string{ids[1] + " 3", ids[0] + " 1"}},
		{"nowhere", nil},
	}
	for _, tt := range tests {
		want, err := filter.Parse(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for hit, err := range (frameindex.Search{Store: store, Filter: want, NewestFirst: true}).Hits(t.Context()) {
			if err != nil {
				t.Fatalf("%s: %v", tt.query, err)
			}
			got = append(got, hit.Tape.Tape+" "+string(rune('0'+hit.Frame.Seq)))
		}
		if strings.Join(got, ", ") != strings.Join(tt.want, ", ") {
			t.Errorf("%s: got %v, want %v", tt.query, got, tt.want)
		}
	}
}

func TestSearchCancelled(t *testing.T) {
	store, _ := twice(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	var last error
	for _, last = range (frameindex.Search{Store: store}).Hits(ctx) {
		n++
		cancel()
	}
	if n != 2 || !errors.Is(last, context.Canceled) {
		t.Errorf("got %d results, the last with %v; want a hit and the cause of the end", n, last)
	}
}
