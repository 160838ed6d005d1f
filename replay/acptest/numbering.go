package acptest

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A numbering maps the frames of a run, by direction and order, to their numbers in the
// file that the run played or recorded; 0 means that the file lacks the frame.
type numbering [wire.AgentStderr][]uint64

func (n *numbering) add(dir wire.Direction, seq uint64) { n[dir] = append(n[dir], seq) }

// addFrames adds the frames of a tape.
func (n *numbering) addFrames(tape *record.Tape) error {
	for f, err := range tape.Frames(1) {
		if err != nil {
			return err
		}
		if f.Kind != wire.Mark && f.Dir < wire.AgentStderr {
			n.add(f.Dir, f.Seq)
		}
	}
	return nil
}

// of returns a function that names a frame of the run's tape by its number in the file at
// path. If the run recorded the file, it wrote its own frames, so the file has them in
// the same order.
func (n *numbering) of(run *record.Tape, path string) (func(seq uint64) string, error) {
	if len(n[wire.ClientToAgent]) == 0 {
		file, err := record.OpenFile(path)
		if err == nil {
			err = n.addFrames(file)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	var frames numbering
	if err := frames.addFrames(run); err != nil {
		return nil, err
	}
	return func(seq uint64) string {
		for dir := range frames {
			if i := slices.Index(frames[dir], seq); i >= 0 && i < len(n[dir]) && n[dir][i] != 0 {
				return strconv.FormatUint(n[dir][i], 10)
			}
		}
		return fmt.Sprintf("%d of the run", seq)
	}, nil
}

var (
	framesInText = lazyregexp.New(`\bframes? \d+(, \d+)*`)
	digits       = lazyregexp.New(`\d+`)
)

// renumber replaces the frame names in text with those from name.
func renumber(text string, name func(seq uint64) string) string {
	return framesInText().ReplaceAllStringFunc(text, func(frames string) string {
		return digits().ReplaceAllStringFunc(frames, func(number string) string {
			seq, err := strconv.ParseUint(number, 10, 64)
			if err != nil {
				return number
			}
			return name(seq)
		})
	})
}
