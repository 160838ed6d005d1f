package record

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/acptap/acptap/record/disk"
)

// A fault is a panic in the work on a tape. It counts as damage of that tape, and does not
// affect the traffic or other tapes.
type fault struct{ text string }

func (f *fault) Error() string { return f.text }
func (f *fault) Unwrap() error { return disk.ErrDamaged }

// maxFaultText bounds the text of a panic, which may quote the traffic.
const maxFaultText = 300

// guarded calls f and returns a panic in it as a fault.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			text := strconv.Quote(fmt.Sprintf("%.*s", maxFaultText, fmt.Sprint(r)))
			err = &fault{"panic: " + text[1:len(text)-1]}
		}
	}()
	return f()
}

// faultIn returns the fault in err, or nil if there is none.
func faultIn(err error) *fault {
	var f *fault
	errors.As(err, &f)
	return f
}
