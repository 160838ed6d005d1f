package summary

import "testing"

// A retry is the same command with other flags, or behind something that a shell does first.
func TestRetry(t *testing.T) {
	for _, tt := range []struct {
		before, after string
		want          bool
	}{
		{"cargo test", "cargo test -p x", true},
		{"cargo test -p x", "cargo test", true},
		{"go test ./a", "go test -run X ./a", true},
		{"go test ./a", "cd /w && GOFLAGS=-v go test ./a", true},
		{"npm test", "bash -lc 'npm test'", true},
		{"`npm test`", "$ npm test", true},
		{"go test ./a", "go test ./b", false},
		{"go test ./a", "go test ./a ./b", false},
		{"cargo test", "cargo build", false},
		{"git checkout -b x", "git checkout -b y", false},
		{"rm -rf a", "rm -rf b", false},
		{"make", "make -j4", false},
		{"", "", false},
		{"cd", "cd && ls", false},
	} {
		if got := isRetry(tt.before, tt.after); got != tt.want {
			t.Errorf("%q, then %q: got %v, want %v", tt.before, tt.after, got, tt.want)
		}
	}
}
