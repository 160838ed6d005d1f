package record_test

import (
	"slices"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

func TestProbeOf(t *testing.T) {
	for name, want := range map[string][2]string{
		"probe-7k2m9p.load.unknown": {"probe-7k2m9p", "load.unknown"},
		"probe-7k2m9p":              {},
		"probe-mine.load":           {},
		"my-agent.load":             {},
		"":                          {},
	} {
		if run, played := record.ProbeOf(record.Start{Name: name}); run != want[0] || played != want[1] {
			t.Errorf("%q: got %q, %q, want %q", name, run, played, want)
		}
	}
	if run, _ := record.ProbeOf(record.Start{Name: "probe-7k2m9p.load", Parent: record.Parent{Tape: "t"}}); run != "" {
		t.Errorf("the tape of a server belongs to %q", run)
	}
}

// TestProbesAreNotOuter: what acptap probe has recorded last is not the newest tape.
func TestProbesAreNotOuter(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	var ids []string
	for _, name := range []string{"mine", "probe-7k2m9p.hello", "probe-7k2m9p.load.unknown"} {
		r, err := store.Record(record.Start{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Append(wire.ClientToAgent, wire.Wire, []byte("{}\n")); err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r.Wait()
		ids = append(ids, r.Tape())
	}
	slices.Sort(ids)
	outer := slices.Collect(store.Outer(ids))
	if len(outer) != 1 {
		t.Fatalf("got %q", outer)
	}
	tape, err := store.Open(outer[0])
	if err != nil {
		t.Fatal(err)
	}
	if start, err := tape.Start(); err != nil || start.Name != "mine" {
		t.Errorf("got %q, %v", start.Name, err)
	}
}
