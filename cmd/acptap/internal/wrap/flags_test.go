package wrap

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// A program that go run or npx has put somewhere for one call is gone when a client would
// start it.
func TestPrograms(t *testing.T) {
	for path, want := range map[string]string{
		"/tmp/go-build1/exe/acptap":                                    "go install",
		"/home/you/.npm/_npx/e1a/node_modules/acptap/bin/acptap":       "npm install -g",
		"/home/you/.cache/pnpm/dlx/e1a/node_modules/acptap/bin/acptap": "npm install -g",
		"/tmp/bunx-1000-acptap@latest/node_modules/acptap/bin/acptap":  "npm install -g",
	} {
		is := func() (string, error) { return filepath.FromSlash(path), nil }
		if _, _, err := programs(is, "", true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
	if _, _, err := programs(func() (string, error) { return "", errors.New("gone") }, "", true); err == nil {
		t.Error("without an executable there is a path")
	}
}
