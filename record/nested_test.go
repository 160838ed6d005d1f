package record_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// A tape is nested in the one that it names, if that is there and nothing goes round in
// a circle. The list and the heads of the tapes say the same.
func TestNesting(t *testing.T) {
	id := func(n int) string { return fmt.Sprintf("20250102T0304%02d000-aaaaa%d", n, n) }
	for _, tt := range []struct {
		name    string
		parents []int // of tape 0, 1, …; -1: it names none
		outer   []int // the newest first
		below   []int // tape 0
	}{
		{"none", []int{-1, -1}, []int{1, 0}, nil},
		{"two starts of a server", []int{-1, 0, -1, 0}, []int{2, 0}, []int{1, 3}},
		{"a server of a server", []int{-1, 0, 1, 0}, []int{0}, []int{1, 2, 3}},
		{"begun before its parent", []int{1, -1}, []int{1}, nil},
		{"the parent is gone", []int{-1, 7}, []int{1, 0}, nil},
		{"the parent's parent is gone", []int{7, 0}, []int{0}, []int{1}},
		{"its own parent", []int{0, -1}, []int{1, 0}, nil},
		{"a circle", []int{1, 0, 0}, []int{2, 1, 0}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			store := record.OpenStore(t.TempDir())
			bundle := record.NewImporter(store)
			for n, parent := range tt.parents {
				head := fmt.Sprintf(`{"acptap":1,"tape":%q,"started":"2025-01-02T03:04:%02dZ"`, id(n), n)
				if parent >= 0 {
					head += fmt.Sprintf(`,"parent":{"tape":%q,"server":"files"}`, id(parent))
				}
				got, err := bundle.Import(strings.NewReader(head+"}\n"+`{"dir":"err","text":"x"}`+"\n"), "file", nil)
				if err != nil || got != id(n) {
					t.Fatal(got, err)
				}
			}
			l, err := store.List()
			if err != nil {
				t.Fatal(err)
			}
			tapes := l.Tapes
			ids, err := store.Tapes()
			if err != nil {
				t.Fatal(err)
			}
			n := record.NestingOf(tapes)
			named := func(list []int) (ids []string) {
				for _, n := range list {
					ids = append(ids, id(n))
				}
				return ids
			}
			if got, want := slices.Collect(store.Outer(ids)), named(tt.outer); !slices.Equal(got, want) {
				t.Errorf("by the heads: outer are %q, want %q", got, want)
			}
			var outer, below []string
			for _, i := range slices.Backward(tapes) {
				if n.Parent(i.Tape) == "" {
					outer = append(outer, i.Tape)
				}
			}
			if want := named(tt.outer); !slices.Equal(outer, want) {
				t.Errorf("by the list: outer are %q, want %q", outer, want)
			}
			for _, i := range n.Below(id(0)) {
				below = append(below, i.Tape)
			}
			if want := named(tt.below); !slices.Equal(below, want) {
				t.Errorf("below the first are %q, want %q", below, want)
			}
		})
	}
}

// TestClaimedParent: an imported tape is nested in a tape that was there before, or that came
// without it, only if that has its link.
func TestClaimedParent(t *testing.T) {
	const parent, child = "20250102T030400000-aaaaaa", "20250102T030401000-bbbbbb"
	setup := func(link string) string {
		return fmt.Sprintf(`{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/tmp/k2k2k2k2/x","mcpServers":[{"name":"files","command":"acptap","args":["proxy","--parent","%s/%s/files","--","files"],"env":[]}]}}}`+"\n", parent, link)
	}
	agent := `{"acptap":1,"tape":"` + parent + `","started":"2025-01-02T03:04:00Z"}` + "\n"
	server := func(link string) string {
		return fmt.Sprintf(`{"acptap":1,"tape":%q,"started":"2025-01-02T03:04:01Z","parent":{"tape":%q,"link":%q,"server":"files"}}`+"\n"+`{"dir":"err","text":"x"}`+"\n", child, parent, link)
	}
	for _, tt := range []struct {
		name          string
		agent, server string
		nested        bool // if they were imported apart
	}{
		{"no link", agent + setup("k2k2k2k2"), server(""), false},
		{"another link", agent + setup("k2k2k2k2"), server("aaaaaaaa"), false},
		{"a word of the tape", agent + setup("k2k2k2k2"), server("tmp"), false},
		{"its link", agent + setup("k2k2k2k2"), server("k2k2k2k2"), true},
		{"says that it is proven", agent + setup("k2k2k2k2"), strings.Replace(server(""), `"server":`, `"claimed":false,"server":`, 1), false},
		{"a link that the agent did not get", agent + strings.Replace(setup("k2k2k2k2"), `"dir"`, `"origin":"withheld","dir"`, 1), server("k2k2k2k2"), false},
	} {
		for order, files := range map[string][]string{"the parent first": {tt.agent, tt.server}, "the parent later": {tt.server, tt.agent}} {
			for _, together := range []bool{false, true} {
				store := record.OpenStore(t.TempDir())
				bundle := record.NewImporter(store)
				for _, file := range files {
					if !together {
						bundle = record.NewImporter(store)
					}
					if _, err := bundle.Import(strings.NewReader(file), "file", nil); err != nil {
						t.Fatal(err)
					}
				}
				l, err := store.List()
				if err != nil {
					t.Fatal(err)
				}
				want := tt.nested || together
				if got, head := record.NestingOf(l.Tapes).Parent(child) == parent, store.IsNested(child); got != want || head != want {
					t.Errorf("%s, %s, together: %v: nested %v and %v, want %v", tt.name, order, together, got, head, want)
				}
				opened, err := store.Open(child)
				if err != nil {
					t.Fatal(err)
				}
				var text strings.Builder
				if err := opened.Export(&text, true); err != nil || !strings.Contains(text.String(), `"parent":{"tape":"`+parent) || strings.Contains(text.String(), "claimed") {
					t.Errorf("%s: exported as %s, %v", tt.name, text.String(), err)
				}
			}
		}
	}
}

// TestClaimedRecordedParent: no file becomes the tape of a server of an agent recorded here.
func TestClaimedRecordedParent(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	agent := recordtest.Record(t, store, record.Start{Command: []string{"agent"}})
	file := fmt.Sprintf(`{"acptap":1,"parent":{"tape":%q,"link":"k2k2k2k2","server":"files"}}`+"\n"+`{"dir":"err","text":"x"}`+"\n", agent.Tape())
	id, err := store.Import(strings.NewReader(file), "file", nil)
	if err != nil {
		t.Fatal(err)
	}
	if store.IsNested(id) {
		t.Error("it is nested")
	}
}

// The parent of a tape is known from its first moment.
func TestOuterWhileRecorded(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	agent := recordtest.Record(t, store, record.Start{Command: []string{"agent"}})
	recordtest.Record(t, store, record.Start{Command: []string{"server"}, Parent: record.Parent{Tape: agent.Tape(), Server: "files"}})
	ids, err := store.Tapes()
	if err != nil || len(ids) != 2 {
		t.Fatal(ids, err)
	}
	if got := slices.Collect(store.Outer(ids)); !slices.Equal(got, []string{agent.Tape()}) {
		t.Errorf("got %q, want only %s", got, agent.Tape())
	}
}

// Whoever sees a tape appear can ask at once whether it is nested, though its recorder may
// be just about to write its head.
func TestNestedAsItAppears(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	agent := recordtest.Record(t, store, record.Start{Command: []string{"agent"}})
	const servers = 60
	var recording sync.WaitGroup
	defer recording.Wait()
	recording.Go(func() {
		for range servers {
			server, err := store.Record(record.Start{Command: []string{"server"}, Parent: record.Parent{Tape: agent.Tape(), Server: "files"}})
			if err != nil {
				t.Error(err)
				return
			}
			defer func() {
				server.Close()
				server.Wait()
			}()
		}
	})
	for seen := map[string]bool{agent.Tape(): true}; len(seen) <= servers && !t.Failed(); {
		ids, err := store.Tapes()
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			nested := seen[id] || store.IsNested(id)
			if _, err := store.Open(id); err != nil {
				continue // another id was taken
			}
			if seen[id] = true; !nested {
				t.Errorf("%s is not nested", id)
			}
		}
	}
}
