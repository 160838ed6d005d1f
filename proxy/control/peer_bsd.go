//go:build darwin || freebsd

package control

import (
	"net"

	"golang.org/x/sys/unix"
)

// solLocal is SOL_LOCAL of sys/un.h.
const solLocal = 0

// peer returns the user at the other end of conn.
func peer(conn *net.UnixConn) (uid int, err error) {
	c, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Xucred
	failed := c.Control(func(fd uintptr) { cred, err = unix.GetsockoptXucred(int(fd), solLocal, unix.LOCAL_PEERCRED) })
	if failed != nil {
		return 0, failed
	}
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
