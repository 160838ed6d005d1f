package wire_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

func events() wire.Decoder { return wire.Decoder{Events: new(wire.EventDecoder)} }

// The examples of event streams in the WHATWG HTML standard, section 9.2.6, and their frames.
var eventTests = []struct {
	name, in string
	want     []string
}{
	{"nothing", "", nil},
	{"one event", "data: {}\n\n", []string{
		`invalid "data: " "{}"`, `rest "\n\n"`}},
	{"fields before the data", "event: message\nid: 7\ndata: {}\n\nid: 8\ndata:{}\n\n", []string{
		`invalid "event: message\nid: 7\ndata: " "{}" #7`,
		`invalid "\n\nid: 8\ndata:" "{}" #8`, `rest "\n\n"`}},
	{"fields behind the data", "data: {}\nid: 7\n\ndata: []\n\n", []string{
		`invalid "data: {}\nid: 7\n\n" ~"{}" #7`,
		`invalid "data: " "[]"`, `rest "\n\n"`}},
	{"several lines of data", "data: {\ndata: }\n\n", []string{
		`invalid "data: {\ndata: }\n\n" ~"{\n}"`}},
	{"the lines of the standard's example", "data: YHOO\ndata: +2\ndata: 10\n\n", []string{
		`invalid "data: YHOO\ndata: +2\ndata: 10\n\n" ~"YHOO\n+2\n10"`}},
	{"line ends", "data: 1\r\rdata: 2\r\n\r\ndata: 3\n\ndata: 4\r\n\ndata: 5\n\r", []string{
		`invalid "data: " "1"`, `invalid "\r\rdata: " "2"`, `invalid "\r\n\r\ndata: " "3"`,
		`invalid "\n\ndata: " "4"`, `invalid "\r\n\ndata: " "5"`, `rest "\n\r"`}},
	{"byte order mark", "\ufeffdata: 1\n\n\ufeffdata: 2\n\n", []string{
		`invalid "\ufeffdata: " "1"`, `rest "\n\n\ufeffdata: 2\n\n"`}},
	{"comments", ": hello\n\ndata: 1\n: in it\n\n:\n\ndata: 2\n\n: bye\n\n", []string{
		`invalid ": hello\n\ndata: " "1"`, `invalid "\n: in it\n\n:\n\ndata: " "2"`, `rest "\n\n: bye\n\n"`}},
	{"only the first blank goes", "data:  1\ndata:2\n\n", []string{
		`invalid "data:  1\ndata:2\n\n" ~" 1\n2"`}},
	{"unknown fields", "foo: bar\nDATA: 1\ndata : 2\n\ndata: 3\n\n", []string{
		`invalid "foo: bar\nDATA: 1\ndata : 2\n\ndata: " "3"`, `rest "\n\n"`}},
	{"priming event", "id: 0\ndata:\n\ndata: {}\n\n", []string{
		`mark "id: 0\ndata:\n\n" ~"{\"sse\":{\"id\":\"0\"}}" #0`, `invalid "data: " "{}"`, `rest "\n\n"`}},
	{"retry", "retry: 3000\n\nretry: 3s\n\n", []string{
		`mark "retry: 3000\n\n" ~"{\"sse\":{\"retry\":\"3000\"}}"`, `rest "retry: 3s\n\n"`}},
	{"endpoint", "event: endpoint\ndata: /messages?s=1\n\n", []string{
		`mark "event: endpoint\ndata: /messages?s=1\n\n" ~"{\"sse\":{\"event\":\"endpoint\",\"data\":\"/messages?s=1\"}}"`}},
	{"unknown event", "event: ping\ndata: 1\ndata: 2\n\n", []string{
		`mark "event: ping\ndata: 1\ndata: 2\n\n" ~"{\"sse\":{\"event\":\"ping\",\"data\":\"1\\n2\"}}"`}},
	{"the last type counts", "event: ping\nevent:\ndata: 1\n\n", []string{
		`invalid "event: ping\nevent:\ndata: " "1"`, `rest "\n\n"`}},
	{"no value", "data\n\ndata\ndata\n\ndata:x", []string{
		`mark "data\n\n" ~"{\"sse\":{}}"`,
		`mark "data\ndata\n\n" ~"{\"sse\":{\"data\":\"\\n\"}}"`,
		`mark "data:x" ~"{\"sse\":{\"data\":\"x\",\"cut\":true}}"`}},
	{"an id with NUL is none", "id: a\x00b\ndata: 1\n\n", []string{
		`invalid "id: a\x00b\ndata: " "1"`, `rest "\n\n"`}},
	{"an empty id", "id\ndata: 1\n\n", []string{
		`invalid "id\ndata: " "1"`, `rest "\n\n"`}},
	{"not ended", "data: 1\n\nid: 2\ndata: {\"a\":", []string{
		`invalid "data: " "1"`,
		`mark "\n\nid: 2\ndata: {\"a\":" ~"{\"sse\":{\"id\":\"2\",\"data\":\"{\\\"a\\\":\",\"cut\":true}}"`}},
	{"ended by one line end", "data: 1\n", []string{
		`mark "data: 1\n" ~"{\"sse\":{\"data\":\"1\",\"cut\":true}}"`}},
}

func TestEventDecoder(t *testing.T) {
	for _, tt := range eventTests {
		t.Run(tt.name, func(t *testing.T) { testDecoder(t, events, tt.in, tt.want) })
	}
}

// An event that exceeds the limit continues in parts, verbatim.
func TestEventDecoderLimit(t *testing.T) {
	x := strings.Repeat("x", 300)
	small := func() wire.Decoder { return wire.Decoder{Events: &wire.EventDecoder{Limit: 256}} }
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"one line", "id: 1\ndata: " + x + "\r\n\r\ndata: 2\n\n", []string{
			fmt.Sprintf(`invalid "id: 1\ndata: " %q`, x), `invalid "\r\n\r\ndata: " "2"`, `rest "\n\n"`}},
		{"several lines", "data: {\ndata: " + x + "\n: c\nid: 4\n\ndata: 2\n\n", []string{
			fmt.Sprintf(`invalid "data: " "{\ndata: %s\n: c\nid: 4"`, x), `invalid "\n\ndata: " "2"`, `rest "\n\n"`}},
		{"of another type", "event: other\ndata: " + x + "\n\ndata: 2\n\n", []string{
			fmt.Sprintf(`body "event: other\ndata: " %q`, x), `invalid "\n\ndata: " "2"`, `rest "\n\n"`}},
		{"not ended", "data: " + x + "\n", []string{
			fmt.Sprintf(`invalid "data: " %q`, x), `rest "\n"`}},
		{"a comment", ":" + x + "\ndata: 2\n\n", []string{
			fmt.Sprintf(`mark %q ~"{\"framing\":257}"`, ":"+x[:256]), `invalid "` + x[256:] + `\ndata: " "2"`, `rest "\n\n"`}},
		{"many lines", strings.Repeat("data: 1234\n", 30) + "\n", []string{
			`invalid "data: " "1234` + strings.Repeat(`\ndata: 1234`, 29) + `"`, `rest "\n\n"`}},
	} {
		t.Run(tt.name, func(t *testing.T) { testDecoder(t, small, tt.in, tt.want) })
	}
}

// Comments that keep an idle stream open do not pile up.
func TestEventDecoderComments(t *testing.T) {
	d, n, framing := events(), 0, int64(0)
	for range 10_000 {
		d.Feed([]byte(": ping\n\n"), func(p wire.Piece) {
			n++
			framing += wire.ReadMark(wire.Frame{Kind: p.Kind, Raw: p.Bytes}).Framing
		})
		if d.Pending() > 5<<10 {
			t.Fatalf("%d bytes are kept", d.Pending())
		}
	}
	if n > 20 || framing+int64(d.Pending()) != 80_000 {
		t.Errorf("got %d marks of %d bytes in all, and %d bytes are kept", n, framing, d.Pending())
	}
}

// FuzzEventDecoder compares with a reader that has the whole stream and follows the
// standard to the letter.
func FuzzEventDecoder(f *testing.F) {
	for _, tt := range eventTests {
		f.Add([]byte(tt.in), uint8(3), uint16(0))
	}
	f.Add([]byte("data: "+strings.Repeat("x\r\n", 300)+"\n"), uint8(9), uint16(260))
	f.Fuzz(func(t *testing.T, stream []byte, step uint8, limit uint16) {
		make := func() wire.Decoder { return wire.Decoder{Events: &wire.EventDecoder{Limit: int(limit)}} }
		one := decode(t, make(), stream)
		if !bytes.Equal(one.stream, stream) {
			t.Fatalf("put together: got %q, want %q", one.stream, stream)
		}
		cut := decode(t, make(), slices.Collect(slices.Chunk(stream, int(step)+1))...)
		if !slices.Equal(one.frames, cut.frames) {
			t.Fatalf("in chunks of %d: got %q, want %q", int(step)+1, cut.frames, one.frames)
		}
		if limit > 0 || len(stream) > 1000 {
			return
		}
		var messages []string
		emit := func(p wire.Piece) {
			if p.Kind != wire.Mark {
				messages = append(messages, string(p.Bytes))
			}
		}
		d := make()
		d.Feed(stream, emit)
		d.Flush(emit)
		if want := dispatched(string(stream)); !slices.Equal(messages, want) {
			t.Errorf("%q: got %q, want %q", stream, messages, want)
		}
	})
}

// dispatched returns the data of the events of the type message, but for blank ones.
func dispatched(stream string) (messages []string) {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	data, kind := "", ""
	for line := range strings.Lines(stream) {
		line, ended := strings.CutSuffix(line, "\n")
		if !ended {
			break
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if (kind == "" || kind == "message") && strings.TrimSpace(data) != "" {
				messages = append(messages, strings.TrimSuffix(data, "\n"))
			}
			data, kind = "", ""
		case name == "data":
			data += value + "\n"
		case name == "event":
			kind = value
		}
	}
	return messages
}

func BenchmarkEventDecoder(b *testing.B) {
	event := `event: message` + "\n" + `id: 5f2c_17` + "\n" +
		`data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":17,"total":100}}` + "\n\n"
	const many = 100
	stream := []byte(strings.Repeat(event, many))
	d, n := events(), 0
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		d.Feed(stream, func(wire.Piece) { n++ })
	}
	if n != b.N*many {
		b.Fatalf("got %d events in %d rounds", n, b.N)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
}
