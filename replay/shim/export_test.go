package shim

// For tests in package shim_test.
var (
	TakeLease = takeLease
	ErrLeased = errLeased
)

const MaxOpening = maxOpening

func (l *lease) Release() { l.release() }
