package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// A decoding is what came out of a Decoder.
type decoding struct {
	frames []string // kind, lead and bytes of each; ~ if these are derived
	stream []byte   // put together from the pieces
}

// decode feeds the chunks to d. After each chunk it continues with another Decoder, made from
// the state of the previous one.
func decode(t testing.TB, d wire.Decoder, chunks ...[]byte) decoding {
	t.Helper()
	var got decoding
	var lead, frame []byte
	join := wire.Joiner{Socket: d.Socket != nil}
	limits := limits(&d)
	emit := func(p wire.Piece) {
		got.stream = join.Append(got.stream, p)
		lead, frame = append(lead, p.Lead...), append(frame, p.Bytes...)
		if !p.Last {
			return
		}
		sign := ""
		if p.Derived {
			sign = "~"
		}
		id := ""
		if p.EventID != nil {
			id = " #" + string(p.EventID)
		}
		got.frames = append(got.frames, fmt.Sprintf("%v %q %s%q%s", p.Kind, lead, sign, frame, id))
		lead, frame = nil, nil
	}
	for _, c := range chunks {
		d.Feed(c, emit)
		state, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		d = wire.Decoder{}
		if err := json.Unmarshal(state, &d); err != nil {
			t.Fatal(err)
		}
		*limits.of(&d) = limits.value
	}
	rest := d.Flush(emit)
	got.stream = append(got.stream, rest...)
	if len(rest) > 0 {
		got.frames = append(got.frames, fmt.Sprintf("rest %q", rest))
	}
	return got
}

// A limit is that of one of the decoders.
type limit struct{ value int }

func (limit) of(d *wire.Decoder) *int {
	switch {
	case d.Events != nil:
		return &d.Events.Limit
	case d.Socket != nil:
		return &d.Socket.Limit
	}
	return &d.Body.Limit
}

func limits(d *wire.Decoder) limit { return limit{*limit{}.of(d)} }

// testDecoder checks what comes out of a stream, however it is cut into chunks.
func testDecoder(t *testing.T, make func() wire.Decoder, in string, want []string) {
	t.Helper()
	for n := 1; n <= min(len(in)+1, 40); n++ {
		got := decode(t, make(), slices.Collect(slices.Chunk([]byte(in), n))...)
		if !slices.Equal(got.frames, want) {
			t.Fatalf("in chunks of %d:\ngot  %s\nwant %s", n, strings.Join(got.frames, "\n     "), strings.Join(want, "\n     "))
		}
		if !bytes.Equal(got.stream, []byte(in)) {
			t.Fatalf("in chunks of %d: put together: got %q, want %q", n, got.stream, in)
		}
	}
}

func TestNewDecoder(t *testing.T) {
	for _, tt := range []struct {
		status         int
		fields, decode string
	}{
		{0, "Content-Type: application/json", "json"},
		{0, "Content-Type: application/json; charset=utf-8", "json"},
		{200, "Content-Type: Application/JSON;charset", "json"},
		{404, "Content-Type: application/problem+json", "json"},
		{200, "Content-Type: text/event-stream", "sse"},
		{200, "Content-Type: text/event-stream;charset=utf-8", "sse"},
		{101, "Upgrade: WebSocket", "ws"},
		{0, "Upgrade: websocket", "body"},
		{200, "Content-Type: text/plain", "body"},
		{200, "", "body"},
		{200, "Content-Type: application/json\nContent-Encoding: gzip", "body"},
		{200, "Content-Type: text/event-stream\nContent-Encoding: br", "body"},
		{200, "Content-Type: application/json\nContent-Encoding: identity", "json"},
	} {
		d := wire.NewDecoder(tt.status, func(name string) string {
			for f := range strings.Lines(tt.fields) {
				if n, v, _ := strings.Cut(strings.TrimSuffix(f, "\n"), ": "); n == name {
					return v
				}
			}
			return ""
		})
		got := "body"
		switch {
		case d.Events != nil:
			got = "sse"
		case d.Socket != nil:
			got = "ws"
		case d.Body.JSON:
			got = "json"
		}
		if got != tt.decode {
			t.Errorf("%d %q: got %s, want %s", tt.status, tt.fields, got, tt.decode)
		}
	}
}

// Where bytes are missing, the frame before ends, and the next whole one is found.
func TestDecoderGap(t *testing.T) {
	message := `{"id":1}`
	for _, tt := range []struct {
		name    string
		d       wire.Decoder
		in, out string
		want    []string
	}{
		{"events", events(), "data: {\"a\"", ":1}\n\ndata: " + message + "\n\n", []string{
			`mark {"sse":{"data":"{\"a\"","cut":true}}`, "invalid " + message}},
		{"socket", socket(), "\x81\x05{\"a", "\x81\":1" + frame(fin|ping, "") + frame(fin|text, message, 1, 2, 3, 4), []string{
			`invalid {"a`, `mark {"framing":6}`, "invalid " + message}},
		{"socket, between messages", socket(), frame(fin|text, "{}"), frame(fin|text, message), []string{
			"invalid {}", "invalid " + message}},
		{"body", jsonBody(0)(), `{"a"`, ":1}", []string{`invalid {"a"`, "invalid :1}"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			join := wire.Joiner{Socket: tt.d.Socket != nil}
			var stream []byte
			emit := func(p wire.Piece) {
				stream = join.Append(stream, p)
				got = append(got, fmt.Sprintf("%v %s", p.Kind, p.Bytes))
			}
			tt.d.Feed([]byte(tt.in), emit)
			stream = append(stream, tt.d.Gap(emit)...)
			for _, c := range []byte(tt.out) {
				tt.d.Feed([]byte{c}, emit)
			}
			stream = append(stream, tt.d.Flush(emit)...)
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if string(stream) != tt.in+tt.out {
				t.Errorf("put together: got %q, want %q", stream, tt.in+tt.out)
			}
		})
	}
}

// The memory for an idle stream is small, whatever has passed over it.
func TestIdleState(t *testing.T) {
	for _, tt := range []struct {
		d  wire.Decoder
		in string
	}{
		{wire.Decoder{Events: new(wire.EventDecoder)}, "id: 1\ndata: {}\n\n"},
		{wire.Decoder{Events: new(wire.EventDecoder)}, "data: " + strings.Repeat("x", 3<<20) + "\r\n\r\n"},
		{wire.Decoder{Socket: new(wire.SocketDecoder)}, "\x81\x02{}"},
		{wire.Decoder{Socket: new(wire.SocketDecoder)}, "\x81\x7f\x00\x00\x00\x00\x00\x30\x00\x00" + strings.Repeat("x", 3<<20)},
		{wire.Decoder{Body: &wire.BodyDecoder{JSON: true}}, ""},
	} {
		for c := range slices.Chunk([]byte(tt.in), 30_000) {
			tt.d.Feed(c, func(wire.Piece) {})
		}
		state, err := json.Marshal(tt.d)
		if err != nil || len(state) > 100 {
			t.Errorf("%.20q: got a state of %d bytes, %v: %.200s", tt.in, len(state), err, state)
		}
	}
}
