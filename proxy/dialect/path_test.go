package dialect_test

import (
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
)

// The answer is the same on each system.
func TestIsAbsolute(t *testing.T) {
	for path, want := range map[string]bool{
		"/": true, "/srv/garden": true, `C:\garden`: true, "c:/garden": true, `\\server\share`: true, "file:///srv": true,
		"": false, "garden": false, "./garden": false, "C:": false, "C:garden": false, `\garden`: false, "1:/garden": false,
	} {
		if got := dialect.IsAbsolute(path); got != want {
			t.Errorf("%q: got %t, want %t", path, got, want)
		}
	}
}
