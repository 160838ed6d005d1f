// Package guard turns panics in what works on a tape into errors.
package guard

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/acptap/acptap/record/disk"
)

// A Fault is a panic in what works on a tape. It is taken for damage of that
// tape: the traffic, and other tapes, have nothing to do with it.
type Fault struct{ text string }

func (f *Fault) Error() string { return f.text }
func (f *Fault) Unwrap() error { return disk.ErrDamaged }

// MaxText bounds what is kept of a panic's text, which may quote the traffic.
const MaxText = 300

// Run calls f, and returns a panic in it as a Fault.
func Run(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			text := strconv.Quote(fmt.Sprintf("%.*s", MaxText, fmt.Sprint(r)))
			err = &Fault{"panic: " + text[1:len(text)-1]}
		}
	}()
	return f()
}

// FaultIn returns the Fault in err, nil if there is none.
func FaultIn(err error) *Fault {
	var f *Fault
	errors.As(err, &f)
	return f
}
