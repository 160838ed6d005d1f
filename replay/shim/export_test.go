package shim

// For tests in package shim_test.
var (
	TakeLease = takeLease
	ErrLeased = errLeased
)

func (l *lease) Release() { l.release() }
