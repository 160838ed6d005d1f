package ship_test

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/testdata/collectortest"
)

// measuring has a shipper send metrics too.
func (s *shipping) measuring(cumulative bool) *shipping {
	client := *s.Main()
	client.URL = &url.URL{Scheme: "http", Host: "collector.test", Path: "/v1/metrics"}
	s.Clients[otlp.Metrics], s.Cumulative = &client, cumulative
	return s
}

// A total sums up what has arrived of a stream.
type total struct {
	count   uint64
	sum     float64
	buckets []uint64
}

// totals adds up points, or takes the last ones.
func totals(t *testing.T, points []collectortest.Point, cumulative bool) map[string]total {
	t.Helper()
	all := map[string]total{}
	for _, p := range points {
		if p.Cumulative != cumulative {
			t.Errorf("%s: cumulative is %v", p.Metric, p.Cumulative)
		}
		name := fmt.Sprint(p.Resource, p.Metric, p.Attributes)
		was, known := all[name]
		if !known || cumulative {
			was = total{buckets: make([]uint64, len(p.BucketCounts))}
		}
		for i, n := range p.BucketCounts {
			was.buckets[i] += n
		}
		was.count, was.sum = was.count+p.Count, was.sum+p.GetSum()
		all[name] = was
	}
	return all
}

// TestMetrics: whatever fails on the way, and wherever a shipper ends, the totals are the
// same as without failures. For cumulative points this includes those that were sent twice.
func TestMetrics(t *testing.T) {
	for _, cumulative := range []bool{false, true} {
		t.Run(fmt.Sprintf("cumulative=%v", cumulative), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, smooth, rough := filled(t), collectortest.Direct(t), collectortest.Direct(t)
				if err := to(t, store, smooth).measuring(cumulative).all(t); err != nil {
					t.Fatal(err)
				}
				want := totals(t, smooth.Points(), cumulative)
				if len(want) < 5 {
					t.Fatalf("got %v", want)
				}
				elsewhere := func() *shipping {
					s := to(t, store, rough).measuring(cumulative)
					s.To = ship.To(store.Dir(), "elsewhere")
					return s
				}
				failures := 0
				for n := 1; ; n++ {
					rough.Fail(func(i int, w http.ResponseWriter, r *http.Request) bool {
						switch {
						case i == 1:
							w.WriteHeader(http.StatusServiceUnavailable)
						case i > 2 && strings.HasSuffix(r.URL.Path, "/v1/metrics"):
							failures++
							w.WriteHeader(http.StatusForbidden) // and the shipper ends
						default:
							return false
						}
						return true
					})
					if n > 3 {
						rough.Fail(nil)
					}
					if err := elsewhere().all(t); err == nil {
						break
					}
				}
				if cumulative {
					again := elsewhere()
					again.Again = true
					if err := again.all(t); err != nil {
						t.Fatal(err)
					}
				}
				got := totals(t, rough.Points(), cumulative)
				if failures < 2 || len(got) != len(want) {
					t.Errorf("%d failures; got %d streams, want %d", failures, len(got), len(want))
				}
				for name, want := range want {
					if got := got[name]; got.count != want.count || math.Abs(got.sum-want.sum) > 1e-9 || !slices.Equal(got.buckets, want.buckets) {
						t.Errorf("%s: got %v, want %v", name, got, want)
					}
				}
			})
		})
	}
}

// TestMetricsAlone: without traces, nothing but metrics arrives.
func TestMetricsAlone(t *testing.T) {
	store, c := filled(t), collectortest.Direct(t)
	s := to(t, store, c).measuring(false)
	delete(s.Clients, otlp.Traces)
	if err := s.all(t); err != nil {
		t.Fatal(err)
	}
	if len(c.Times()) > 0 || len(c.Points()) == 0 {
		t.Errorf("got %d spans and %d points", len(c.Times()), len(c.Points()))
	}
	points := 0
	for _, e := range s.events {
		if points += e.Points; e.Spans > 0 || e.Refused > 0 {
			t.Errorf("told %+v", e)
		}
	}
	if points != len(c.Points()) {
		t.Errorf("told %d points, want %d", points, len(c.Points()))
	}
}
