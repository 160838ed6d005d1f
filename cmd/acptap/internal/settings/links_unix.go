//go:build unix

package settings

import (
	"io/fs"
	"syscall"
)

// hardLinks returns a file's number of names.
func hardLinks(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 1
}
