//go:build !linux

package record

// LowerPriority does nothing here: the scheduler decides.
func LowerPriority() {}
