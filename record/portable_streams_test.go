//go:build linux

package record_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A tape with streams comes out of its portable form as it went in: the same rows, and
// the same bytes of each stream.
func TestPortableStreams(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			store := record.OpenStore(t.TempDir())
			j := beginHTTP(t, store)
			var all []*exchange
			for range 12 {
				x := newExchange(rng)
				x.open(j)
				all = append(all, x)
			}
			for left := slices.Clone(all); len(left) > 0; {
				i := rng.IntN(len(left))
				if !left[i].send(t, j, func(n int) int { return 1 + rng.IntN(n) }) {
					left[i].end(j)
					left = slices.Delete(left, i, i+1)
				}
			}
			closeHTTP(t, store, j)
			checkPortableStreams(t, open(t, store, j.Tape()), all)
		})
	}
}

// checkPortableStreams writes a tape in the portable form, reads it and imports it.
func checkPortableStreams(t *testing.T, tape *record.Tape, all []*exchange) {
	t.Helper()
	text := exported(t, tape, true)
	if head, _, _ := strings.Cut(text, "\n"); !strings.HasPrefix(head, `{"acptap":1,"needs":["streams"],`) {
		t.Errorf("the header is %s", head)
	}
	want := streamRows(t, tape)
	file, err := record.ReadPortable(strings.NewReader(text), "file")
	if err != nil {
		t.Fatal(err)
	}
	store := record.OpenStore(t.TempDir())
	id, err := store.Import(strings.NewReader(text), "file", func(text string) { t.Errorf("told: %s", text) })
	if err != nil {
		t.Fatal(err)
	}
	for name, again := range map[string]*record.Tape{"file": file, "imported": open(t, store, id)} {
		rows := streamRows(t, again)
		for i := range want {
			if i >= len(rows) || rows[i] != want[i] {
				t.Fatalf("%s: row %d: got %s\nwant %s", name, i, slices.Concat(rows, []string{"nothing"})[min(i, len(rows))], want[i])
			}
		}
		checkBytes(t, again, all)
		if second := exported(t, again, true); second != text {
			t.Errorf("%s: exported again: got\n%s\nwant\n%s", name, second, text)
		}
	}
}

// Frames that are too long to be held come out as they went in, too.
func TestPortableLongStreams(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := beginHTTP(t, store)
	long := `{"jsonrpc":"2.0","id":1,"result":{"text":"` + strings.Repeat("long é ", 200_000) + `"}}`
	one := &exchange{ask: post(), answer: answer(200, "text/event-stream"), units: []unit{
		{wire.ClientToAgent, []byte(" " + long + "\n")},
		{wire.AgentToClient, []byte("id: 1\ndata: " + long + "\n\ndata: {\ndata: }\n\n")},
	}}
	two := &exchange{ask: post(), answer: answer(200, "application/octet-stream"), units: []unit{
		{wire.AgentToClient, bytes.Repeat([]byte("\xff\x00body"), 500_000)},
	}}
	for _, x := range []*exchange{one, two} {
		for x.open(j); x.send(t, j, func(n int) int { return min(n, 100_000) }); {
		}
		x.end(j)
	}
	closeHTTP(t, store, j)
	checkPortableStreams(t, open(t, store, j.Tape()), []*exchange{one, two})
}

// A long message in fragments keeps its content.
func TestPortableLongFragments(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	j := beginHTTP(t, store)
	x := &exchange{ask: wire.HTTP{Method: "GET"}, answer: wire.HTTP{Status: 101, Headers: []wire.Header{{Name: "Upgrade", Value: "websocket"}}}}
	part := strings.Repeat("long é ", 4000)
	add := func(head byte, text string) {
		x.units = append(x.units, unit{wire.AgentToClient, socketFrame(head, text, true)})
	}
	add(0x01, `{"jsonrpc":"2.0","id":1,"result":"`)
	for range 60 {
		add(0x00, part)
	}
	add(0x80, `"}`)
	for x.open(j); x.send(t, j, whole); {
	}
	x.end(j)
	closeHTTP(t, store, j)
	tape := open(t, store, j.Tape())
	checkBytes(t, tape, []*exchange{x})
	again, err := record.ReadPortable(strings.NewReader(exported(t, tape, true)), "file")
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range again.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Kind == wire.Mark {
			continue
		}
		var got bytes.Buffer
		if err := again.WriteFrame(&got, f.Seq); err != nil {
			t.Fatal(err)
		}
		if want := `{"jsonrpc":"2.0","id":1,"result":"` + strings.Repeat(part, 60) + `"}`; f.Kind != wire.Oversized || f.Derived || len(f.Lead) > 0 || got.String() != want {
			t.Errorf("%v of %d bytes, derived %v, with a lead of %d, want %d bytes", f.Kind, got.Len(), f.Derived, len(f.Lead), len(want))
		}
	}
}

// By hand, a stream is written with what matters only.
func TestPortableStreamsByHand(t *testing.T) {
	tape, err := record.ReadPortable(strings.NewReader(`{"acptap":1,"transport":"http"}
{"dir":"c2a","stream":1,"http":{"method":"POST","target":"/mcp"}}
{"dir":"c2a","stream":1,"frame":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}
{"dir":"c2a","ended":{"stream":1,"by":"client"}}
{"dir":"a2c","http":{"stream":1,"status":200}}
{"dir":"a2c","stream":1,"event":"7","frame":{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}}
{"dir":"a2c","stream":1,"event":"7","redelivered":true,"frame":{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}}
{"dir":"a2c","stream":1,"sse":{"event":"endpoint","data":"/x"}}
{"dir":"a2c","stream":1,"lead":{"base64":"iQA="},"close":{"code":1000}}
{"dir":"a2c","stream":2,"kind":"body","text":"Accepted"}
{"dir":"a2c","stream":2,"text":"Accepted"}
{"dir":"a2c","stream":2,"text":"{\n}"}
{"dir":"a2c","closed":"idle"}
`), "file")
	if err != nil {
		t.Fatal(err)
	}
	want := `1 c2a wire mark 1 "" "{\"http\":{\"stream\":1,\"method\":\"POST\",\"target\":\"/mcp\"}}"
2 c2a wire request 1 "" "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"
3 c2a wire mark 1 "" "{\"ended\":{\"stream\":1,\"by\":\"client\"}}"
4 a2c wire mark 1 "" "{\"http\":{\"stream\":1,\"status\":200}}"
5 a2c wire response 1 "id: 7\ndata: " "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}"
6 a2c wire response 1 redelivered "id: 7\ndata: " "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}"
7 a2c wire mark 1 derived "" "{\"sse\":{\"event\":\"endpoint\",\"data\":\"/x\"}}"
8 a2c wire mark 1 derived "\x89\x00" "{\"close\":{\"code\":1000}}"
9 a2c wire body 2 "" "Accepted"
10 a2c wire invalid 2 "" "Accepted"
11 a2c wire invalid 2 "" "{\n}"
12 a2c wire mark 0 "" "{\"closed\":\"idle\"}"`
	if got := strings.Join(streamRows(t, tape), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	info, err := tape.Info()
	if err != nil || info.Streams != 2 || info.Closed != "idle" || info.Frames != 5 {
		t.Errorf("got %+v, %v", info, err)
	}
}

// An export for others has neither secrets nor ids of sessions, and can be read again. Within
// one store an id has the same pseudonym everywhere.
func TestPortableStreamsRedacted(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	const secret, session = "hunter2hunter2", "5f3c9c1e-session"
	var texts []string
	for range 2 {
		j := beginHTTP(t, store)
		ask, got := post(), answer(200, "text/event-stream")
		ask.Target = "/mcp?apiKey=" + secret + "&sessionId=" + session
		ask.Headers = append(ask.Headers, wire.Header{Name: "Mcp-Session-Id", Value: session})
		got.Headers = append(got.Headers, wire.Header{Name: "mcp-session-id", Value: session})
		x := &exchange{ask: ask, answer: got, units: []unit{
			{wire.ClientToAgent, []byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"apiKey":"` + secret + `"}}`)},
			{wire.AgentToClient, []byte("event: endpoint\ndata: /m?sessionId=" + session + "\n\n")},
			{wire.AgentToClient, []byte("data: {\"jsonrpc\":\"2.0\",\"id\":1,\ndata: \"result\":{\"apiKey\":\"" + secret + "\"}}\nid: 1\n\n")},
			{wire.AgentToClient, []byte("data: " + `{"jsonrpc":"2.0","method":"m","params":{"apiKey":"` + secret + `"}}` + "\n\n")},
		}}
		for x.open(j); x.send(t, j, whole); {
		}
		x.end(j)
		closeHTTP(t, store, j)
		text := exported(t, open(t, store, j.Tape()), false)
		if strings.Contains(text, secret) || strings.Contains(text, session) {
			t.Errorf("it says what it must not:\n%s", text)
		}
		again, err := record.ReadPortable(strings.NewReader(text), "file")
		if err != nil {
			t.Fatal(err)
		}
		for f, err := range again.Frames(1) {
			if err != nil || f.Kind == wire.Invalid {
				t.Errorf("%v %q, %v", f.Kind, f.Raw, err)
			}
		}
		if second := exported(t, again, false); second != text {
			t.Errorf("exported again: got\n%s\nwant\n%s", second, text)
		}
		_, lines, _ := strings.Cut(text, "\n")
		texts = append(texts, pseudonyms(lines))
	}
	if texts[0] != texts[1] || strings.Count(texts[0], "session-") != 5 || len(slices.Compact(strings.Fields(texts[0]))) != 1 {
		t.Errorf("pseudonyms: %q and %q", texts[0], texts[1])
	}
}

// pseudonyms returns those in a text, with blanks between them.
func pseudonyms(text string) (all string) {
	for _, part := range strings.Split(text, "session-")[1:] {
		if len(part) >= 12 && strings.Trim(part[:12], "0123456789abcdef") == "" {
			all += "session-" + part[:12] + " "
		}
	}
	return all
}
