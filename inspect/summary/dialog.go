package summary

import (
	"cmp"
	"strings"

	"github.com/acptap/acptap/record/trace"
)

// A dialog keeps what was asked first and answered last.
type dialog struct {
	first, last *trace.Turn
	answer      string // of the turns before last
}

// begin notes that a turn begins.
func (d *dialog) begin(t *trace.Turn) {
	if d.first == nil {
		d.first = t
	}
	if d.last != nil {
		d.answer = cmp.Or(d.last.Answer(), d.answer)
	}
	d.last = t
}

// asked returns the beginning of the first prompt.
func (d *dialog) asked() string {
	if d.first == nil {
		return ""
	}
	return d.first.Asked
}

// answered returns the beginning of the last answer.
func (d *dialog) answered() string {
	if d.last == nil {
		return ""
	}
	return strings.TrimSpace(cmp.Or(d.last.Answer(), d.answer))
}
