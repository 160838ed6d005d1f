package ref

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/pflag"

	"github.com/acptap/acptap/record"
)

// DefaultStore describes where the store is by default.
const DefaultStore = "the state directory of the user"

// StoreFlag adds the flag --store, whose value OpenStore accepts.
func StoreFlag(f *pflag.FlagSet, dir *string) {
	f.StringVar(dir, "store", "", "`directory` of the store (default $ACPTAP_STORE, else "+DefaultStore+")")
}

// ConfigPath returns the path of the file with the default flags for the store in dir.
func ConfigPath(dir string) (string, error) {
	store, err := OpenStore(dir)
	if err != nil {
		return "", err
	}
	return filepath.Join(store.Dir(), "config.toml"), nil
}

// OpenStore returns the store in dir, or the default store if dir is empty.
func OpenStore(dir string) (*record.Store, error) {
	if dir == "" {
		var err error
		if dir, err = defaultDir(); err != nil {
			return nil, err
		}
	}
	abs, err := filepath.Abs(dir) // the working directory may disappear later
	if err != nil {
		return nil, err
	}
	return record.OpenStore(abs), nil
}

// ListStore opens a store as OpenStore does, and lists it.
func ListStore(dir string) (*record.Store, record.Listing, error) {
	store, err := OpenStore(dir)
	if err != nil {
		return nil, record.Listing{}, err
	}
	l, err := store.List()
	return store, l, err
}

// defaultDir returns the directory of the default store.
func defaultDir() (string, error) {
	if dir := os.Getenv("ACPTAP_STORE"); dir != "" {
		return dir, nil
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) { // relative paths must be ignored (XDG Base Directory Specification)
		return filepath.Join(dir, "acptap"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("no directory for the store: %w; use --store or ACPTAP_STORE", err)
	}
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(home, "Library", "Application Support", "acptap"), nil
	case "windows":
		if dir := os.Getenv("LocalAppData"); dir != "" {
			return filepath.Join(dir, "acptap"), nil
		}
	}
	return filepath.Join(home, ".local", "state", "acptap"), nil
}
