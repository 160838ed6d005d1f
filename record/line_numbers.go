package record

import (
	"sort"

	"github.com/acptap/acptap/record/portable"
)

// lineNumbers tells in which lines of a file the frames of a tape stand. It holds only
// where the distance between the two numbers changes.
type lineNumbers []lineNumber

type lineNumber struct {
	seq  uint64
	line int
}

// add notes the line of a frame. Frames are added in order.
func (l *lineNumbers) add(seq uint64, line int) {
	if line > 0 && l.of(seq) != line {
		*l = append(*l, lineNumber{seq, line})
	}
}

// of returns the line of a frame, 0 if it is not known.
func (l lineNumbers) of(seq uint64) int {
	i := sort.Search(len(l), func(i int) bool { return l[i].seq > seq })
	if i == 0 {
		return 0
	}
	return l[i-1].line + int(seq-l[i-1].seq)
}

// Line returns the line in which a frame stands, from 1: of the file that the tape was
// read from, and else of the one that Export would write. It is 0 if the file is not one
// of lines.
func (t *Tape) Line(seq uint64) int {
	if m, ok := t.from.(*memoryBlocks); ok {
		return m.lines.of(seq)
	}
	return int(min(seq, portable.MaxSeq)) + 1 // behind the header
}
