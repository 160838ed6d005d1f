//go:build unix

package main

import "golang.org/x/sys/unix"

// whenClientLeaves calls gone once our stdout has no reader left. While we write nothing,
// this is the only sign that the client has left. Its goroutine lasts as long as the process.
func whenClientLeaves(gone func()) {
	go func() {
		fds := []unix.PollFd{{Fd: 1}}
		for {
			switch n, err := unix.Poll(fds, -1); {
			case err == unix.EINTR:
			case err != nil, n == 0:
				return
			default: // without requested events, poll reports only errors and hang-ups
				gone()
				return
			}
		}
	}()
}
