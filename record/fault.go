package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/acptap/acptap/record/disk"
)

// A fault is a panic in what works on a tape. It is taken for damage of that
// tape: the traffic, and other tapes, have nothing to do with it.
type fault struct{ what string }

func (f *fault) Error() string { return f.what }
func (f *fault) Unwrap() error { return ErrDamaged }

// maxFault bounds what is kept of a panic's text, which may quote the traffic.
const maxFault = 300

// guarded calls f, and returns a panic in it as a fault.
func guarded(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			text := strconv.Quote(fmt.Sprintf("%.*s", maxFault, fmt.Sprint(r)))
			err = &fault{"panic: " + text[1:len(text)-1]}
		}
	}()
	return f()
}

// asFault returns the fault in err, nil if there is none.
func asFault(err error) *fault {
	var f *fault
	errors.As(err, &f)
	return f
}

// A journal of which the sealing has panicked is set aside: that stands in its
// lock file, with the reason. Proxies leave it alone, so that none runs into it
// again; who asks for it reads it all the same, and Recover tries again.

// setAside sets the journal aside whose lock is held.
func setAside(lock *os.File, why *fault) { lock.WriteAt([]byte(why.Error()), 0) }

// takeBack takes back what setAside said.
func takeBack(lock *os.File) { lock.Truncate(0) }

// asideFor returns why a journal was set aside; nothing if it was not.
func asideFor(lock *os.File) string {
	text, _ := io.ReadAll(io.NewSectionReader(lock, 0, 8*maxFault))
	return string(text)
}

// aside is asideFor for who does not hold the lock.
func (s *Store) aside(tape string) string {
	lock, err := disk.Open(s.lockFile(tape), os.O_RDONLY)
	if err != nil {
		return ""
	}
	defer lock.Close()
	return asideFor(lock)
}
