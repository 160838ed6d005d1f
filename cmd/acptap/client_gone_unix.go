//go:build unix

package main

import "golang.org/x/sys/unix"

// whenClientLeaves calls gone once nobody can read our stdout any longer. While nothing is
// written, only that shows that the client has left. The goroutine lasts as long as the
// process.
func whenClientLeaves(gone func()) {
	go func() {
		fds := []unix.PollFd{{Fd: 1}}
		for {
			switch n, err := unix.Poll(fds, -1); {
			case err == unix.EINTR:
			case err != nil, n == 0:
				return
			default: // nothing but an end is asked for
				gone()
				return
			}
		}
	}()
}
