package wrap

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

// A program that go run has made is gone when a client would start it.
func TestPrograms(t *testing.T) {
	is := func() (string, error) { return filepath.Join("/tmp", "go-build1", "exe", "acptap"), nil }
	if _, _, err := programs(is, "", true); err == nil || !strings.Contains(err.Error(), "go install") {
		t.Errorf("of go run: %v", err)
	}
	if _, _, err := programs(func() (string, error) { return "", errors.New("gone") }, "", true); err == nil {
		t.Error("without an executable there is a path")
	}
}
