package journal

import (
	"os"
	"path/filepath"
	"strings"
)

// SocketDir begins the names of the directories that contain a socket whose path would
// otherwise be too long.
const SocketDir = "acptap-ctl-"

// Socket returns where the proxy that records a tape listens, in the directory of
// journals. The file is a socket, or contains the path of one. Only package control of the
// proxy uses it; it is here because whoever seals a journal removes it.
func Socket(dir, tape string) string {
	return filepath.Join(dir, tape[max(0, len(tape)-6):]+".ctl") // short, because paths of sockets are
}

// SocketOf returns the path of the socket that a file is or names.
func SocketOf(path string) string {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		return path
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return path
	}
	return string(text)
}

// RemoveSocket removes the socket of a proxy that has ended, if there is one.
func RemoveSocket(path string) {
	dir := filepath.Dir(SocketOf(path))
	if strings.HasPrefix(filepath.Base(dir), SocketDir) && filepath.Dir(dir) == filepath.Clean(os.TempDir()) {
		os.RemoveAll(dir)
	}
	os.Remove(path)
}
