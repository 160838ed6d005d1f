package spans_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/acptap/acptap/record/trace/spans"
)

// measured returns what a meter takes of sets, so many at a time.
func measured(sets []spans.Set, cumulative bool, atOnce int) (all []spans.Measured) {
	m := spans.Meter{Cumulative: cumulative}
	for batch := range slices.Chunk(sets, atOnce) {
		for _, set := range batch {
			m.Add(set)
		}
		all = append(all, m.Take()...)
	}
	return all
}

func TestMetricsGolden(t *testing.T) {
	for _, name := range []string{"demo", "sessions", "mcp"} {
		t.Run(name, func(t *testing.T) {
			sets := build(t, tapes[name], false)
			var b bytes.Buffer
			for _, of := range measured(sets, false, len(sets)) {
				fmt.Fprintln(&b, of.Resource)
				for _, p := range of.Points {
					fmt.Fprintf(&b, "%s %v\n  %v %d: %.4g %s, %.4g to %.4g %v\n", p.Name, p.Attrs, p.End.Sub(p.Start), p.Count, p.Sum, p.Unit, p.Min, p.Max, p.Buckets)
				}
			}
			golden := filepath.Join("testdata", name+".metrics")
			if *update {
				if err := os.WriteFile(golden, b.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("got\n%s\nwant\n%s", &b, want)
			}
		})
	}
}

// stream names what points are of.
func stream(t *testing.T, of spans.Measured, p spans.Point) string {
	t.Helper()
	text, err := json.Marshal([]any{of.Resource, p.Name, p.Attrs})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestMetricsAddUp: however sets are cut into batches, deltas do not overlap, and add up to
// the last cumulative points.
func TestMetricsAddUp(t *testing.T) {
	for _, path := range allTapes(t) {
		sets := build(t, path, false)
		if len(sets) == 0 {
			continue
		}
		last := map[string]spans.Point{}
		for _, of := range measured(sets, true, 2) {
			for _, p := range of.Points {
				last[stream(t, of, p)] = p
			}
		}
		for _, atOnce := range []int{1, 3, len(sets)} {
			sum := map[string]spans.Point{}
			for _, of := range measured(sets, false, atOnce) {
				for _, p := range of.Points {
					name := stream(t, of, p)
					s, known := sum[name]
					if known && p.Start.Before(s.End) || p.End.Before(p.Start) {
						t.Errorf("%s: %s: a point from %v to %v behind %v", path, name, p.Start, p.End, s.End)
					}
					if !known {
						s = p
						s.Count, s.Sum, s.Buckets = 0, 0, make([]uint64, len(p.Bounds)+1)
					}
					n := uint64(0)
					for i := range s.Buckets {
						s.Buckets[i] += p.Buckets[i]
						n += p.Buckets[i]
					}
					if n != p.Count || p.Min > p.Max || p.Min < 0 {
						t.Errorf("%s: %s: got %+v", path, name, p)
					}
					s.Count, s.Sum, s.Min, s.Max, s.End = s.Count+p.Count, s.Sum+p.Sum, min(s.Min, p.Min), max(s.Max, p.Max), p.End
					sum[name] = s
				}
			}
			if len(sum) != len(last) {
				t.Errorf("%s: %d streams, want %d", path, len(sum), len(last))
			}
			for name, want := range last {
				got := sum[name]
				if got.Count != want.Count || math.Abs(got.Sum-want.Sum) > 1e-9*want.Sum || !slices.Equal(got.Buckets, want.Buckets) || got.Min != want.Min || got.Max != want.Max {
					t.Errorf("%s: %s: got %+v, want %+v", path, name, got, want)
				}
			}
		}
	}
}
