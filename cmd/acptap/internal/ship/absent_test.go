package ship_test

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/testdata/collectortest"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// without has a collector answer that nothing is at paths with this end.
func without(c *collectortest.Collector, path string) {
	c.Fail(func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, path) {
			return false
		}
		http.NotFound(w, r)
		return true
	})
}

// TestAbsent: where spans are taken and another signal has no place, that is refused, and
// holds up nothing. Where nothing is taken, all is kept for later.
func TestAbsent(t *testing.T) {
	for _, path := range []string{"/v1/metrics", "/v1/logs"} {
		t.Run(path, func(t *testing.T) {
			store, c := filled(t), collectortest.Direct(t)
			s := to(t, store, c).measuring(false).logging()
			without(c, "")
			var f *otlp.Failure
			if err := s.all(t); !errors.As(err, &f) || f.Kind != otlp.Absent {
				t.Fatalf("got %v", err)
			}
			if head, cursors := s.kept(t); head.Refusal != "" || !strings.Contains(head.Trouble, "/v1/traces answered 404") {
				t.Fatalf("got %+v, %v", head, cursors)
			}

			without(c, path)
			if err := s.all(t); err != nil {
				t.Fatal(err)
			}
			if got, want := c.Times(), wanted(t, store); !maps.Equal(got, want) {
				t.Errorf("got %d spans, want %d", len(got), len(want))
			}
			if metrics := path == "/v1/metrics"; (len(c.Points()) == 0) != metrics || (len(c.Records()) > 0) != metrics {
				t.Errorf("got %d points, %d records", len(c.Points()), len(c.Records()))
			}
			refused := 0
			for _, e := range s.events {
				if refused += e.Refused; path == "/v1/metrics" && e.Refused != e.Points || path == "/v1/logs" && e.Refused != e.Records {
					t.Errorf("told %+v", e)
				}
			}
			head, cursors := s.kept(t)
			if refused == 0 || head.Trouble != "" || !strings.Contains(head.Refusal, path+" answered 404 Not Found") {
				t.Errorf("%d refused; got %+v", refused, head)
			}
			for _, one := range cursors {
				if refused -= int(one.Refused); !one.Done {
					t.Errorf("got %+v", one)
				}
			}
			if refused != 0 {
				t.Errorf("%d refused are not kept", refused)
			}
			was := len(c.Requests())
			if err := s.all(t); err != nil || len(c.Requests()) > was {
				t.Errorf("it was sent again: %v", err)
			}
		})
	}
}

// TestAbsentFirst: records that are sent before any span are refused where requests with
// spans are read, and kept where nothing is.
func TestAbsentFirst(t *testing.T) {
	for _, tt := range []struct {
		name         string
		traces, logs int // status of the answer; 0: that of a collector
		taken        bool
	}{
		{"nothing is there", 404, 404, false},
		{"spans are taken", 0, 404, true},
		{"nothing empty is taken", 400, 404, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, c := record.OpenStore(t.TempDir()), collectortest.Direct(t)
				tape := recording(t, store)
				tape.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
				for i := range 2 * otlp.MaxRecords {
					tape.say(wire.AgentToClient, fmt.Sprintf(`{"jsonrpc":"2.0","method":"_x","params":{"n":%d}}`, i))
				}
				tape.end()
				c.Fail(func(_ int, w http.ResponseWriter, r *http.Request) bool {
					status := tt.traces
					if strings.HasSuffix(r.URL.Path, "/v1/logs") {
						status = tt.logs
					}
					if status != 0 {
						w.WriteHeader(status)
					}
					return status != 0
				})
				s := to(t, store, c).logging()
				err := s.Open(&time.Time{})
				if err == nil {
					err = s.All(t.Context())
				}
				_, cursors := s.kept(t)
				for _, one := range cursors {
					if one.Done != tt.taken || (one.Refused > 2*otlp.MaxRecords) != tt.taken || (err == nil) != tt.taken {
						t.Errorf("got %+v, %v", one, err)
					}
				}
				if len(cursors) != 1 {
					t.Errorf("got %v", cursors)
				}
			})
		})
	}
}
