package summary

import (
	"slices"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
)

// TestClosing: of a long answer the first sentences are told, and the last one.
func TestClosing(t *testing.T) {
	for _, tt := range []struct {
		text string
		rows int
		want []string
	}{
		{"It works.", 3, []string{"It works."}},
		{"One two three. Four five six. Not done.", 3, []string{"One two three.", "Four five six.", "Not done."}},
		{"One two three. Four five six. Seven eight. Not done: it.", 3, []string{"One two three.", "Four five six. …", "Not done: it."}},
		{"One two three. Four five six. Seven eight nine.", 2, []string{"One two three.", "Four five six. …"}},
		{"第一句话在这里。第二句话在这里。第三句话在这里。没有做完。", 3, []string{"第一句话在这里。", "第二句话在这里…", "没有做完。"}},
		{"One two three. Four five six. Seven eight nine. Cut …", 3, []string{"One two three.", "Four five six.", "Seven eight …"}},
	} {
		if got := Closing(tt.text, tt.rows, 16); !slices.Equal(got, tt.want) {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestTitles: a call is named by what tells it apart.
func TestTitles(t *testing.T) {
	for _, tt := range []struct{ title, command, want string }{
		{"Read main.go", "", "Read main.go"},
		{"Shell", "flutter test test/goldens", "flutter test test/goldens"},
		{"Shell: npx vitest run (all)", "npx vitest run", "npx vitest run"},
		{"Run the tests", "go test ./...", "Run the tests"},
		{"Measure", "sound", "Measure"},
		{"JAVA_HOME=$HOME/jbr A='b c' ./gradlew test", "", "./gradlew test"},
		{"Bash", "cd /home/x && MIX_ENV=test mix test", "mix test"},
	} {
		if got := toolTitle(tt.title, tt.command); got != tt.want {
			t.Errorf("%q that runs %q: got %q, want %q", tt.title, tt.command, got, tt.want)
		}
	}
}

// TestShorts: failures are told in a few words, those that read the same once.
func TestShorts(t *testing.T) {
	tool := func(title, why string) Failure {
		return Failure{Kind: dialect.FailedTool, What: title + because(why), why: why, tried: attempt{title: title, command: parseCommand(title)}}
	}
	for _, tt := range []struct {
		failed     Failure
		text, more string
	}{
		{tool("mix compile --warnings-as-errors", "error: module Multi is not available"), "mix compile", " (module Multi is not available) ×2"},
		{tool("mix test", "Assertion with == failed · 318 tests, 3 failures"), "mix test", " (3 failures) ×2"},
		{tool("Edit lib/praxis/notifications.ex", ""), "Edit notifications.ex", " ×2"},
		{tool("npx tsc --noEmit 2>&1 | tail", "src/a.tsx(2,28): error TS2304: Cannot find name 'x'."), "npx tsc", " (Cannot find name 'x'.) ×2"},
		{tool("mix precommit", "** (Mix) mix format failed"), "mix precommit", " (mix format failed) ×2"},
		{tool("dotnet test", "[xUnit.net 00:00:04.12]     Auction.Tests.Race [FAIL]"), "dotnet test", " (Auction.Tests.Race [FAIL]) ×2"},
		{tool("uv run pytest tests [current working directory /srv/app] (runs the tests)", "2 failed, 5 passed in 0.4s"), "uv run pytest tests", " (2 failed) ×2"},
	} {
		if got := Shorts([]Failure{tt.failed, tt.failed}); len(got) != 1 || got[0].Text != tt.text || got[0].More != tt.more {
			t.Errorf("%q: got %v", tt.failed.What, got)
		}
	}
}

// TestTelling: the line that says most is told, not one that says only that something failed.
func TestTelling(t *testing.T) {
	for output, want := range map[string]string{
		"git@example.org: Permission denied (publickey).\nfatal: Could not read from remote repository.": "git@example.org: Permission denied (publickey).",
		"# x/y\n./a.go:7:2: undefined: Close\nFAIL\tx/y [build failed]\nFAIL":                            "./a.go:7:2: undefined: Close",
		"FAIL\tx/y\t0.4s":                      "FAIL x/y 0.4s",
		"fmt pass 11s\ntflint fail 38s":        "tflint fail 38s",
		"Build started...\nBuild failed. Why?": "Build failed. Why?",
		"ruff.....Failed\nF401 'os' is unused": "F401 'os' is unused",
		"Switched to a new branch\n1 file changed\naborted: push it first\nCommand exited with code: 1": "aborted: push it first",
		"14:48:35  Encountered an error:\nRuntime Error\n  Database error: log in":                      "Database error: log in",
		"a.py:14: SomeWarning:\nA value is set\nCould not save":                                         "Could not save",
		`[{"metric":{"pod":"a"},"values":[[1,"0.31"],[2,"4"],[3,"5.2"]]}]`:                              "1 row: a 0.31 → 5.2",
		`[{"metric":{},"value":[1,"3"]},{"metric":{},"values":[]}]`:                                     "2 rows: 3",
		"E assert 1 == 2": "assert 1 == 2",
		"--- FAIL: TestLast (0.31s)\n    a_test.go:64: \n        \tError Trace:\ta_test.go:64\n        \tError:      \tShould be empty": "TestLast: Should be empty",
		"==================\nWARNING: DATA RACE\nWrite at 0x1\n--- FAIL: TestRace (0.1s)":                                               "WARNING: DATA RACE",
		" FAIL  src/a.spec.ts\n   × settings > remembers 7ms\n     → watch is not defined\n   × more 8ms\n     → no":                    "settings > remembers: watch is not defined · also more",
		"Failures:\n  1) Cart#apply twice\n     Failure/Error: expect(x).to eq(500)\n       expected: 500\n            got: 1000":       "Cart#apply twice: expected: 500, got: 1000",
		"   FAIL  Tests\\A\n  ⨯ it sets it   0.48s\n  Failed asserting that false is true.":                                             "it sets it: Failed asserting that false is true.",
		"src/A.hs:7:20: error: [GHC-83865]\n    • Couldn't match type\nError: [Cabal-7125]\nFailed to build a-0.8.2.":                   "src/A.hs:7:20: Couldn't match type",
		"[1/2] Building\nFAILED: src/icp.cpp.o\n/w/src/icp.cpp:88:17: error: ambiguous overload\nninja: build stopped: one failed":      "icp.cpp:88:17: error: ambiguous overload",
		"CMake Error at /m/Test.cmake:73 (message):\n  The compiler\n    /usr/bin/ld: cannot find -lx":                                  "ld: cannot find -lx",
		"╷\n│ Error: No valid credential sources found\n│ ":                                                                             "Error: No valid credential sources found",
		"> Task :app:ksp FAILED\ne: [ksp] /w/app/Dao.kt:24: no column\nFAILURE: Build failed with an exception.":                        "Dao.kt:24: no column",
		"Output: Killed\nError: (none)": "Killed",
	} {
		if got := telling(output, false); got != want {
			t.Errorf("%q: got %q, want %q", output, got, want)
		}
	}
}

// TestRuler: a line that draws something is not what a tool says.
func TestRuler(t *testing.T) {
	const output = "INFO - stored 1\n\n====================== PANIC ======================\npanicked at src/store.rs:8:38:\nindex out of bounds: the len is 4"
	if got, want := telling(output, true), "panicked at src/store.rs:8:38: index out of bounds: the len is 4"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := telling("====================== PANIC ======================", true), "====================== PANIC ======================"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestCutWhy: of errors that explain one another the last ones stay.
func TestCutWhy(t *testing.T) {
	for _, tt := range []struct {
		why     string
		columns int
		want    string
	}{
		{"no such file", 20, "no such file"},
		{"open /w/a: no such file or directory", 27, "… no such file or directory"},
		{"failed to update the issue: 422 Validation Failed: assignees invalid", 60, "failed to update … 422 Validation Failed: assignees invalid"},
		{"one long reason without any other behind it", 20, "one long reason …"},
	} {
		if got := cutWhy(tt.why, tt.columns); got != tt.want {
			t.Errorf("%q in %d columns: got %q, want %q", tt.why, tt.columns, got, tt.want)
		}
	}
}

// TestCutCommand: of a chain of commands the last ones stay, without what keeps only a part of the
// output.
func TestCutCommand(t *testing.T) {
	for _, tt := range []struct {
		title   string
		columns int
		want    string
	}{
		{"go test ./...", 20, "go test ./..."},
		{"./autogen.sh && ./configure -q && make distcheck 2>&1 | tail -30", 30, "… && make distcheck"},
		{"npm run build 2>&1 | head -n 5", 20, "npm run build"},
		{"a very long title of a single call", 20, "a very long title …"},
	} {
		if got := cutCommand(tt.title, tt.columns); got != tt.want {
			t.Errorf("%q in %d columns: got %q, want %q", tt.title, tt.columns, got, tt.want)
		}
	}
}
