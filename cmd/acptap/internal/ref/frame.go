package ref

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/acptap/acptap/record/termtext"
)

// A Frame is the number of a frame of a subject, as the inspector and acptap summary
// write it: 17, or 2.17 for frame 17 of the second tape of a session.
type Frame struct {
	Part int    // from 1; 0: the part that contains the frame
	Seq  uint64 // 0: no frame
}

// CutFrame splits REF:FRAME.
func CutFrame(arg string) (name string, f Frame) {
	i := strings.LastIndexByte(arg, ':')
	if i <= 0 || f.Set(arg[i+1:]) != nil {
		return arg, Frame{}
	}
	return arg[:i], f
}

// String returns the number as users write it, or "" if there is none.
func (f *Frame) String() string {
	switch {
	case f.Seq == 0:
		return ""
	case f.Part == 0:
		return fmt.Sprint(f.Seq)
	}
	return fmt.Sprintf("%d.%d", f.Part, f.Seq)
}

// Set parses a number. Set, String and Type make a Frame usable as a flag's value.
func (f *Frame) Set(text string) error {
	var read Frame
	part, seq, parted := strings.Cut(text, ".")
	if !parted {
		part, seq = "1", text
	}
	p, perr := strconv.ParseUint(part, 10, 31)
	n, nerr := strconv.ParseUint(seq, 10, 64)
	if perr != nil || nerr != nil || p == 0 || n == 0 {
		return fmt.Errorf("want the number of a frame, such as 17, or 2.17 on the second tape of a session")
	}
	if read.Seq = n; parted {
		read.Part = int(p)
	}
	*f = read
	return nil
}

// Type returns the name of the value in help.
func (f *Frame) Type() string { return "number" }

// PartWith returns the part that a frame is on.
func (s Subject) PartWith(f Frame) (Part, error) {
	if f.Part > 0 {
		if f.Part > len(s.Parts) {
			return Part{}, fmt.Errorf("frame %s: there is no tape %d", f.String(), f.Part)
		}
		return s.Parts[f.Part-1], nil
	}
	var found []int
	for i, p := range s.Parts {
		if s.Session == "" || p.Run.First <= f.Seq && f.Seq <= p.Run.Last {
			found = append(found, i)
		}
	}
	switch len(found) {
	case 0:
		return Part{}, fmt.Errorf("session %s has no frame %d", termtext.Line(s.Session), f.Seq)
	case 1:
		return s.Parts[found[0]], nil
	}
	f.Part = found[0] + 1
	return Part{}, fmt.Errorf("session %s has a frame %d on %d tapes; name one of them as in %s", termtext.Line(s.Session), f.Seq, len(found), f.String())
}
