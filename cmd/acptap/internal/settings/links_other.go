//go:build !unix

package settings

import "io/fs"

// hardLinks returns 1: this system does not report the number of names.
func hardLinks(fs.FileInfo) int { return 1 }
