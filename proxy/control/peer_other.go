//go:build !linux && !darwin && !freebsd

package control

import (
	"net"
	"os"
)

// peer returns the current user: only that user may enter the socket's directory.
func peer(*net.UnixConn) (uid int, err error) { return os.Geteuid(), nil }
