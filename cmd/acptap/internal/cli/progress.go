package cli

import (
	"fmt"
	"io"
	"time"
)

// A Progress is a line on a terminal about work that takes more than a second. Elsewhere
// it shows nothing.
type Progress struct {
	w     io.Writer // nil: show nothing
	what  string
	began time.Time
	shown time.Time
}

// NewProgress starts a progress line on w if w is a terminal.
func NewProgress(w io.Writer, what string) *Progress {
	p := &Progress{what: what, began: time.Now()}
	if IsTerminal(w) {
		p.w = w
	}
	return p
}

// Show updates the line.
func (p *Progress) Show(done, total int64) {
	now := time.Now()
	if p.w == nil || now.Sub(p.began) < time.Second || now.Sub(p.shown) < 100*time.Millisecond {
		return
	}
	p.shown = now
	percent := int64(100)
	if total > 0 {
		percent = min(100*done/total, 100)
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s: %d %%", p.what, percent)
}

// Count is Show for work that counts in int.
func (p *Progress) Count(done, total int) { p.Show(int64(done), int64(total)) }

// End erases the line.
func (p *Progress) End() {
	if !p.shown.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// Below returns a writer to w, the terminal of the progress, that erases the line before it
// writes. The next Show restores the line.
func (p *Progress) Below(w io.Writer) io.Writer { return &belowProgress{w, p} }

type belowProgress struct {
	io.Writer
	progress *Progress
}

func (b *belowProgress) Write(p []byte) (int, error) {
	b.progress.End()
	return b.Writer.Write(p)
}

// Reader returns a reader of r that shows how much of total bytes was read.
func (p *Progress) Reader(r io.Reader, total int64) io.Reader {
	return &progressReader{Reader: r, progress: p, total: total}
}

type progressReader struct {
	io.Reader
	progress    *Progress
	done, total int64
}

func (r *progressReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.done += int64(n)
	r.progress.Show(r.done, r.total)
	return n, err
}
