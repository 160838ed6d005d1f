package shim

import "time"

// For tests in package shim_test.
var (
	TakeLease = takeLease
	ErrLeased = errLeased
)

const MaxOpening = maxOpening

// WaitForIDs makes the shim wait until it knows the ids in the store, however busy the machine is.
func (s *Shim) WaitForIDs() { s.lookup.wait = time.Hour }

func (l *lease) Release() { l.release() }
