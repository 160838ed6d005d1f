//go:build unix

package cli

import (
	"fmt"
	"os"
	"syscall"
)

// Become makes this process another program, which has the arguments, stdin, stdout, stderr
// and all else of it. It returns only if that fails.
func Become(path string, args ...string) error {
	err := syscall.Exec(path, append([]string{path}, args...), os.Environ())
	return fmt.Errorf("%s: %w", path, err)
}
