// Package frameindex finds frames of one or several tapes: by number, by field and by
// filter. A Timeline puts several tapes one behind the other; an Index keeps the
// fields of its frames in memory, and a RowCache the rows that are looked at; a Scan
// says which frames a filter shows, while the tapes are read and while one is
// recorded; a Search looks through all tapes of a store.
//
// A million frames take about 30 MB. The package draws nothing.
package frameindex

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// A Timeline is one tape, or several as if they were one: the frames of each are
// numbered on from those of the tape before, and times are since the first tape
// began. Like a tape it is for one goroutine.
type Timeline struct {
	name  string
	open  func() ([]*record.Tape, error)
	Parts []Part // by time, at least one
}

// A Part of a timeline is one tape.
type Part struct {
	Tape   *record.Tape
	Info   record.Info   // when the timeline was opened
	Before uint64        // frames on the tapes before
	Began  time.Duration // since the first tape began
}

// OpenTimeline returns the timeline of the tapes that open returns by time; Reopen
// calls open again. name stands for the tapes in an error.
func OpenTimeline(name string, open func() ([]*record.Tape, error)) (*Timeline, error) {
	tapes, err := open()
	if err != nil {
		return nil, err
	}
	t := &Timeline{name: name, open: open}
	var before uint64
	var late time.Duration
	for _, tape := range tapes {
		info, err := tape.Info()
		if err != nil {
			return nil, err
		}
		if start := info.Start.Time; !start.IsZero() && len(t.Parts) > 0 {
			late = max(start.Sub(t.start()), 0)
		}
		t.Parts = append(t.Parts, Part{tape, info, before, late})
		before += info.Lines
		late += info.Last
	}
	if len(t.Parts) == 0 {
		return nil, fmt.Errorf("%s: %w", name, record.ErrNoTape)
	}
	return t, nil
}

// Reopen opens the same tapes for another goroutine. Frames keep their numbers.
func (t *Timeline) Reopen() (*Timeline, error) {
	tapes, err := t.open()
	if err != nil {
		return nil, err
	}
	other := &Timeline{name: t.name, open: t.open}
	for i := range min(len(tapes), len(t.Parts)) {
		p := t.Parts[i]
		p.Tape = tapes[i]
		other.Parts = append(other.Parts, p)
	}
	return other, nil
}

// IDs returns the tapes.
func (t *Timeline) IDs() []string {
	ids := make([]string, len(t.Parts))
	for i, p := range t.Parts {
		ids[i] = p.Info.Tape
	}
	return ids
}

func (t *Timeline) start() time.Time { return t.Parts[0].Info.Start.Time }

// Info returns what is known by now: the last tape's state, with the time at which the
// first tape began and the number of lines of all.
func (t *Timeline) Info() (record.Info, error) {
	last := t.Parts[len(t.Parts)-1]
	info, err := last.Tape.Info()
	info.Start.Time = t.start()
	info.Lines += last.Before
	return info, err
}

// rows yields the frames from a number on, without their bytes.
func (t *Timeline) rows(from uint64) iter.Seq2[dialect.Frame, error] {
	return t.read(from, func(p *Part, from uint64) iter.Seq2[dialect.Frame, error] { return p.Tape.Rows(from) })
}

// frames yields the frames from a number on. Their bytes are valid until the
// next one is asked for.
func (t *Timeline) frames(from uint64) iter.Seq2[dialect.Frame, error] {
	return t.read(from, func(p *Part, from uint64) iter.Seq2[dialect.Frame, error] { return p.Tape.Frames(from) })
}

// Follow yields the frames from a number on as frames does, and waits for more until
// the last tape has ended or ctx is done.
func (t *Timeline) Follow(ctx context.Context, from uint64) iter.Seq2[dialect.Frame, error] {
	return t.read(from, func(p *Part, from uint64) iter.Seq2[dialect.Frame, error] {
		if p == &t.Parts[len(t.Parts)-1] {
			return p.Tape.Follow(ctx, from)
		}
		return p.Tape.Frames(from)
	})
}

func (t *Timeline) read(from uint64, of func(*Part, uint64) iter.Seq2[dialect.Frame, error]) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		for i := range t.Parts {
			p := &t.Parts[i]
			last := i == len(t.Parts)-1
			if !last && from > p.Before+p.Info.Lines {
				continue
			}
			for f, err := range of(p, max(from, p.Before+1)-p.Before) {
				if err == nil && !last && f.Seq > p.Info.Lines {
					break // recorded since the numbers were given
				}
				p.shift(&f)
				if !yield(f, err) {
					return
				}
			}
		}
	}
}

// shift gives a frame of a tape its number and time on the timeline.
func (p *Part) shift(f *dialect.Frame) {
	f.Seq, f.At = f.Seq+p.Before, f.At+p.Began
	for reply := range f.Replies() {
		reply.Request += p.Before
	}
}

// PartOf returns the index of the part with a frame.
func (t *Timeline) PartOf(seq uint64) int {
	if len(t.Parts) == 1 {
		return 0
	}
	return max(sort.Search(len(t.Parts), func(i int) bool { return t.Parts[i].Before >= seq })-1, 0)
}

// OnLast reports whether a frame is on the last tape, which may go on.
func (t *Timeline) OnLast(seq uint64) bool { return t.PartOf(seq) == len(t.Parts)-1 }

// OnItsTape returns a frame with its number and time on its own tape.
func (t *Timeline) OnItsTape(f dialect.Frame) (*record.Tape, dialect.Frame) {
	p := &t.Parts[t.PartOf(f.Seq)]
	f.Seq, f.At = f.Seq-p.Before, f.At-p.Began
	return p.Tape, f
}

// frame returns a frame with its bytes.
func (t *Timeline) frame(seq uint64) (dialect.Frame, error) {
	p := &t.Parts[t.PartOf(seq)]
	f, err := p.Tape.Frame(seq - p.Before)
	p.shift(&f)
	return f, err
}

// Write writes all bytes of a frame.
func (t *Timeline) Write(w io.Writer, seq uint64) error {
	p := &t.Parts[t.PartOf(seq)]
	return p.Tape.WriteFrame(w, seq-p.Before)
}

// Label returns the number of a frame as users know it: the number on its tape and,
// where there are several tapes, the tape before it, as in 2.17.
func (t *Timeline) Label(seq uint64) string {
	if len(t.Parts) == 1 {
		return termtext.Grouped(int64(seq))
	}
	i := t.PartOf(seq)
	return strconv.Itoa(i+1) + "." + strconv.FormatUint(seq-t.Parts[i].Before, 10)
}

// Began returns when the tape with a frame began, since the first one did.
func (t *Timeline) Began(seq uint64) time.Duration { return t.Parts[t.PartOf(seq)].Began }

// ParseLabel reads what Label returns. A number that names none of several tapes is
// one of the tape with the frame near.
func (t *Timeline) ParseLabel(text string, near uint64) (uint64, error) {
	which := t.PartOf(near)
	if tape, rest, ok := strings.Cut(text, "."); ok {
		n, err := strconv.Atoi(tape)
		if err != nil || n < 1 || n > len(t.Parts) {
			return 0, fmt.Errorf("there is no tape %s here", termtext.Piece(tape))
		}
		which, text = n-1, rest
	}
	seq, err := strconv.ParseUint(strings.ReplaceAll(text, ",", ""), 10, 64)
	if err != nil {
		return 0, errors.New("want the number of a frame, or a time such as +2.5s")
	}
	s := t.Parts[which]
	if seq == 0 || which < len(t.Parts)-1 && seq > s.Info.Lines {
		return 0, fmt.Errorf("there is no frame %s", termtext.Piece(text))
	}
	return s.Before + seq, nil
}

// Has reports whether a tape is on the timeline.
func (t *Timeline) Has(tape string) bool {
	return slices.ContainsFunc(t.Parts, func(s Part) bool { return s.Tape.ID() == tape })
}
