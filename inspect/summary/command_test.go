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
		if got := isRetry(parseCommand(tt.before).words, parseCommand(tt.after).words); got != tt.want {
			t.Errorf("%q, then %q: got %v, want %v", tt.before, tt.after, got, tt.want)
		}
	}
}

// A later command with more words than flags may do only a part of an earlier one.
func TestAdds(t *testing.T) {
	for after, want := range map[string]bool{"mix test": false, "mix test --trace": false, "mix test test/a.exs": true, "mix": false} {
		if got := adds(parseCommand("mix test").words, parseCommand(after).words); got != want {
			t.Errorf("%s: got %t, want %t", after, got, want)
		}
	}
}

// A later command that includes an earlier one has mended its failure.
func TestIncludes(t *testing.T) {
	for _, tt := range []struct {
		before, after string
		want          bool
	}{
		{"git add a && git commit -m x", "gofmt -w a; git add a && git commit -m y", true},
		{"cd /w && pytest -q tests/invoice", "pytest -q", true},
		{"go test ./a/... ./b/...", "go test -race ./...", true},
		{"go test ./a", "go test ./b", false},
		{"pytest -q", "pytest -q tests/invoice", false},
		{"make smoke", "make smoke || true", false},
		{"npm test", "npm test | tail -5", false},
		{"mkdir a && go build ./a", "go build ./b", false},
		{"rm -rf /a", "rm -rf", false},
	} {
		before, after := parseCommand(tt.before), parseCommand(tt.after)
		if got := includes(&before, &after); got != tt.want {
			t.Errorf("%q, then %q: got %v, want %v", tt.before, tt.after, got, tt.want)
		}
	}
}

// A build that failed is mended if tests of the same program run, and tests by a run of all of them; not
// by a narrower run, another program, or a command whose exit status is not that of the tests.
func TestMends(t *testing.T) {
	for _, tt := range []struct {
		before, after string
		want          bool
	}{
		{"cargo check", "cargo test", true},
		{"cargo check", "cargo clippy -- -D warnings", true},
		{"./gradlew compileJava compileTestJava", "./gradlew test --tests '*Test'", true},
		{"./gradlew build", "./gradlew test --tests '*Test'", false},
		{"go build ./a", "go test ./b", false},
		{"cargo build", "go test ./...", false},
		{"npx jest test/a.test.js", "npm test", true},
		{"npx jest test/a.test.js", "npm test -- b", false},
		{"pytest tests/a.py", "npm test", false},
		{"./build/tests -ts=a", "ctest --preset debug", true},
		{"./build/tests -ts=a", "ctest -R b", false},
		{"bin/rspec spec/a/b_spec.rb", "bin/rspec spec/a spec/c", true},
		{"bin/rspec spec/a/b_spec.rb", "bin/rspec spec/c", false},
		{"bazel build //...", "bazel test //...", true},
		{"cabal build lib:a", "cabal build all", true},
		{"dotnet test", "git stash && dotnet test; git stash pop", false},
	} {
		before, after := parseCommand(tt.before), parseCommand(tt.after)
		if got := includes(&before, &after) || compiles(&before, &after) || testsAll(&before, &after); got != tt.want {
			t.Errorf("%q, then %q: got %v, want %v", tt.before, tt.after, got, tt.want)
		}
	}
}
