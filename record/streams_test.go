//go:build linux

package record_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
)

// beginHTTP begins a tape of an HTTP connection.
func beginHTTP(t testing.TB, store *record.Store) *record.Recorder {
	t.Helper()
	j, err := store.Record(record.Start{Transport: "http", Upstream: "http://127.0.0.1:7000/mcp"})
	if err != nil {
		t.Fatal(err)
	}
	recordtest.CloseAtEnd(t, j)
	return j
}

// closeHTTP ends it, and sees to it that all of it is sealed.
func closeHTTP(t testing.TB, store *record.Store, j *record.Recorder) {
	t.Helper()
	j.Closed("idle")
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	sealAll(t, store)
	j.Wait()
}

func post() wire.HTTP {
	return wire.HTTP{Method: "POST", Target: "/mcp", Protocol: "HTTP/1.1", Headers: typed("application/json")}
}

func answer(status int, kind string) wire.HTTP {
	return wire.HTTP{Status: status, Headers: typed(kind)}
}

func typed(kind string) []wire.Header { return []wire.Header{{Name: "Content-Type", Value: kind}} }

// An exchange is a stream: its heads, and the units of its bytes, each of which ends a
// frame.
type exchange struct {
	ask, answer wire.HTTP
	units       []unit
	number      uint64
	sent        [2][]byte
}

type unit struct {
	dir wire.Direction
	p   []byte
}

// newExchange makes up an exchange of one of the kinds that there are.
func newExchange(rng *rand.Rand) *exchange {
	message := func() string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"%s é"}}`, strings.Repeat("x", rng.IntN(300)))
	}
	x := &exchange{ask: post(), answer: answer(200, "application/json")}
	add := func(dir wire.Direction, text string) { x.units = append(x.units, unit{dir, []byte(text)}) }
	switch rng.IntN(5) {
	case 0:
		add(wire.ClientToAgent, " "+message()+"\n")
		add(wire.AgentToClient, message())
	case 1:
		x.answer = answer(202, "text/plain")
		add(wire.ClientToAgent, message())
		add(wire.AgentToClient, "Accepted")
	case 2:
		x.ask = wire.HTTP{Method: "GET", Target: "/mcp"}
		x.answer = wire.HTTP{Status: 101, Headers: []wire.Header{{Name: "Upgrade", Value: "websocket"}}}
		for range rng.IntN(9) {
			dir := wire.Direction(rng.IntN(2))
			add(dir, string(socketFrame(0x81, message(), dir == wire.ClientToAgent)))
			if rng.IntN(3) == 0 { // a ping, and a message in two fragments
				add(dir, string(slices.Concat(socketFrame(0x89, "", false), socketFrame(0x01, `{"jsonrpc":"2.0",`, true), socketFrame(0x80, `"method":"m"}`, false))))
			}
		}
		add(wire.ClientToAgent, string(socketFrame(0x88, "\x03\xe8bye", true)))
	default:
		x.answer = answer(200, "text/event-stream; charset=utf-8")
		add(wire.ClientToAgent, message())
		add(wire.AgentToClient, fmt.Sprintf("id: %d\ndata:\n\n", rng.Int()))
		for range rng.IntN(20) {
			switch rng.IntN(6) {
			case 0:
				add(wire.AgentToClient, ": keep-alive\n\n")
			case 1:
				add(wire.AgentToClient, "data: {\"jsonrpc\":\"2.0\",\r\ndata: \"method\":\"m\"}\r\nid: 7\r\n\r\n")
			case 2:
				add(wire.AgentToClient, "event: endpoint\nretry: 30\ndata: /messages\n\n")
			default:
				add(wire.AgentToClient, "event: message\nid: "+fmt.Sprint(rng.Int())+"\ndata: "+message()+"\n\n")
			}
		}
	}
	return x
}

// socketFrame returns a frame of a WebSocket (RFC 6455, section 5.2).
func socketFrame(head byte, payload string, masked bool) []byte {
	b := []byte{head, byte(len(payload))}
	if len(payload) > 125 {
		b = binary.BigEndian.AppendUint16([]byte{head, 126}, uint16(len(payload)))
	}
	if !masked {
		return append(b, payload...)
	}
	b[1] |= 0x80
	mask := []byte{1, 2, 3, 4}
	b = append(b, mask...)
	for i := range len(payload) {
		b = append(b, payload[i]^mask[i%4])
	}
	return b
}

func (x *exchange) open(j *record.Recorder) { x.number = j.Open(x.ask) }

// send sends the next unit in chunks, and returns false if there is none.
func (x *exchange) send(t testing.TB, j *record.Recorder, cut func(n int) int) bool {
	if len(x.units) == 0 {
		return false
	}
	u := x.units[0]
	if x.sent[wire.AgentToClient] == nil && (u.dir == wire.AgentToClient || x.answer.Status == 101) {
		x.sent[wire.AgentToClient] = []byte{}
		j.Head(x.number, wire.Wire, x.answer)
	}
	n := cut(len(u.p))
	if err := j.AppendStream(x.number, u.dir, wire.Wire, u.p[:n]); err != nil {
		t.Error(err)
	}
	x.sent[u.dir] = append(x.sent[u.dir], u.p[:n]...)
	if x.units[0].p = u.p[n:]; n == len(u.p) {
		x.units = x.units[1:]
	}
	return true
}

func (x *exchange) end(j *record.Recorder) {
	j.EndStream(x.number, wire.ClientToAgent, wire.StreamEnd{By: wire.ByClient})
	j.EndStream(x.number, wire.AgentToClient, wire.StreamEnd{By: wire.ByServer})
}

func whole(n int) int { return n }

// checkBytes compares the streams on a tape with the bytes that were sent.
func checkBytes(t testing.TB, tape *record.Tape, all []*exchange) {
	t.Helper()
	for _, x := range all {
		for dir, want := range x.sent {
			var got bytes.Buffer
			if err := tape.WriteStream(&got, x.number, wire.Direction(dir)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Fatalf("stream %d %v: got %d bytes\n%.300q\nwant %d\n%.300q", x.number, wire.Direction(dir), got.Len(), got.Bytes(), len(want), want)
			}
		}
	}
}

// streamRows returns everything that a reader gets of the frames of a tape, except the time.
func streamRows(t testing.TB, tape *record.Tape) (rows []string) {
	t.Helper()
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		flags := ""
		if f.Derived {
			flags += " derived"
		}
		if f.Redelivered {
			flags += " redelivered"
		}
		rows = append(rows, fmt.Sprintf("%d %v %v %v %d%s %q %q", f.Seq, f.Dir, f.Origin, f.Kind, f.Stream, flags, f.Lead, f.Raw))
	}
	return rows
}

func TestStreams(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := beginHTTP(t, store)
	one := j.Open(post())
	two := j.Open(wire.HTTP{Method: "GET", Target: "/mcp", Guessed: true})
	j.AppendStream(one, wire.ClientToAgent, wire.Wire, []byte(` {"jsonrpc":"2.0","id":1,`))
	j.Head(two, wire.Wire, answer(200, "text/event-stream"))
	j.AppendStream(two, wire.AgentToClient, wire.Wire, []byte("id: 1\ndata:\n\ndata: {\"jsonrpc\":\"2.0\","))
	j.AppendStream(one, wire.ClientToAgent, wire.Wire, []byte(`"method":"tools/list"}`+"\n"))
	j.EndStream(one, wire.ClientToAgent, wire.StreamEnd{By: wire.ByClient})
	j.AppendStream(two, wire.AgentToClient, wire.Wire, []byte("\"method\":\"ping\",\"id\":5}\n\n: alive\n\n"))
	j.Head(one, wire.Injected, answer(502, "text/plain"))
	j.AppendStream(one, wire.AgentToClient, wire.Injected, []byte("no server"))
	j.EndStream(one, wire.AgentToClient, wire.StreamEnd{By: wire.ByAcptap, Error: "connection refused"})
	j.EndStream(two, wire.AgentToClient, wire.StreamEnd{By: wire.ByServer, Error: "unexpected EOF"})
	j.EndStream(two, wire.ClientToAgent, wire.StreamEnd{By: wire.ByClient, Trailers: []wire.Header{{Name: "X-Sum", Value: strings.Repeat("7", 9<<10)}}})
	want := strings.Split(strings.TrimSpace(`
1 c2a wire mark 1 "" "{\"http\":{\"stream\":1,\"method\":\"POST\",\"target\":\"/mcp\",\"protocol\":\"HTTP/1.1\",\"headers\":[{\"name\":\"Content-Type\",\"value\":\"application/json\"}]}}"
2 c2a wire mark 2 "" "{\"http\":{\"stream\":2,\"method\":\"GET\",\"target\":\"/mcp\",\"guessed\":true}}"
3 a2c wire mark 2 "" "{\"http\":{\"stream\":2,\"status\":200,\"headers\":[{\"name\":\"Content-Type\",\"value\":\"text/event-stream\"}]}}"
4 a2c wire mark 2 derived "id: 1\ndata:\n\n" "{\"sse\":{\"id\":\"1\"}}"
5 c2a wire request 1 " " "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"
6 c2a wire mark 1 "\n" "{\"ended\":{\"stream\":1,\"bytes\":48,\"by\":\"client\"}}"
7 a2c wire request 2 "data: " "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"id\":5}"
8 a2c injected mark 1 "" "{\"http\":{\"stream\":1,\"origin\":\"injected\",\"status\":502,\"headers\":[{\"name\":\"Content-Type\",\"value\":\"text/plain\"}]}}"
9 a2c injected body 1 "" "no server"
10 a2c wire mark 1 "" "{\"ended\":{\"stream\":1,\"by\":\"acptap\",\"error\":\"connection refused\"}}"
11 a2c wire mark 2 "\n\n: alive\n\n" "{\"ended\":{\"stream\":2,\"bytes\":70,\"by\":\"server\",\"error\":\"unexpected EOF\"}}"
12 c2a wire mark 2 "" "{\"ended\":{\"stream\":2,\"by\":\"client\",\"trailers\":[{\"name\":\"X-Sum\",\"value\":\"SUM…\"}]}}"
13 a2c wire mark 0 "" "{\"closed\":\"idle\"}"`), "\n")
	want[11] = strings.Replace(want[11], "SUM", strings.Repeat("7", 2<<10), 1) // cut
	check := func(store *record.Store, want []string) {
		t.Helper()
		if got := streamRows(t, open(t, store, j.Tape())); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	check(store, want[:12])
	closeHTTP(t, store, j)
	check(store, want)
	info, err := open(t, store, j.Tape()).Info()
	if err != nil || info.Streams != 2 || info.Closed != "idle" || !info.Guessed || info.Exit != nil || info.Frames != 2 || !info.Complete {
		t.Errorf("got %+v, %v", info, err)
	}
	if err := store.Rebuild(nil); err != nil {
		t.Error(err)
	}
	if counted, err := open(t, store, j.Tape()).Info(); err != nil || counted.Streams != 2 || counted.Closed != "idle" || !counted.Guessed {
		t.Errorf("counted again: %+v, %v", counted, err)
	}
}

// How the reads of the relay cut the streams changes nothing.
func TestStreamsCutAnywhere(t *testing.T) {
	rows := func(seed, cuts uint64) []string {
		rng, cutter := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(cuts, 2))
		store := record.OpenStore(t.TempDir())
		j := beginHTTP(t, store)
		var all []*exchange
		for range 8 {
			x := newExchange(rng)
			x.open(j)
			all = append(all, x)
		}
		for left := slices.Clone(all); len(left) > 0; {
			x := left[rng.IntN(len(left))]
			for n := len(x.units); n > 0 && len(x.units) == n; { // all of a unit, then another stream
				x.send(t, j, func(n int) int {
					if cuts == 0 {
						return n
					}
					return 1 + cutter.IntN(min(n, 40))
				})
			}
			if len(x.units) == 0 {
				x.end(j)
				left = slices.DeleteFunc(left, func(y *exchange) bool { return x == y })
			}
		}
		closeHTTP(t, store, j)
		tape := open(t, store, j.Tape())
		checkBytes(t, tape, all)
		return streamRows(t, tape)
	}
	for seed := range uint64(10) {
		want := rows(seed, 0)
		for cuts := range uint64(3) {
			if got := rows(seed, cuts+1); !slices.Equal(got, want) {
				t.Fatalf("seed %d, cut %d: got\n%s\nwant\n%s", seed, cuts, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// Many streams at once, cut and mixed at random, are read back byte for byte: from the
// journal, from the remains of a proxy killed at any moment, and sealed.
func TestStreamsMixed(t *testing.T) {
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 3))
		store := record.OpenStore(filepath.Join(t.TempDir(), "store"))
		j := beginHTTP(t, store)
		var all, left []*exchange
		for made := 0; made < 60 || len(left) > 0; {
			if len(left) < 12 && made < 60 {
				made++
				x := newExchange(rng)
				x.open(j)
				all, left = append(all, x), append(left, x)
			}
			x := left[rng.IntN(len(left))]
			if !x.send(t, j, func(n int) int { return 1 + rng.IntN(n) }) {
				x.end(j)
				left = slices.DeleteFunc(left, func(y *exchange) bool { return x == y })
			}
			if rng.IntN(700) == 0 {
				killed := orphan(t, store)
				checkBytes(t, open(t, killed, j.Tape()), all)
				sealAll(t, killed)
				checkBytes(t, open(t, killed, j.Tape()), all)
			}
		}
		checkBytes(t, open(t, store, j.Tape()), all)
		closeHTTP(t, store, j)
		checkBytes(t, open(t, store, j.Tape()), all)
		for _, doctor := range store.Examine(true, nil) {
			if doctor.Bad {
				t.Errorf("seed %d: %+v", seed, doctor)
			}
		}
	}
}

// A slot is used again as soon as its stream has ended, and the stream has a number of
// its own all the same.
func TestManyExchanges(t *testing.T) {
	if testing.Short() {
		t.Skip("70,000 exchanges")
	}
	store := record.OpenStore(t.TempDir())
	j := beginHTTP(t, store)
	const exchanges = 70_000
	ask, reply := post(), answer(200, "application/json")
	for i := range exchanges {
		s := j.Open(ask)
		j.AppendStream(s, wire.ClientToAgent, wire.Wire, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i))
		j.EndStream(s, wire.ClientToAgent, wire.StreamEnd{By: wire.ByClient})
		j.Head(s, wire.Wire, reply)
		j.AppendStream(s, wire.AgentToClient, wire.Wire, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{}}`, i))
		j.EndStream(s, wire.AgentToClient, wire.StreamEnd{By: wire.ByServer})
	}
	closeHTTP(t, store, j)
	tape := open(t, store, j.Tape())
	requests, answers := uint64(0), uint64(0)
	for f, err := range tape.Rows(1) {
		if err != nil {
			t.Fatal(err)
		}
		switch f.Kind {
		case wire.Request:
			if requests++; f.Stream != requests {
				t.Fatalf("request %d is in stream %d", requests, f.Stream)
			}
		case wire.Response:
			if answers++; f.Stream != answers || f.Request == 0 || f.Method != "tools/list" {
				t.Fatalf("answer %d is %+v", answers, f)
			}
		}
	}
	if info, err := tape.Info(); requests != exchanges || answers != exchanges || err != nil || info.Streams != exchanges || info.Failures != 0 {
		t.Errorf("%d requests, %d answers, %+v, %v", requests, answers, info, err)
	}
}

// An event that the server sends again on another stream counts once; one with the same
// id and other data is another one.
func TestRedelivered(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := beginHTTP(t, store)
	first := j.Open(post())
	j.AppendStream(first, wire.ClientToAgent, wire.Wire, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`))
	j.EndStream(first, wire.ClientToAgent, wire.StreamEnd{By: wire.ByClient})
	event := "id: a\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n"
	for i, kind := range []string{event, event, strings.Replace(event, `"id":1`, `"id":2`, 1)} {
		s := first
		if i > 0 {
			s = j.Open(wire.HTTP{Method: "GET"})
		}
		j.Head(s, wire.Wire, answer(200, "text/event-stream"))
		j.AppendStream(s, wire.AgentToClient, wire.Wire, []byte(kind))
	}
	closeHTTP(t, store, j)
	tape := open(t, store, j.Tape())
	var got []string
	for f, err := range tape.Rows(1) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind == wire.Response {
			got = append(got, fmt.Sprint(f.Stream, f.Redelivered, f.Request))
		}
	}
	if want := []string{"1 false 2", "2 true 0", "3 false 0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if info, err := tape.Info(); err != nil || info.Frames != 3 {
		t.Errorf("got %+v, %v", info, err)
	}
}

// What waits in all streams together for the end of frames is bounded, and not a byte is
// lost.
func TestPendingBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("58 s under the race detector, and what it does stands in one goroutine")
	}
	store := record.OpenStore(t.TempDir())
	j := beginHTTP(t, store)
	var all []*exchange
	for range 40 {
		x := &exchange{ask: post(), answer: answer(200, "text/event-stream")}
		text := []byte("data: \"" + strings.Repeat("long ", 180_000))
		x.units = []unit{{wire.AgentToClient, text}, {wire.AgentToClient, []byte("\"\n\n")}}
		x.open(j)
		all = append(all, x)
	}
	for range 2 {
		for _, x := range all {
			x.send(t, j, whole)
		}
	}
	for _, x := range all[:20] {
		x.end(j)
	}
	killed := orphan(t, store)
	closeHTTP(t, store, j)
	sealAll(t, killed)
	for _, store := range []*record.Store{store, killed} {
		tape := open(t, store, j.Tape())
		checkBytes(t, tape, []*exchange{all[0], all[19], all[20], all[39]})
		large := 0
		for f, err := range tape.Frames(1) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Dir == wire.AgentToClient && f.Kind != wire.Mark {
				if large++; f.Size < 900_000 || string(f.Lead) != "data: " || int64(len(f.Raw)) != f.Size {
					t.Errorf("%v of %d bytes behind %q", f.Kind, f.Size, f.Lead)
				}
			}
		}
		if large != 40 {
			t.Errorf("%d frames", large)
		}
	}
}

// A journal whose middle is damaged costs the frames there; all streams go on behind it.
func TestStreamsDamaged(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := beginHTTP(t, store)
	ask := j.Open(post())
	events := j.Open(wire.HTTP{Method: "GET"})
	j.Head(events, wire.Wire, answer(200, "text/event-stream"))
	for i := range 3 {
		j.AppendStream(events, wire.AgentToClient, wire.Wire, fmt.Appendf(nil, "data: {\"jsonrpc\":\"2.0\",\"method\":\"m%d\"}\n\ndata: {\"jsonrpc\":", i))
		j.AppendStream(events, wire.AgentToClient, wire.Wire, fmt.Appendf(nil, "\"2.0\",\"method\":\"n%d\"}\n\n", i))
	}
	j.AppendStream(ask, wire.ClientToAgent, wire.Wire, []byte(`{"jsonrpc":"2.0","id":1,"method":"whole"}`))
	killed := orphan(t, store)
	closeHTTP(t, store, j)
	paths, err := filepath.Glob(filepath.Join(killed.Dir(), "live", "*.0000000000000000"))
	if err != nil || len(paths) != 1 {
		t.Fatal(paths, err)
	}
	b, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(b, []byte(`"method":"n1"`))
	b[at] ^= 1
	if err := os.WriteFile(paths[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	sealAll(t, killed)
	var methods []string
	lost := false
	for f, err := range open(t, killed, j.Tape()).Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		lost = lost || wire.ReadMark(f.Frame).Damage > 0
		if f.Method != "" {
			methods = append(methods, f.Method)
		}
	}
	if got := strings.Join(methods, " "); got != "m0 n0 m1 m2 n2 whole" || !lost {
		t.Errorf("got %s, damage told: %v", got, lost)
	}
}

// BenchmarkStreams seals 16 streams of events.
func BenchmarkStreams(b *testing.B) {
	event := fmt.Appendf(nil, "event: message\nid: 123456\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"%s\"}}\n\n", strings.Repeat("text ", 40))
	const events, streams = 20_000, 16
	b.SetBytes(int64(events * len(event)))
	b.ReportAllocs()
	for b.Loop() {
		store := record.OpenStore(b.TempDir())
		j := beginHTTP(b, store)
		var open [streams]uint64
		for i := range open {
			open[i] = j.Open(wire.HTTP{Method: "GET"})
			j.Head(open[i], wire.Wire, answer(200, "text/event-stream"))
		}
		began := time.Now()
		for i := range events {
			copy(event[len("event: message\nid: "):], fmt.Sprintf("%06d", i))
			j.AppendStream(open[i%streams], wire.AgentToClient, wire.Wire, event)
		}
		b.ReportMetric(float64(time.Since(began).Nanoseconds())/events, "ns/append")
		j.Closed("idle")
		j.Close()
		j.Wait()
		sealAll(b, store)
	}
}
