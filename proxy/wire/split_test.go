package wire_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

var splitTests = []struct {
	name, in string
	want     []string // each line with its end
}{
	{"nothing", "", nil},
	{"one line", "{}\n", []string{"{} lf"}},
	{"crlf", "{}\r\n[]\n", []string{"{} crlf", "[] lf"}},
	{"blank lines", "\n\r\n \n", []string{" lf", " crlf", "  lf"}},
	{"no end", "{}\n{", []string{"{} lf", "{ none"}},
	{"carriage return inside", "a\rb\n\r", []string{"a\rb lf", "\r none"}},
	{"two carriage returns", "a\r\r\n", []string{"a\r crlf"}},
	{"no UTF-8, NUL", "\xff\x00\n", []string{"\xff\x00 lf"}},
}

// lines cuts stream, given in chunks, and joins the pieces of long lines.
func lines(s *wire.Splitter, chunks ...[]byte) []string {
	var got []string
	var line []byte
	emit := func(piece []byte, end wire.LineEnd, last bool) {
		line = append(line, piece...)
		if last {
			got = append(got, fmt.Sprintf("%s %v", line, end))
			line = nil
		}
	}
	for _, c := range chunks {
		s.Feed(c, emit)
	}
	s.Flush(emit)
	return got
}

func TestSplitter(t *testing.T) {
	for _, tt := range splitTests {
		t.Run(tt.name, func(t *testing.T) {
			for n := 1; n <= len(tt.in)+1; n++ {
				var s wire.Splitter
				chunks := slices.Collect(slices.Chunk([]byte(tt.in), n))
				if got := lines(&s, chunks...); !slices.Equal(got, tt.want) {
					t.Errorf("in chunks of %d: got %q, want %q", n, got, tt.want)
				}
			}
		})
	}
}

// A line longer than the limit comes in pieces, and no piece is longer.
func TestSplitterLimit(t *testing.T) {
	in := strings.Repeat("x", 25) + "\r\n" + strings.Repeat("y", 10) + "\n" + strings.Repeat("z", 11)
	for n := 1; n < len(in); n++ {
		s := wire.Splitter{Limit: 10}
		var got bytes.Buffer
		emit := func(piece []byte, end wire.LineEnd, last bool) {
			if len(piece) > 10 {
				t.Errorf("in chunks of %d: piece of %d bytes", n, len(piece))
			}
			got.Write(piece)
			if last {
				got.WriteString(end.Bytes())
			}
		}
		for c := range slices.Chunk([]byte(in), n) {
			s.Feed(c, emit)
		}
		s.Flush(emit)
		if got.String() != in {
			t.Errorf("in chunks of %d: got %q, want %q", n, got.String(), in)
		}
	}
}

// A Splitter made from the state of another continues where that one stopped.
func TestSplitterState(t *testing.T) {
	in := []byte(strings.Repeat("x", 25) + "\r\n" + strings.Repeat("y", 7) + "\n")
	want := lines(&wire.Splitter{Limit: 10}, in)
	for cut := range in {
		var pieces []string
		var line []byte
		emit := func(piece []byte, end wire.LineEnd, last bool) {
			line = append(line, piece...)
			if last {
				pieces = append(pieces, fmt.Sprintf("%s %v", line, end))
				line = nil
			}
		}
		first := wire.Splitter{Limit: 10}
		first.Feed(in[:cut], emit)
		second := wire.Splitter{Limit: 10, Pending: bytes.Clone(first.Pending), Open: first.Open}
		second.Feed(in[cut:], emit)
		second.Flush(emit)
		if !slices.Equal(pieces, want) {
			t.Errorf("cut at %d: got %q, want %q", cut, pieces, want)
		}
	}
}

// However a stream is cut into chunks, the lines put together are the stream.
func FuzzSplitter(f *testing.F) {
	for _, tt := range splitTests {
		f.Add([]byte(tt.in), uint8(3), uint8(4))
	}
	f.Fuzz(func(t *testing.T, stream []byte, step, limit uint8) {
		s := wire.Splitter{Limit: int(limit) + 2}
		var got []byte
		emit := func(piece []byte, end wire.LineEnd, last bool) {
			if bytes.IndexByte(piece, '\n') >= 0 {
				t.Errorf("a piece holds a line feed: %q", piece)
			}
			got = append(got, piece...)
			if last {
				got = append(got, end.Bytes()...)
			}
		}
		for c := range slices.Chunk(stream, int(step)+1) {
			s.Feed(c, emit)
		}
		s.Flush(emit)
		if !bytes.Equal(got, stream) {
			t.Errorf("in chunks of %d with limit %d: got %q, want %q", int(step)+1, s.Limit, got, stream)
		}
	})
}
