package dialect

import "strings"

// IsAbsolute reports whether a path is absolute on POSIX or Windows, since a peer may run
// on a different system from ours. A URI counts as absolute.
func IsAbsolute(path string) bool {
	switch {
	case strings.HasPrefix(path, "/"), strings.HasPrefix(path, `\\`), strings.Contains(path, "://"):
		return true
	case len(path) >= 3 && path[1] == ':' && (path[2] == '\\' || path[2] == '/'):
		letter := path[0] | 0x20
		return 'a' <= letter && letter <= 'z'
	}
	return false
}
