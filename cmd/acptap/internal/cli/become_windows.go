package cli

import (
	"os"
	"os/exec"
)

// Become runs another program in place of this one.
func Become(path string, args ...string) error {
	c := exec.Command(path, args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	return RunInPlace(c)
}
