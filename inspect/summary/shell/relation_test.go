package shell_test

import (
	"testing"

	"github.com/acptap/acptap/inspect/summary/shell"
)

// TestRelation: a later command does again what an earlier one was to do, or all of it, or a part.
func TestRelation(t *testing.T) {
	for _, tt := range []struct {
		before, after string
		want          shell.Relation
	}{
		{"go test ./a", "cd /w && GOFLAGS=-v go test ./a", shell.Again},
		{"npm test", "bash -lc 'npm test'", shell.Again},
		{"`npm test`", "$ npm test", shell.Again},
		{"make", "make -j4", shell.Again},
		{"npm install", "npm install --legacy-peer-deps", shell.Again},
		{"git add a && git commit -m x", "gofmt -w a; git add a && git commit -m y", shell.Again},
		{"npx vitest run a.ts", "vitest run a.ts", shell.Again},
		{"docker compose exec -T app php artisan migrate", "docker compose exec -T app php artisan migrate --force", shell.Again},

		{"cargo test -p x", "cargo test", shell.Whole},
		{"go test ./a -run X", "go test ./a", shell.Whole},
		{"cd /w && pytest -q tests/invoice", "pytest -q", shell.Whole},
		{"go test ./a/... ./b/...", "go test -race ./...", shell.Whole},
		{"cargo check", "cargo test", shell.Whole},
		{"cargo check", "cargo clippy -- -D warnings", shell.Whole},
		{"./gradlew compileJava compileTestJava", "./gradlew test --tests '*Test'", shell.Whole},
		{"npx jest test/a.test.js", "npm test", shell.Whole},
		{"./build/tests -ts=a", "ctest --preset debug", shell.Whole},
		{"bin/rspec spec/a/b_spec.rb", "bin/rspec spec/a spec/c", shell.Whole},
		{"bazel build //...", "bazel test //...", shell.Whole},
		{"cabal build lib:a", "cabal build all", shell.Whole},

		{"cargo test", "cargo test -p x", shell.Part},
		{"go test ./a", "go test -run X ./a", shell.Part},
		{"mix test", "mix test test/a.exs", shell.Part},
		{"pytest -q", "pytest -q tests/invoice", shell.Part},
		{"go test ./a", "go test ./a ./b", shell.Part},

		{"go test ./a", "go test ./b", shell.Similar},
		{"mkdir a && go build ./a", "go build ./b", shell.Similar},
		{"git checkout -b x", "git checkout -b y", shell.Similar},
		{"bin/rspec spec/a/b_spec.rb", "bin/rspec spec/c", shell.Similar},

		{"cargo test", "cargo build", shell.Other},
		{"cargo build", "go test ./...", shell.Other},
		{"./gradlew build", "./gradlew test --tests '*Test'", shell.Other},
		{"npx jest test/a.test.js", "npm test -- b", shell.Other},
		{"pytest tests/a.py", "npm test", shell.Other},
		{"./build/tests -ts=a", "ctest -R b", shell.Other},
		{"make smoke", "make smoke || true", shell.Other},
		{"npm test", "npm test | tail -5", shell.Other},
		{"dotnet test", "git stash && dotnet test; git stash pop", shell.Other},
		{"", "", shell.Other},
		{"cd", "cd && ls", shell.Other},
	} {
		before, after := shell.Parse(tt.before), shell.Parse(tt.after)
		if got := before.Relation(&after); got != tt.want {
			t.Errorf("%q, then %q: got %v, want %v", tt.before, tt.after, got, tt.want)
		}
	}
}

// TestTests: a command runs tests by its program, a subcommand or a target, not by a file.
func TestTests(t *testing.T) {
	for line, want := range map[string]bool{
		"go test ./a": true, "make -C x test": true, "node --test a.js": true, "./build/tests -ts=a": true, "npm run test:unit": true, "python3 -m pytest": true, "cmake --build b --target check": false,
		"zig build test": true, "./gradlew :app:test": true, "cat tests/a.py": false, "cp a tests/": false, "cargo build": false, "": false,
	} {
		if one := shell.Parse(line); one.Tests() != want {
			t.Errorf("%q: got %t", line, !want)
		}
	}
}

// FuzzParse: whatever a line is, it does again what it does itself, and no more.
func FuzzParse(f *testing.F) {
	f.Add("cd /w && A=1 npx vitest run a.ts 2>&1 | tail -5; git commit -m 'x'")
	f.Add("timeout -s KILL 9 docker compose exec -T app php artisan migrate || true")
	f.Fuzz(func(t *testing.T, text string) {
		line := shell.Parse(text)
		if got, want := line.Relation(&line), shell.Again; line.First() != "" && got != want {
			t.Errorf("got %v, want %v", got, want)
		}
		if more := line.Extra(&line) + line.Difference(&line); more != "" {
			t.Errorf("has %q besides", more)
		}
		line.Work()
		line.Tests()
		line.Reads()
		shell.SaysNo(text)
	})
}
