package inspect

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

// A reel is the tapes of a subject, by time, as if they were one: their frames
// are numbered on, and times are since the first of them began. As a tape it is
// for one goroutine.
type reel struct {
	subject Subject
	strips  []strip
}

// A strip is one tape.
type strip struct {
	tape   *record.Tape
	info   record.Info // when the reel was opened
	before uint64      // frames on the tapes before
	late   time.Duration
}

// openReel opens the tapes of a subject.
func openReel(sub Subject) (*reel, error) {
	tapes, err := sub.Open()
	if err != nil {
		return nil, err
	}
	r := &reel{subject: sub}
	var before uint64
	var late time.Duration
	for _, tape := range tapes {
		info, err := tape.Info()
		if err != nil {
			return nil, err
		}
		if start := info.Start.Time; !start.IsZero() && len(r.strips) > 0 {
			late = max(start.Sub(r.start()), 0)
		}
		r.strips = append(r.strips, strip{tape, info, before, late})
		before += info.Lines
		late += info.Last
	}
	if len(r.strips) == 0 {
		return nil, fmt.Errorf("%s: %w", sub.Name, record.ErrNoTape)
	}
	return r, nil
}

// again opens the same tapes for another goroutine. Frames keep their numbers.
func (r *reel) again() (*reel, error) {
	tapes, err := r.subject.Open()
	if err != nil {
		return nil, err
	}
	other := &reel{subject: r.subject}
	for i := range min(len(tapes), len(r.strips)) {
		p := r.strips[i]
		p.tape = tapes[i]
		other.strips = append(other.strips, p)
	}
	return other, nil
}

func (r *reel) start() time.Time { return r.strips[0].info.Start.Time }

// info returns what is known by now: of the last tape how it goes on, of the
// first how it began.
func (r *reel) info() (record.Info, error) {
	last := r.strips[len(r.strips)-1]
	info, err := last.tape.Info()
	info.Start.Time = r.start()
	info.Lines += last.before
	return info, err
}

// rows yields the frames from a number on, without their bytes.
func (r *reel) rows(from uint64) iter.Seq2[dialect.Frame, error] {
	return r.read(from, func(p *strip, from uint64) iter.Seq2[dialect.Frame, error] { return p.tape.Rows(from) })
}

// frames yields the frames from a number on. Their bytes are valid until the
// next one is asked for.
func (r *reel) frames(from uint64) iter.Seq2[dialect.Frame, error] {
	return r.read(from, func(p *strip, from uint64) iter.Seq2[dialect.Frame, error] { return p.tape.Frames(from) })
}

// follow is frames, and waits for more until the last tape has ended or ctx is
// done.
func (r *reel) follow(ctx context.Context, from uint64) iter.Seq2[dialect.Frame, error] {
	return r.read(from, func(p *strip, from uint64) iter.Seq2[dialect.Frame, error] {
		if p == &r.strips[len(r.strips)-1] {
			return p.tape.Follow(ctx, from)
		}
		return p.tape.Frames(from)
	})
}

func (r *reel) read(from uint64, of func(*strip, uint64) iter.Seq2[dialect.Frame, error]) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		for i := range r.strips {
			p := &r.strips[i]
			last := i == len(r.strips)-1
			if !last && from > p.before+p.info.Lines {
				continue
			}
			for f, err := range of(p, max(from, p.before+1)-p.before) {
				if err == nil && !last && f.Seq > p.info.Lines {
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

// shift gives a frame of a strip its place on the reel.
func (p *strip) shift(f *dialect.Frame) {
	f.Seq, f.At = f.Seq+p.before, f.At+p.late
	for reply := range f.Replies() {
		reply.Request += p.before
	}
}

// at returns the index of the strip with a frame.
func (r *reel) at(seq uint64) int {
	if len(r.strips) == 1 {
		return 0
	}
	return max(sort.Search(len(r.strips), func(i int) bool { return r.strips[i].before >= seq })-1, 0)
}

// last reports whether a frame is on the last tape, which may go on.
func (r *reel) last(seq uint64) bool { return r.at(seq) == len(r.strips)-1 }

// alone returns a frame with its number and time on its own tape.
func (r *reel) alone(f dialect.Frame) (*record.Tape, dialect.Frame) {
	p := &r.strips[r.at(f.Seq)]
	f.Seq, f.At = f.Seq-p.before, f.At-p.late
	return p.tape, f
}

// frame returns a frame with its bytes.
func (r *reel) frame(seq uint64) (dialect.Frame, error) {
	p := &r.strips[r.at(seq)]
	f, err := p.tape.Frame(seq - p.before)
	p.shift(&f)
	return f, err
}

// write writes all bytes of a frame.
func (r *reel) write(w io.Writer, seq uint64) error {
	p := &r.strips[r.at(seq)]
	return p.tape.WriteFrame(w, seq-p.before)
}

// label returns the number of a frame as users know it: that on its tape, and
// behind several tapes which of them that is, as in 2.17.
func (r *reel) label(seq uint64) string {
	if len(r.strips) == 1 {
		return termtext.Grouped(int64(seq))
	}
	i := r.at(seq)
	return strconv.Itoa(i+1) + "." + strconv.FormatUint(seq-r.strips[i].before, 10)
}

// late returns when the tape with a frame began, since the first one did.
func (r *reel) late(seq uint64) time.Duration { return r.strips[r.at(seq)].late }

// number reads what label returns. Where it does not say which of several tapes
// is meant, it is the one with the frame near.
func (r *reel) number(text string, near uint64) (uint64, error) {
	which := r.at(near)
	if tape, rest, ok := strings.Cut(text, "."); ok {
		n, err := strconv.Atoi(tape)
		if err != nil || n < 1 || n > len(r.strips) {
			return 0, fmt.Errorf("there is no tape %s here", termtext.Piece(tape))
		}
		which, text = n-1, rest
	}
	seq, err := strconv.ParseUint(strings.ReplaceAll(text, ",", ""), 10, 64)
	if err != nil {
		return 0, errors.New("want the number of a frame, or a time such as +2.5s")
	}
	s := r.strips[which]
	if seq == 0 || which < len(r.strips)-1 && seq > s.info.Lines {
		return 0, fmt.Errorf("there is no frame %s", termtext.Piece(text))
	}
	return s.before + seq, nil
}

// has reports whether a tape is on the reel.
func (r *reel) has(tape string) bool {
	return slices.ContainsFunc(r.strips, func(s strip) bool { return s.tape.ID() == tape })
}
