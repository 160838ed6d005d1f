package cause_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acptap/acptap/inspect/summary/cause"
)

// TestTelling: the line that says most is told, not one that says only that something failed.
func TestTelling(t *testing.T) {
	for output, want := range map[string]string{
		"git@example.org: Permission denied (publickey).\nfatal: Could not read from remote repository.":                                                     "git@example.org: Permission denied (publickey).",
		"# x/y\n./a.go:7:2: undefined: Close\nFAIL\tx/y [build failed]\nFAIL":                                                                                "./a.go:7:2: undefined: Close",
		"1/2 Test #1: a ......   Passed\n2/2 Test #2: drift ..........***Failed 9.1 sec\nrelative drift: 3.4E-09\n50% tests passed, 1 tests failed out of 2": "drift: relative drift: 3.4E-09 · 50% tests passed, 1 tests failed out of 2",
		"TimeoutError: locator.click: Timeout 5000ms exceeded.\nCall log:\n  - <div class=\"x\"></div> intercepts pointer events":                            "TimeoutError: locator.click: Timeout 5000ms exceeded. <div class=\"x\"></div> intercepts pointer events",
		"[{'name': 'a', 'n': 1}, {'name': 'b', 'n': 2}]":                                                                                                     "2 rows: a 1 · b 2",
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
		if got := cause.Telling(output, false); got != want {
			t.Errorf("%q: got %q, want %q", output, got, want)
		}
	}
}

// TestRuler: a line that draws something is not what a tool says.
func TestRuler(t *testing.T) {
	const output = "INFO - stored 1\n\n====================== PANIC ======================\npanicked at src/store.rs:8:38:\nindex out of bounds: the len is 4"
	if got, want := cause.Telling(output, true), "panicked at src/store.rs:8:38: index out of bounds: the len is 4"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := cause.Telling("====================== PANIC ======================", true), "====================== PANIC ======================"; got != want {
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
		if got := cause.Cut(tt.why, tt.columns); got != tt.want {
			t.Errorf("%q in %d columns: got %q, want %q", tt.why, tt.columns, got, tt.want)
		}
	}
}

// TestToolText: of what a tool printed the line counts that says what went wrong.
func TestToolText(t *testing.T) {
	for text, want := range map[string]string{
		`..F.F\n9 passed\nFAILED test_mean.py::test_empty\nERROR: exit`: "FAILED test_mean.py::test_empty",
		`Auto-merging a.go\nCONFLICT (content): a.go`:                   "CONFLICT (content): a.go",
		`error[E0308]: mismatched types\nwarning: 1`:                    "error[E0308]: mismatched types",
		`It did not work\nat all`:                                       "It did not work",
		``:                                                              "",
	} {
		if got := cause.OfContent([]byte(`[{"type":"content","content":{"type":"text","text":"` + text + `"}}]`)); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// FuzzTelling: whatever was printed, the cause is one line of limited length.
func FuzzTelling(f *testing.F) {
	f.Add("✖ adds a, b\n  → expected 1\n  received 2\n 2 failed", true)
	f.Add(`{"error":{"message":"no","code":3}}`, false)
	f.Add("a.go:7:2: undefined: Close\nFAIL\tx/y [build failed]\n\x1b[31m", false)
	f.Fuzz(func(t *testing.T, output string, last bool) {
		why := cause.Telling(output, last)
		if strings.ContainsAny(why, "\n\r\x1b") || utf8.RuneCountInString(why) > 2*cause.Columns {
			t.Errorf("%q", why)
		}
		cause.Tested(output)
		cause.Passed(output)
		cause.LastLine(output)
		cause.Missing(output)
		cause.Cut(output, 20)
	})
}
