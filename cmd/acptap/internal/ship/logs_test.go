package ship_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	logspb "go.opentelemetry.io/proto/slim/otlp/logs/v1"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/testdata/collectortest"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// logging has a shipper send logs too.
func (s *shipping) logging() *shipping {
	client := *s.Main()
	client.URL = &url.URL{Scheme: "http", Host: "collector.test", Path: "/v1/logs"}
	s.Clients[otlp.Logs] = &client
	return s
}

// framesOf returns the frames of all tapes of a store that are to be logged, each with whether
// it is of stderr.
func framesOf(t *testing.T, store *record.Store) map[string]bool {
	t.Helper()
	ids, err := store.Tapes()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, id := range ids {
		tape, err := store.Open(id)
		if err != nil {
			t.Fatal(err)
		}
		for f, err := range tape.Frames(1) {
			if err == nil && f.Kind != wire.Mark {
				all[fmt.Sprint(id, f.Seq)] = f.Kind == wire.Stderr
			}
		}
	}
	return all
}

// logged returns the frames that have arrived, in the form of framesOf, and how many of them
// have a body.
func logged(t *testing.T, c *collectortest.Collector) (all map[string]bool, bodies int) {
	t.Helper()
	times := c.Times()
	all = map[string]bool{}
	for _, r := range c.Records() {
		var tape string
		var frame int64
		for _, a := range r.Attributes {
			switch a.Key {
			case "acptap.tape":
				tape = a.Value.GetStringValue()
			case "acptap.frame":
				frame = a.Value.GetIntValue()
			}
		}
		all[fmt.Sprint(tape, frame)] = r.SeverityNumber == logspb.SeverityNumber_SEVERITY_NUMBER_INFO
		if times[collectortest.ID{Trace: string(r.TraceId), Span: string(r.SpanId)}] == 0 {
			t.Errorf("frame %d of %s lies in a span that has not arrived", frame, tape)
		}
		if r.EventName != otlp.FrameEvent || r.TimeUnixNano == 0 {
			t.Errorf("got %v", r.LogRecord)
		}
		if r.Body != nil {
			bodies++
		}
	}
	return all, bodies
}

// TestLogs: whatever fails on the way, and wherever a shipper ends, each frame arrives, and
// has a body only if content is requested.
func TestLogs(t *testing.T) {
	for _, content := range []bool{false, true} {
		t.Run(fmt.Sprintf("content=%v", content), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, c := filled(t), collectortest.Direct(t)
				failures := 0
				for n := 1; ; n++ {
					c.Fail(func(i int, w http.ResponseWriter, r *http.Request) bool {
						fails := n < 4 && i > 2 && strings.HasSuffix(r.URL.Path, "/v1/logs")
						if fails {
							failures++
							w.WriteHeader(http.StatusForbidden) // and the shipper ends
						}
						return fails
					})
					s := to(t, store, c).logging()
					s.Content = content
					if err := s.all(t); err == nil {
						break
					}
				}
				want := framesOf(t, store)
				got, bodies := logged(t, c)
				if failures < 2 || !maps.Equal(got, want) || len(want) < 50 {
					t.Errorf("%d failures; got %d frames, want %d", failures, len(got), len(want))
				}
				if bodies > 0 != content {
					t.Errorf("%d have a body", bodies)
				}
			})
		})
	}
}

// TestFollowLogs: frames arrive as they are recorded. Frames with content arrive when the
// tape has ended, because before that it is unknown which parts are secret.
func TestFollowLogs(t *testing.T) {
	for _, content := range []bool{false, true} {
		t.Run(fmt.Sprintf("content=%v", content), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, c := record.OpenStore(t.TempDir()), collectortest.Direct(t)
				s := to(t, store, c).logging()
				s.Content, s.Patience = content, 0
				tape := recording(t, store)
				done, from := make(chan error), time.Now()
				go func() { done <- s.Run(t.Context(), &from, true) }()
				tape.turn(0)
				tape.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
				time.Sleep(10 * time.Second) // until all has been looked at
				if got, want := len(c.Records()), len(framesOf(t, store)); content && got > 0 || !content && got != want {
					t.Errorf("got %d frames of %d", got, want)
				}
				tape.end()
				if err := <-done; err != nil {
					t.Error(err)
				}
				if got, _ := logged(t, c); !maps.Equal(got, framesOf(t, store)) {
					t.Errorf("got %d frames, want %d", len(got), len(framesOf(t, store)))
				}
				for _, r := range c.Requests() {
					if strings.Contains(string(r.Body), "AbCdEfGh") {
						t.Error("a secret was sent")
					}
				}
			})
		})
	}
}
