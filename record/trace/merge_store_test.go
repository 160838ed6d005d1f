package trace_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

// The events of all tapes of a store, while they are recorded: what
// record.Store.Watch tells is what a Merge wants to know.
func TestMergeOfStore(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	var journals []*record.Recorder
	for range 3 {
		j, err := store.Record(record.Start{Command: []string{"agent"}, Proto: "acp"})
		if err != nil {
			t.Fatal(err)
		}
		journals = append(journals, j)
	}
	l := trace.Merge{Patience: time.Minute}
	turns := map[string]string{}
	var times []time.Time
	// What happens, one after the other, a look apart.
	var steps []func() error
	for _, said := range []struct {
		dir  wire.Direction
		text string
	}{
		{wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`},
		{wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`},
	} {
		for _, j := range journals {
			steps = append(steps, func() error { return j.Append(said.dir, wire.Wire, []byte(said.text+"\n")) })
		}
	}
	for _, j := range journals {
		steps = append(steps, j.Close)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended := 0
	for c, err := range store.Watch(ctx, func(string, bool) (uint64, bool) { return 1, true }) {
		if err != nil {
			t.Fatal(err)
		}
		switch c.Kind {
		case record.TapeAppeared:
			tape, err := store.Open(c.Tape)
			if err != nil {
				t.Fatal(err)
			}
			info, err := tape.Info()
			if err != nil {
				t.Fatal(err)
			}
			l.Begin(c.Tape, info.Start.Time, info.Connection)
		case record.FrameRecorded:
			l.Add(c.Tape, &c.Frame)
		case record.TapeEnded:
			l.End(c.Tape)
			ended++
		case record.StoreLooked:
			l.Looked(c.Began)
			if len(steps) > 0 {
				if err := steps[0](); err != nil {
					t.Fatal(err)
				}
				steps = steps[1:]
			}
		}
		for e := range l.Events() {
			if e.Late {
				t.Errorf("%s is late", told(e))
			}
			if times = append(times, e.Time); e.Kind == trace.TurnEvent {
				turns[e.Tape] += fmt.Sprint(e.Phase, " ", e.End, " ")
			}
		}
		if ended == len(journals) {
			break
		}
	}
	for _, j := range journals {
		if got, want := turns[j.Tape()], "began  ended completed "; got != want {
			t.Errorf("tape %s: got turns %q, want %q", j.Tape(), got, want)
		}
	}
	if !slices.IsSortedFunc(times, time.Time.Compare) {
		t.Errorf("times go back: %v", times)
	}
	for _, j := range journals {
		j.Wait()
	}
}
