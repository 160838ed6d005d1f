//go:build !linux

// Package priority lets work behind the traffic yield to it.
package priority

// Lower gives other goroutines precedence; here the scheduler decides.
func Lower() {}
