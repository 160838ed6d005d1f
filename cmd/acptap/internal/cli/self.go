package cli

import (
	"os"
	"path/filepath"
	"runtime/debug"
)

// Self returns the absolute path of this program, which executable returns as
// os.Executable does. If it is found through the directories of path by a link, that stays
// one: a package manager lets it lead to the next version.
func Self(executable func() (string, error), path string) (string, error) {
	exe, err := executable()
	if err != nil {
		return "", err
	}
	self, err := os.Stat(exe)
	if err != nil {
		return "", err
	}
	for _, dir := range filepath.SplitList(path) {
		for _, name := range []string{"acptap", "acptap.exe", filepath.Base(exe)} {
			found := filepath.Join(dir, name)
			if info, err := os.Stat(found); err == nil && filepath.IsAbs(found) && os.SameFile(self, info) {
				return found, nil
			}
		}
	}
	return exe, nil
}

// Version returns the version that this program was built from, such as v1.2.0.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "unknown"
	}
	return info.Main.Version
}
