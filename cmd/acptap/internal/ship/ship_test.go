package ship_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/testdata/collectortest"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
	"github.com/acptap/acptap/record/trace/spans"
)

// A shipping is a Shipper with the events that it reports.
type shipping struct {
	ship.Shipper
	events []ship.Event
}

// to returns a shipper from a store to a collector.
func to(t testing.TB, store *record.Store, c *collectortest.Collector) *shipping {
	t.Helper()
	client, err := otlp.Environment(func(string) string { return "" }).Client(otlp.Traces, "http://collector.test")
	if err != nil {
		t.Fatal(err)
	}
	client.HTTP = &http.Client{Transport: c}
	s := &shipping{Shipper: ship.Shipper{
		Store: store, To: ship.To(store.Dir(), client.URL.String()), Clients: map[otlp.Signal]*otlp.Client{otlp.Traces: client}, Patience: 30 * time.Second,
	}}
	s.Tell = func(e ship.Event) { s.events = append(s.events, e) }
	return s
}

// all delivers everything that waits, on all tapes.
func (s *shipping) all(t testing.TB) error {
	t.Helper()
	s.events = nil
	if err := s.Open(&time.Time{}); err != nil {
		t.Fatal(err)
	}
	return s.All(t.Context())
}

// cursors returns how much has arrived.
func (s *shipping) kept(t testing.TB) (ship.Head, map[string]ship.Cursor) {
	t.Helper()
	head, cursors, err := s.To.Read()
	if err != nil {
		t.Fatal(err)
	}
	return head, cursors
}

// filled returns a store with the tapes of which the spans are tested.
func filled(t testing.TB) *record.Store {
	t.Helper()
	store := record.OpenStore(t.TempDir())
	files, err := filepath.Glob("../../../../record/trace/spans/testdata/*.jsonl")
	if err != nil || len(files) < 3 {
		t.Fatalf("got %v, %v", files, err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := store.Import(f, file, nil); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// wanted returns the spans of all tapes of a store, made without a Shipper, each once.
func wanted(t testing.TB, store *record.Store) map[collectortest.ID]int {
	t.Helper()
	ids, err := store.Tapes()
	if err != nil {
		t.Fatal(err)
	}
	all := map[collectortest.ID]int{}
	for _, id := range ids {
		tape, err := store.Open(id)
		if err != nil {
			t.Fatal(err)
		}
		info, err := tape.Info()
		if err != nil {
			t.Fatal(err)
		}
		of, err := (&ship.Tapes{Store: store}).Describe(tape, &info)
		if err != nil {
			t.Fatal(err)
		}
		var b spans.Builder
		b.Next(of)
		var sets []spans.Set
		for f, err := range tape.Frames(1) {
			if err == nil {
				sets = append(sets, b.Add(&f)...)
			}
		}
		for _, set := range append(sets, b.End()...) {
			for _, s := range set.Spans {
				all[collectortest.ID{Trace: string(s.Trace[:]), Span: string(s.ID[:])}] = 1
			}
		}
	}
	return all
}

// TestAll: everything arrives once, and again only if that is asked for.
func TestAll(t *testing.T) {
	store, c := filled(t), collectortest.Direct(t)
	s := to(t, store, c)
	for range 2 {
		if err := s.all(t); err != nil {
			t.Fatal(err)
		}
		if got, want := c.Times(), wanted(t, store); !maps.Equal(got, want) {
			t.Fatalf("got %d spans, want %d", len(got), len(want))
		}
	}
	if len(s.events) > 0 {
		t.Errorf("the second time: told %v", s.events)
	}
	_, cursors := s.kept(t)
	ids, err := store.Tapes()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		if !cursors[id].Done {
			t.Errorf("%s: got %+v", id, cursors[id])
		}
	}
	s.Again = true
	if err := s.all(t); err != nil {
		t.Fatal(err)
	}
	for id, n := range c.Times() {
		if n != 2 {
			t.Errorf("%x has arrived %d times", id, n)
		}
	}
	for _, r := range c.Requests() {
		if n := len(r.Spans); n > otlp.MaxSpans {
			t.Errorf("a request of %d spans", n)
		}
	}
}

// TestSince: tapes older than the given time are not sent, until that time is moved back.
func TestSince(t *testing.T) {
	store, c := filled(t), collectortest.Direct(t)
	s := to(t, store, c)
	now := time.Now()
	for _, from := range []*time.Time{&now, nil} {
		if err := s.Open(from); err != nil {
			t.Fatal(err)
		}
		if err := s.All(t.Context()); err != nil || len(c.Times()) > 0 {
			t.Fatalf("got %d spans, %v", len(c.Times()), err)
		}
	}
	if err := s.all(t); err != nil || len(c.Times()) != len(wanted(t, store)) {
		t.Errorf("got %d spans, %v", len(c.Times()), err)
	}
	if err := s.Open(&now); err != nil {
		t.Fatal(err)
	}
	if head, _ := s.kept(t); !head.From.IsZero() {
		t.Errorf("the beginning was moved forward to %v", head.From)
	}
}

// TestTroubleOnce: answers that differ only in the request's id are reported once.
func TestTroubleOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, c := filled(t), collectortest.Direct(t)
		s := to(t, store, c)
		c.Fail(func(n int, w http.ResponseWriter, _ *http.Request) bool {
			if n <= 3 {
				http.Error(w, fmt.Sprintf("overloaded (request %d-f00d)", n), http.StatusServiceUnavailable)
			}
			return n <= 3
		})
		if err := s.all(t); err != nil {
			t.Error(err)
		}
		told := slices.DeleteFunc(s.events, func(e ship.Event) bool { return e.Kind != ship.Trouble })
		if len(told) != 1 {
			t.Errorf("told %+v", told)
		}
	})
}

// TestTrouble: how long a shipper waits, and what it does with refused spans.
func TestTrouble(t *testing.T) {
	answer := func(status int, retry string) func(int, http.ResponseWriter, *http.Request) bool {
		return func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			if retry != "" {
				w.Header().Set("Retry-After", retry)
			}
			http.Error(w, "no", status)
			return true
		}
	}
	times := func(n int, f func(int, http.ResponseWriter, *http.Request) bool) func(int, http.ResponseWriter, *http.Request) bool {
		return func(i int, w http.ResponseWriter, r *http.Request) bool { return i <= n && f(i, w, r) }
	}
	for _, tt := range []struct {
		name     string
		fail     func(int, http.ResponseWriter, *http.Request) bool
		min, max time.Duration
		fails    bool
		refused  bool
	}{
		{name: "for a while", fail: times(3, answer(503, "")), min: 3500 * time.Millisecond, max: 6 * time.Second},
		{name: "as long as it says", fail: times(2, answer(429, "7")), min: 14 * time.Second, max: 14 * time.Second},
		{name: "longer than one waits", fail: answer(503, "60"), fails: true},
		{name: "for good", fail: answer(502, ""), min: 15 * time.Second, max: 30 * time.Second, fails: true},
		{name: "of hanging", fail: func(_ int, _ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		}, min: 20 * time.Second, max: 40 * time.Second, fails: true},
		{name: "of a wrong key", fail: answer(401, ""), fails: true},
		{name: "of the request", fail: answer(400, ""), refused: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, c := filled(t), collectortest.Direct(t)
				s := to(t, store, c)
				c.Fail(tt.fail)
				began := time.Now()
				err := s.all(t)
				if took := time.Since(began); took < tt.min || took > tt.max {
					t.Errorf("it took %v, want %v to %v", took, tt.min, tt.max)
				}
				var f *otlp.Failure
				if errors.As(err, &f) != tt.fails {
					t.Errorf("got %v", err)
				}
				head, cursors := s.kept(t)
				if (head.Trouble != "") != tt.fails || (head.Refusal != "") != tt.refused {
					t.Errorf("got %+v", head)
				}
				refused := uint64(0)
				for _, one := range cursors {
					refused += one.Refused
				}
				if want := len(wanted(t, store)); tt.refused && int(refused) != want {
					t.Errorf("%d refused, want %d", refused, want)
				}
				c.Fail(nil)
				if err := s.all(t); err != nil {
					t.Error(err)
				}
				got, want := c.Times(), wanted(t, store)
				if tt.refused {
					want = map[collectortest.ID]int{}
				}
				if !maps.Equal(got, want) {
					t.Errorf("got %d spans, want %d", len(got), len(want))
				}
				if head, _ := s.kept(t); head.Trouble != "" {
					t.Errorf("the trouble is not over: %q", head.Trouble)
				}
			})
		})
	}
}

// TestDamaged: a tape that cannot be read holds up no other, and a deleted one is forgotten.
func TestDamaged(t *testing.T) {
	store, c := filled(t), collectortest.Direct(t)
	ids, err := store.Tapes()
	if err != nil {
		t.Fatal(err)
	}
	s := to(t, store, c)
	c.Fail(func(n int, w http.ResponseWriter, _ *http.Request) bool {
		if n > 1 {
			w.WriteHeader(http.StatusForbidden)
		}
		return n > 1
	})
	if s.all(t) == nil {
		t.Fatal("the second request was accepted")
	}
	c.Fail(nil)
	if _, err := store.Delete(ids[0], ids[1]); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(store.Dir(), "tapes", ids[2]+".db"), make([]byte, 16<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.all(t); err != nil {
		t.Fatal(err)
	}
	if n := count(s.events, ship.Unreadable); n != 1 {
		t.Errorf("%d are told to be unreadable: %v", n, s.events)
	}
	head, cursors := s.kept(t)
	if head.Pruned != 1 || len(cursors) != len(ids)-3 {
		t.Errorf("got %+v, %v", head, cursors)
	}
	for _, id := range ids[3:] {
		if !cursors[id].Done {
			t.Errorf("%s: got %+v", id, cursors[id])
		}
	}
}

func count(events []ship.Event, kind ship.EventKind) (n int) {
	for _, e := range events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// TestFollow: turns arrive while they are recorded, a connection when it has ended, and the
// shipper ends with the last tape.
func TestFollow(t *testing.T) {
	for _, content := range []bool{false, true} {
		t.Run(fmt.Sprintf("content=%v", content), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store, c := record.OpenStore(t.TempDir()), collectortest.Direct(t)
				s := to(t, store, c)
				s.Content, s.Patience = content, 0
				c.Fail(func(n int, w http.ResponseWriter, _ *http.Request) bool {
					if n == 2 {
						w.WriteHeader(http.StatusServiceUnavailable)
					}
					return n == 2
				})
				tape := recording(t, store)
				tape.turn(0)
				done := make(chan error)
				from := time.Now()
				go func() { done <- s.Run(t.Context(), &from, true) }()
				c.Wait(2) // the turn and the call before it
				tape.turn(1)
				c.Wait(3)
				if ok, err := ship.To(store.Dir(), s.Main().URL.String()).Lock(); ok || err != nil {
					t.Errorf("somebody else may deliver: %v, %v", ok, err)
				}
				tape.end()
				if err := <-done; err != nil {
					t.Error(err)
				}
				if got, want := c.Times(), wanted(t, store); !maps.Equal(got, want) {
					t.Errorf("got %v, want %v", got, want)
				}
				said := slices.ContainsFunc(c.Requests(), func(r collectortest.Request) bool { return strings.Contains(string(r.Body), "whispered") })
				secret := slices.ContainsFunc(c.Requests(), func(r collectortest.Request) bool { return strings.Contains(string(r.Body), "AbCdEfGh") })
				if said != content || secret {
					t.Errorf("what was said: %v, secrets: %v", said, secret)
				}
			})
		})
	}
}

// TestServerWaits: calls of a server are delivered when the turn of its agent has ended,
// below the tool call that led to them.
func TestServerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, c := record.OpenStore(t.TempDir()), collectortest.Direct(t)
		s := to(t, store, c)
		agent := recording(t, store)
		r := recordtest.Record(t, store, record.Start{Command: []string{"tools"}, Proto: "mcp", Parent: record.Parent{Tape: agent.Tape(), Server: "tools"}})
		server, update := live{t, r}, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"toolCallId":"1",%s}}}`
		from, done := time.Now(), make(chan error)
		go func() { done <- s.Run(t.Context(), &from, true) }()
		agent.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":0,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
		agent.say(wire.AgentToClient, fmt.Sprintf(update, `"sessionUpdate":"tool_call","title":"mcp__tools__echo"`))
		server.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}`)
		server.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":7,"result":{"content":[]}}`)
		server.end()
		agent.say(wire.AgentToClient, fmt.Sprintf(update, `"sessionUpdate":"tool_call_update","status":"completed"`))
		arrived := func() bool {
			time.Sleep(10 * time.Second) // until all has been looked at
			return slices.ContainsFunc(c.Requests(), func(r collectortest.Request) bool { return strings.Contains(string(r.Body), server.Tape()) })
		}
		if arrived() {
			t.Error("the server's spans did not wait for the turn")
		}
		agent.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":0,"result":{"stopReason":"end_turn"}}`)
		if !arrived() {
			t.Error("the server's spans waited longer than for the turn")
		}
		agent.end()
		if err := <-done; err != nil {
			t.Error(err)
		}
		got, want := c.Times(), wanted(t, store)
		if !maps.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		traces := map[string]int{}
		for id := range got {
			traces[id.Trace]++
		}
		if most := slices.Max(slices.Collect(maps.Values(traces))); most != 3 { // the turn, its tool call, and the call of the server
			t.Errorf("no trace has more than %d spans", most)
		}
	})
}

// TestIdle: what cannot be delivered is left to the next one a minute after the last tape.
func TestIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, c := record.OpenStore(t.TempDir()), collectortest.Direct(t)
		c.Fail(func(_ int, w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		})
		tape := recording(t, store)
		tape.turn(0)
		tape.end()
		s := to(t, store, c)
		s.Patience = 0
		began, from := time.Now(), time.Now().Add(-time.Hour)
		if err := s.Run(t.Context(), &from, true); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < time.Minute || took > time.Minute+2*time.Second {
			t.Errorf("it took %v", took)
		}
		c.Fail(nil)
		if err := s.Run(t.Context(), nil, true); err != nil || len(c.Times()) != len(wanted(t, store)) {
			t.Errorf("got %d spans, %v", len(c.Times()), err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.Run(ctx, nil, false); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// A live tape is one that is being recorded.
type live struct {
	t *testing.T
	*record.Recorder
}

func recording(t *testing.T, store *record.Store) live {
	t.Helper()
	r := recordtest.Record(t, store, record.Start{Command: []string{"agent"}, Name: "agent"})
	one := live{t, r}
	one.say(wire.ClientToAgent, `{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1}}`)
	one.say(wire.AgentToClient, `{"jsonrpc":"2.0","id":"i","result":{"protocolVersion":1}}`)
	return one
}

func (r live) say(dir wire.Direction, frame string) {
	r.t.Helper()
	if err := r.Append(dir, wire.Wire, []byte(frame+"\n")); err != nil {
		r.t.Fatal(err)
	}
}

// turn records a turn in which a secret is said in two pieces.
func (r live) turn(n int) {
	r.t.Helper()
	r.say(wire.ClientToAgent, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"whispered"}]}}`, n))
	for _, text := range []string{"sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789", "AbCdEfGhIjKlMnOpQrStUvWxYz0123456789-AAAAAAAA"} {
		r.say(wire.AgentToClient, fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`, text))
	}
	r.say(wire.AgentToClient, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, n))
}

func (r live) end() {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Fatal(err)
	}
	r.Wait()
}

// TestLock: who waits for another tells of it once, and gives up as for a destination that
// cannot be reached.
func TestLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, c := filled(t), collectortest.Direct(t)
		first, second := to(t, store, c), to(t, store, c)
		if err := first.Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := second.Lock(t.Context()); !errors.Is(err, ship.ErrLocked) || time.Since(began) != second.Patience {
			t.Errorf("after %v, got %v", time.Since(began), err)
		}
		if len(second.events) != 1 || second.events[0].Kind != ship.Trouble || !second.events[0].Again || !strings.Contains(second.events[0].Text, "http://collector.test/v1/traces: another acptap") {
			t.Errorf("told %+v", second.events)
		}
		time.AfterFunc(time.Second, func() { first.To.Unlock() })
		if err := second.Lock(t.Context()); err != nil {
			t.Error(err)
		}
		if err := second.To.Unlock(); err != nil {
			t.Error(err)
		}
		if err := second.Run(t.Context(), nil, true); err != nil {
			t.Error(err)
		}
	})
}
