//go:build unix

package cli

import (
	"fmt"
	"os"
	"syscall"
)

// Become replaces this process with another program, which inherits stdin, stdout, stderr
// and everything else. It returns only on failure.
func Become(path string, args ...string) error {
	err := syscall.Exec(path, append([]string{path}, args...), os.Environ())
	return fmt.Errorf("%s: %w", path, err)
}
