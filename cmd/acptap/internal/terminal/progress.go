package main

import (
	"fmt"
	"io"
	"time"
)

// A progress is a line on a terminal for work that takes over a second. On
// anything else it shows nothing.
type progress struct {
	w     io.Writer // nil: nothing is shown
	what  string
	began time.Time
	shown time.Time
}

// newProgress begins work that is shown on w if that is a terminal.
func newProgress(w io.Writer, what string) *progress {
	p := &progress{what: what, began: time.Now()}
	if isTerminal(w) {
		p.w = w
	}
	return p
}

// show says how far the work is.
func (p *progress) show(done, total int64) {
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

// count is show for work that counts in int.
func (p *progress) count(done, total int) { p.show(int64(done), int64(total)) }

// end takes the line away.
func (p *progress) end() {
	if !p.shown.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// A meter is a reader that shows how much of it was read.
type meter struct {
	io.Reader
	*progress
	done, total int64
}

func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.done += int64(n)
	m.show(m.done, m.total)
	return n, err
}
