package frameindex

import "context"

// A Progress reports how far something is that takes long, and ends it with its
// context. The zero value does neither.
type Progress struct {
	ctx    context.Context
	frames *int
	report func(seq uint64)
}

// NewProgress returns a Progress that calls report now and then with the number of the
// frame that is looked at.
func NewProgress(ctx context.Context, report func(seq uint64)) Progress {
	return Progress{ctx, new(int), report}
}

// at says that a frame is looked at, and reports whether to go on.
func (p Progress) at(seq uint64) bool {
	if p.report == nil {
		return true
	}
	if *p.frames++; *p.frames%256 == 0 { // asking takes as long as looking at a frame
		p.report(seq)
		return p.ctx.Err() == nil
	}
	return true
}
