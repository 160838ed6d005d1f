package frameindex

import "context"

// A Progress reports how far a long operation is, and ends it with its context. The zero
// value does neither.
type Progress struct {
	ctx    context.Context
	frames *int
	report func(seq uint64)
}

// NewProgress returns a Progress that calls report now and then with the number of the
// current frame.
func NewProgress(ctx context.Context, report func(seq uint64)) Progress {
	return Progress{ctx, new(int), report}
}

// at sets the current frame, and reports whether to continue.
func (p Progress) at(seq uint64) bool {
	if p.report == nil {
		return true
	}
	if *p.frames++; *p.frames%256 == 0 { // the check takes as long as a frame does
		p.report(seq)
		return p.ctx.Err() == nil
	}
	return true
}
