//go:build !linux

package main

// terminal is not called: its scripts are for Linux.
func terminal() {}
