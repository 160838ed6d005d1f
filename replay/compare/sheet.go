package compare

import (
	"encoding/binary"
	"hash/maphash"
	"iter"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// A sheet holds the lines of an outline. It compares lines by their hashes, and keeps the
// texts, which are needed only where outlines differ, compressed (BenchmarkReadMemory in
// cmd/acptap).
type sheet struct {
	seed  maphash.Seed
	sums  []uint64       // hashes of the lines; among a million lines, two share one by chance in one of 10 million runs
	other map[int]string // texts of lines that were replaced

	pages [][]byte // compressed; the last one is not
	first []int    // the number of each page's first line
	open  int      // the page that lines is of; -1: none
	lines []string
	enc   *zstd.Encoder
	dec   *zstd.Decoder
}

// pageSize is the number of bytes that are compressed together.
const pageSize = 256 << 10

// newSheet returns an empty sheet. Only sheets with the same seed can be compared.
func newSheet(seed maphash.Seed) *sheet { return &sheet{seed: seed, open: -1} }

// sheetOf returns a sheet of lines.
func sheetOf(seed maphash.Seed, lines []string) *sheet {
	s := newSheet(seed)
	for _, line := range lines {
		s.add(line)
	}
	return s
}

// add appends a line.
func (s *sheet) add(line string) {
	last := len(s.pages) - 1
	if last < 0 || len(s.pages[last]) >= pageSize {
		var space []byte
		if last >= 0 {
			space = s.pages[last][:0]
			s.pages[last] = s.pack(s.pages[last])
		}
		s.pages, s.first = append(s.pages, space), append(s.first, len(s.sums))
		last++
	}
	s.pages[last] = append(binary.AppendUvarint(s.pages[last], uint64(len(line))), line...)
	s.sums = append(s.sums, maphash.String(s.seed, line))
	s.open = -1
}

func (s *sheet) pack(page []byte) []byte {
	if s.enc == nil {
		s.enc, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(pageSize), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(false))
		s.dec, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	}
	return slices.Clone(s.enc.EncodeAll(page, nil))
}

// line returns the text of a line. It is fast if lines are read in order.
func (s *sheet) line(n int) string {
	if text, ok := s.other[n]; ok {
		return text
	}
	at, found := slices.BinarySearch(s.first, n)
	if !found {
		at--
	}
	if at != s.open {
		s.read(at)
	}
	return s.lines[n-s.first[at]]
}

// read opens a page.
func (s *sheet) read(at int) {
	text := s.pages[at]
	if at < len(s.pages)-1 {
		var err error
		if text, err = s.dec.DecodeAll(text, nil); err != nil {
			panic("compare: compressed lines are damaged: " + err.Error())
		}
	}
	s.open, s.lines = at, s.lines[:0]
	whole := string(text)
	for at := 0; at < len(text); {
		size, n := binary.Uvarint(text[at:])
		at += n
		s.lines = append(s.lines, whole[at:at+int(size)])
		at += int(size)
	}
}

// all returns the texts of all lines.
func (s *sheet) all() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for n := range s.sums {
			if !yield(n, s.line(n)) {
				return
			}
		}
	}
}

// replace gives some lines other texts.
func (s *sheet) replace(texts map[int]string) {
	s.other = texts
	for n, text := range texts {
		s.sums[n] = maphash.String(s.seed, text)
	}
}
