package frameindex

import (
	"context"
	"iter"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

// ordered yields the frames from a number on, in the order set by the Index's goroutine.
// If waits is set, it waits for new ones.
func (t *Timeline) ordered(ctx context.Context, from uint64, waits bool) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		readers := map[int]*partReader{}
		defer func() {
			for _, r := range readers {
				r.close()
			}
		}()
		for next := max(from, 1); ctx.Err() == nil; {
			s, ok := t.order.from(next)
			if !ok {
				if !waits || !t.order.await(ctx, next) {
					return
				}
				continue
			}
			next += s.frames
			r := readers[s.part]
			if r == nil {
				r = &partReader{tape: t.Tape(s.part)}
				if waits {
					r.ctx = ctx
				}
				readers[s.part] = r
			}
			for i := range s.frames {
				f, err, ok := r.read(s.seq + i)
				if t.renumber(s.part, s.first+i, &f); ok && !yield(f, err) {
					return
				}
			}
		}
	}
}

// renumber gives a part's frame its number and time on the timeline.
func (t *Timeline) renumber(part int, number uint64, f *dialect.Frame) {
	f.Seq, f.At = number, f.At+t.Part(part).Began
	for reply := range f.Replies() {
		reply.Request = t.order.number(part, reply.Request)
	}
}

// A partReader reads frames known to be on a tape.
type partReader struct {
	tape *record.Tape
	ctx  context.Context // limits the wait for a frame to be written; if nil, there is no wait

	next    func() (dialect.Frame, error, bool)
	stop    func()
	pending *dialect.Frame // already read
}

// read returns a frame. seq must rise from call to call. If the frame cannot be read,
// read returns an error once; afterwards ok is false.
func (r *partReader) read(seq uint64) (f dialect.Frame, err error, ok bool) {
	if p := r.pending; p != nil {
		if p.Seq > seq {
			return f, nil, false
		}
		if r.pending = nil; p.Seq == seq {
			return *p, nil, true
		}
	}
	for tries := 0; tries < 2; {
		if r.next == nil {
			tries++
			r.next, r.stop = iter.Pull2(r.frames(seq))
		}
		f, err, ok := r.next()
		switch {
		case !ok:
			r.close() // the tape has grown since
		case err != nil:
			return f, err, true
		case f.Seq == seq:
			return f, nil, true
		case f.Seq > seq:
			r.pending = &f
			return dialect.Frame{}, nil, false
		}
	}
	return f, nil, false
}

func (r *partReader) frames(from uint64) iter.Seq2[dialect.Frame, error] {
	if r.ctx != nil {
		return r.tape.Follow(r.ctx, from)
	}
	return r.tape.Frames(from)
}

func (r *partReader) close() {
	if r.next != nil {
		r.stop()
		r.next, r.stop = nil, nil
	}
}
