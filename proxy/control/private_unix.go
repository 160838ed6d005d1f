//go:build unix

package control

import (
	"fmt"
	"os"
)

// private returns an error if other users may enter dir.
func private(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("others may enter %s: chmod 700 it", dir)
	}
	return nil
}
