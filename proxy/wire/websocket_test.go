package wire_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

func socket() wire.Decoder { return wire.Decoder{Socket: new(wire.SocketDecoder)} }

// Bits of a WebSocket's frame (RFC 6455, section 5.2).
const (
	fin  = 0x80
	rsv1 = 0x40

	text, binaryData, closed, ping, pong = 1, 2, 8, 9, 10
)

// frame returns a WebSocket's frame; key masks it.
func frame(first byte, payload string, key ...byte) string {
	b := []byte{first}
	bit := byte(0)
	if len(key) > 0 {
		bit = 0x80
	}
	switch n := len(payload); {
	case n < 126:
		b = append(b, bit|byte(n))
	case n < 1<<16:
		b = binary.BigEndian.AppendUint16(append(b, bit|126), uint16(n))
	default:
		b = binary.BigEndian.AppendUint64(append(b, bit|127), uint64(n))
	}
	b = append(b, key...)
	for i, c := range []byte(payload) {
		if len(key) > 0 {
			c ^= key[i%4]
		}
		b = append(b, c)
	}
	return string(b)
}

func TestSocketDecoder(t *testing.T) {
	long := `"` + strings.Repeat("long", 50) + `"`
	for _, tt := range []struct {
		name string
		in   []string
		want []string
	}{
		{"nothing", nil, nil},
		// The examples of RFC 6455, section 5.7.
		{"unmasked", []string{"\x81\x05Hello"}, []string{`invalid "\x81\x05" "Hello"`}},
		{"masked", []string{"\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"}, []string{
			`invalid "\x81\x857\xfa!=" "Hello"`}},
		{"fragments", []string{"\x01\x03Hel", "\x80\x02lo"}, []string{
			`invalid "\x01\x03Hel\x80\x02lo" ~"Hello"`}},
		{"ping and pong", []string{"\x89\x05Hello", "\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"}, []string{
			`rest "\x89\x05Hello\x8a\x857\xfa!=\x7f\x9fMQX"`}},

		{"a ping before a message", []string{frame(fin|ping, ""), frame(fin|text, "{}")}, []string{
			`invalid "\x89\x00\x81\x02" "{}"`}},
		{"a ping within fragments", []string{frame(text, "{", 1, 2, 3, 4), frame(fin|ping, "p"), frame(0, ""), frame(fin, "}", 5, 6, 7, 8)}, []string{
			`invalid "\x01\x81\x01\x02\x03\x04z\x89\x01p\x00\x00\x80\x81\x05\x06\a\bx" ~"{}"`}},
		{"16 bits of length", []string{frame(fin|text, long), frame(fin|text, "1")}, []string{
			`invalid "\x81~\x00\xca" "\"` + long[1:len(long)-1] + `\""`, `invalid "\x81\x01" "1"`}},
		{"64 bits of length", []string{"\x81\x7f\x00\x00\x00\x00\x00\x00\x00\x02{}"}, []string{
			`invalid "\x81\x7f\x00\x00\x00\x00\x00\x00\x00\x02" "{}"`}},
		{"binary", []string{frame(fin|binaryData, "{}")}, []string{`body "\x82\x02" "{}"`}},
		{"compressed", []string{frame(fin|rsv1|text, "{}")}, []string{`body "\xc1\x02" "{}"`}},
		{"empty", []string{frame(fin|text, ""), frame(fin|text, "1")}, []string{
			`invalid "\x81\x00" ""`, `invalid "\x81\x01" "1"`}},
		{"close", []string{frame(fin|text, "1"), frame(fin|closed, "\x03\xe8bye", 9, 9, 9, 9)}, []string{
			`invalid "\x81\x01" "1"`,
			`mark "\x88\x85\t\t\t\t\n\xe1kpl" ~"{\"close\":{\"code\":1000,\"reason\":\"bye\"}}"`}},
		{"close without a code", []string{frame(fin|closed, "")}, []string{
			`mark "\x88\x00" ~"{\"close\":{\"code\":1005}}"`}},
		{"close within fragments", []string{frame(text, "{"), frame(fin|closed, "\x03\xe9")}, []string{
			`mark "\x01\x01{\x88\x02\x03\xe9" ~"{\"close\":{\"code\":1001}}"`}},
		{"a message within fragments", []string{frame(text, "{"), frame(fin|text, "1")}, []string{
			`invalid "\x01\x01{" ~"{"`, `invalid "\x81\x01" "1"`}},
		{"a continuation of nothing", []string{frame(fin, "1")}, []string{`invalid "\x80\x01" "1"`}},
		{"torn in a head", []string{frame(fin|text, "1"), "\x81\x7e\x00"}, []string{
			`invalid "\x81\x01" "1"`, `rest "\x81~\x00"`}},
		{"torn in a message", []string{"\x81\x05Hel"}, []string{`invalid "\x81\x05" "Hel"`}},
	} {
		t.Run(tt.name, func(t *testing.T) { testDecoder(t, socket, strings.Join(tt.in, ""), tt.want) })
	}
}

// A message that exceeds the limit continues in parts, in one fragment or several.
func TestSocketDecoderLimit(t *testing.T) {
	x := strings.Repeat("x", 300)
	small := func() wire.Decoder { return wire.Decoder{Socket: &wire.SocketDecoder{Limit: 256}} }
	for _, tt := range []struct {
		name, in string
		bytes    string
		frames   int
	}{
		{"one", frame(fin|text, x+x), x + x, 1},
		{"masked", frame(fin|text, x+x, 1, 2, 3, 4), x + x, 1},
		{"fragments", frame(text, x, 1, 2, 3, 4) + frame(fin|pong, "") + frame(0, x, 7, 7, 8, 9) + frame(fin, x), x + x + x, 1},
		{"small fragments", strings.Repeat(frame(text, "ab")+frame(fin, "c"), 100), strings.Repeat("abc", 100), 100},
		{"closed within", frame(text, x) + frame(fin|closed, "") + frame(fin|text, "1"), x + "1", 3},
		{"a long ping", frame(fin|ping, x) + frame(fin|text, "1"), x + "1", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for n := 1; n < len(tt.in); n += 1 + n/20 {
				got := decode(t, small(), slices.Collect(slices.Chunk([]byte(tt.in), n))...)
				if string(got.stream) != tt.in {
					t.Fatalf("in chunks of %d: put together: got %q, want %q", n, got.stream, tt.in)
				}
				if len(got.frames) != tt.frames {
					t.Fatalf("in chunks of %d: got %q, want %d frames", n, got.frames, tt.frames)
				}
				d, data := small(), ""
				emit := func(p wire.Piece) {
					if p.Kind != wire.Mark {
						data += string(p.Bytes)
					}
					if len(p.Lead) > 300 || len(p.Bytes) > 300 {
						t.Fatalf("a piece of %d and %d bytes", len(p.Lead), len(p.Bytes))
					}
				}
				for c := range slices.Chunk([]byte(tt.in), n) {
					d.Feed(c, emit)
				}
				if d.Flush(emit); data != tt.bytes {
					t.Fatalf("in chunks of %d: got %q, want %q", n, data, tt.bytes)
				}
			}
		})
	}
}

func FuzzSocketDecoder(f *testing.F) {
	f.Add([]byte(frame(text, "{", 1, 2, 3, 4)+frame(fin|ping, "p")+frame(fin, "}", 5, 6, 7, 8)+frame(fin|closed, "\x03\xe8")), uint8(2), uint16(0))
	f.Add([]byte(frame(fin|text, strings.Repeat("x", 40), 1, 2, 3, 4)+frame(fin|binaryData, "x")), uint8(9), uint16(16))
	f.Add([]byte(strings.Repeat(frame(text, "ab", 1, 2, 3, 4), 9)+frame(fin|closed, "")), uint8(9), uint16(16))
	f.Add([]byte("\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xffxx"), uint8(1), uint16(0))
	f.Fuzz(func(t *testing.T, stream []byte, step uint8, limit uint16) {
		if len(stream) > 4<<10 {
			return
		}
		make := func() wire.Decoder { return wire.Decoder{Socket: &wire.SocketDecoder{Limit: int(limit)}} }
		one := decode(t, make(), stream)
		if !bytes.Equal(one.stream, stream) {
			t.Fatalf("put together: got %q, want %q", one.stream, stream)
		}
		cut := decode(t, make(), slices.Collect(slices.Chunk(stream, int(step)+1))...)
		if !slices.Equal(one.frames, cut.frames) {
			t.Fatalf("in chunks of %d: got %q, want %q", int(step)+1, cut.frames, one.frames)
		}
	})
}

// A Joiner accepts any input, even if it is not from a WebSocket.
func FuzzJoiner(f *testing.F) {
	f.Add([]byte("\x81\x82abcd"), []byte("{}"))
	f.Add([]byte("\x89\x7d"), []byte("{}"))
	f.Fuzz(func(t *testing.T, lead, data []byte) {
		j := wire.Joiner{Socket: true}
		if got := j.Append(nil, wire.Piece{Lead: lead, Bytes: data}); len(got) != len(lead)+len(data) {
			t.Errorf("got %d bytes of %d and %d", len(got), len(lead), len(data))
		}
	})
}

func BenchmarkSocketDecoder(b *testing.B) {
	message := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":17,"total":100}}`
	const many = 100
	for _, tt := range []struct{ name, frame string }{
		{"server", frame(fin|text, message)},
		{"client", frame(fin|text, message, 1, 2, 3, 4)},
	} {
		b.Run(tt.name, func(b *testing.B) {
			stream := []byte(strings.Repeat(tt.frame, many))
			d, n := socket(), 0
			b.SetBytes(int64(len(stream)))
			b.ReportAllocs()
			for b.Loop() {
				d.Feed(stream, func(wire.Piece) { n++ })
			}
			if n != b.N*many {
				b.Fatalf("got %d messages in %d rounds", n, b.N)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "messages/s")
		})
	}
}
