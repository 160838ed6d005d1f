package frameindex

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/reading"
)

// A wantedFrame is where a frame is to stand in an order.
type wantedFrame struct {
	tape string
	seq  uint64
	at   time.Duration // since the first tape began
}

// TestOrder: whatever is on the tapes of an agent and its servers, their frames are in the
// order of a stable sort by time of the tapes one after another, and each number belongs to
// one frame.
func TestOrder(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			store, agents, servers := randomTapes(t, rand.New(rand.NewPCG(seed, 1)))
			listed, err := OpenTimeline("tapes", func() (tapes []*record.Tape, err error) {
				for _, id := range agents {
					tape, err := store.Open(id)
					if err != nil {
						return nil, err
					}
					tapes = append(tapes, tape)
				}
				return tapes, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			listed.WithServers(store)
			indexed, err := listed.Reopen()
			if err != nil {
				t.Fatal(err)
			}
			x := NewIndex(func() {})
			x.Read(t.Context(), indexed)

			var want []wantedFrame
			for _, id := range append(agents, servers...) {
				want = append(want, framesOn(t, store, id)...)
			}
			slices.SortStableFunc(want, func(a, b wantedFrame) int { return cmp.Compare(a.at, b.at) })
			fed := &fedFrames{t: t, timeline: listed}
			listed.Feed(t.Context(), x, store, fed)
			got := fed.got
			if len(got) != len(want) {
				t.Fatalf("got %d frames, want %d", len(got), len(want))
			}
			for i, w := range want {
				if got[i].tape != w.tape || got[i].seq != w.seq {
					t.Fatalf("frame %d is %v, want %v", i+1, got[i], w)
				}
				at := listed.PlaceOf(uint64(i + 1))
				if listed.Part(at.Part).Info.Tape != w.tape || at.Seq != w.seq || listed.Number(at) != uint64(i+1) {
					t.Fatalf("frame %d stands at %v, which has the number %d; want %v", i+1, at, listed.Number(at), w)
				}
			}
			from := uint64(len(want)/2 + 1)
			for f := range listed.frames(from) {
				if f.Seq != from {
					t.Fatalf("frame %d follows, want %d", f.Seq, from)
				}
				from++
			}
			var wantAgent []uint64
			for i, w := range want {
				if slices.Contains(agents, w.tape) {
					wantAgent = append(wantAgent, uint64(i+1))
				}
			}
			if from != uint64(len(want)+1) || !slices.Equal(fed.ofAgent, wantAgent) || !fed.ended {
				t.Errorf("the last number is %d of %d; the agent's are %v, want %v", from-1, len(want), fed.ofAgent, wantAgent)
			}
		})
	}
}

// fedFrames are the frames that a timeline feeds a sink with, whose numbers rise.
type fedFrames struct {
	t        *testing.T
	timeline *Timeline
	got      []wantedFrame
	ofAgent  []uint64
	ended    bool
}

func (s *fedFrames) Begin(context.Context, *Timeline) {}

func (s *fedFrames) Take(e *Event) {
	if e.Kind != reading.Read {
		return
	}
	if e.Err != nil || e.Number != uint64(len(s.got)+1) {
		s.t.Fatalf("frame %d has the number %d: %v", len(s.got)+1, e.Number, e.Err)
	}
	s.got = append(s.got, wantedFrame{s.timeline.Part(e.Place).Info.Tape, e.Frame.Seq, 0})
	if !e.Part.IsServer() {
		s.ofAgent = append(s.ofAgent, s.timeline.Placed(e).Seq)
	}
}

func (s *fedFrames) End(ended bool) { s.ended = ended }

// framesOn returns the frames on a tape of the test. Without a time a frame came right
// behind the one before.
func framesOn(t *testing.T, store *record.Store, id string) (list []wantedFrame) {
	t.Helper()
	tape, err := store.Open(id)
	if err != nil {
		t.Fatal(err)
	}
	start, err := tape.Start()
	if err != nil {
		t.Fatal(err)
	}
	began := start.Time.Sub(orderBegan)
	at := began
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if !f.Untimed {
			at = began + f.At
		}
		list = append(list, wantedFrame{id, f.Seq, at})
	}
	return list
}

// orderBegan is when the first tape of the agent began.
var orderBegan = time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)

// randomTapes returns the tapes of an agent in a store, one after another, and those of
// servers, some of them nested, ordered by their beginning. Several frames have the same
// time, and some have none.
func randomTapes(t *testing.T, r *rand.Rand) (store *record.Store, agents, servers []string) {
	t.Helper()
	store = record.OpenStore(t.TempDir())
	bundle := record.NewImporter(store)
	told := map[string]string{} // the ids in the files, by those in the store
	add := func(began time.Duration, parent string) (id string, last time.Duration) {
		id = fmt.Sprintf("20250102T030405%03d-%c%05d", len(agents)+len(servers), "ab"[min(len(parent), 1)], began.Milliseconds())
		head := ""
		if parent != "" {
			head = fmt.Sprintf(`,"name":"server","parent":{"tape":%q,"link":"kdjfhgas","server":"server"}`, told[parent])
		}
		var text strings.Builder
		fmt.Fprintf(&text, `{"acptap":1,"tape":%q,"started":%q,"command":["x"],"cwd":"/w"%s}`+"\n", id, orderBegan.Add(began).Format(time.RFC3339Nano), head)
		for range 1 + r.IntN(40) {
			last += time.Duration(r.IntN(4)) * 10 * time.Millisecond
			at := fmt.Sprintf(`"at":%g,`, last.Seconds())
			if r.IntN(8) == 0 {
				at = ""
			}
			fmt.Fprintf(&text, `{%s"dir":%q,"frame":{"jsonrpc":"2.0","method":"x"}}`+"\n", at, []string{"c2a", "a2c"}[r.IntN(2)])
		}
		imported, err := bundle.Import(strings.NewReader(text.String()), id, nil)
		if err != nil {
			t.Fatal(err)
		}
		told[imported] = id
		return imported, last
	}
	began := time.Duration(0)
	for range 1 + r.IntN(2) {
		id, last := add(began, "")
		agents = append(agents, id)
		began += last + time.Second
	}
	for i := range r.IntN(4) {
		parents := append(slices.Clone(agents), servers...)
		id, _ := add(time.Duration(i)*200*time.Millisecond+time.Duration(r.IntN(10))*10*time.Millisecond, parents[r.IntN(len(parents))])
		servers = append(servers, id)
	}
	return store, agents, servers
}
