package shim

import "time"

// For tests in package shim_test.
var (
	TakeLease = takeLease
	ErrLeased = errLeased
)

const MaxOpening = maxOpening

// WaitForIDs makes the shim wait until it knows the ids in the store, also on a busy machine.
func (s *Shim) WaitForIDs() { s.lookup.wait = time.Minute }

func (l *lease) Release() { l.release() }
