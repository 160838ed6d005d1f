//go:build !linux

package record

// LowerPriority gives other goroutines precedence; here the scheduler decides.
func LowerPriority() {}
