package control

import (
	"net"

	"golang.org/x/sys/unix"
)

// peer returns the user at the other end of conn.
func peer(conn *net.UnixConn) (uid int, err error) {
	c, err := conn.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	failed := c.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) })
	if failed != nil {
		return 0, failed
	}
	if err != nil {
		return 0, err
	}
	return int(cred.Uid), nil
}
