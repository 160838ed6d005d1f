//go:build unix

package settings

import (
	"io/fs"
	"syscall"
)

// hardLinks returns the number of names of a file.
func hardLinks(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 1
}
