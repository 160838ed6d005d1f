package wire_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

func jsonBody(limit int) func() wire.Decoder {
	return func() wire.Decoder { return wire.Decoder{Body: &wire.BodyDecoder{JSON: true, Limit: limit}} }
}

func otherBody(limit int) func() wire.Decoder {
	return func() wire.Decoder { return wire.Decoder{Body: &wire.BodyDecoder{Limit: limit}} }
}

func TestBodyDecoder(t *testing.T) {
	x, blanks := strings.Repeat("x", 600), strings.Repeat(" ", 600)
	for _, tt := range []struct {
		name string
		make func() wire.Decoder
		in   string
		want []string
	}{
		{"nothing", jsonBody(0), "", nil},
		{"JSON", jsonBody(0), "{}", []string{`invalid "" "{}"`}},
		{"white space around it", jsonBody(0), "\r\n {\n} \t\n", []string{`invalid "\r\n " "{\n}"`, `rest " \t\n"`}},
		{"white space only", jsonBody(0), " \n", []string{`rest " \n"`}},
		{"a byte order mark is no JSON", jsonBody(0), "\ufeff{}", []string{`invalid "" "\ufeff{}"`}},
		{"other", otherBody(0), " Accepted\n", []string{`body "" " Accepted\n"`}},
		{"long", jsonBody(256), " " + x + "\n", []string{fmt.Sprintf(`invalid " " %q`, x), `rest "\n"`}},
		{"long, with white space", jsonBody(256), "[" + blanks + "]", []string{fmt.Sprintf(`invalid "" "[%s]"`, blanks)}},
		{"long, and much behind it", jsonBody(256), x + "\n" + blanks[:100], []string{
			fmt.Sprintf(`invalid "" %q`, x), fmt.Sprintf(`rest "\n%s"`, blanks[:100])}},
		{"much white space", jsonBody(256), blanks[:300] + "{}", []string{
			fmt.Sprintf(`mark %q ~"{\"framing\":257}"`, blanks[:257]), fmt.Sprintf(`invalid %q "{}"`, blanks[:43])}},
		{"other, long", otherBody(256), x, []string{fmt.Sprintf(`body "" %q`, x)}},
	} {
		t.Run(tt.name, func(t *testing.T) { testDecoder(t, tt.make, tt.in, tt.want) })
	}
}

func FuzzBodyDecoder(f *testing.F) {
	f.Add([]byte(" {}\n"), uint8(1), uint16(0), true)
	f.Add([]byte(strings.Repeat("x ", 20)), uint8(3), uint16(16), false)
	f.Add([]byte(strings.Repeat(" ", 40)+"{}"), uint8(3), uint16(16), true)
	f.Fuzz(func(t *testing.T, stream []byte, step uint8, limit uint16, json bool) {
		if len(stream) > 4<<10 {
			return
		}
		make := otherBody(int(limit))
		if json {
			make = jsonBody(int(limit))
		}
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
