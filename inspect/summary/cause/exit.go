package cause

import (
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/inspect/summary/shell"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// Exit returns the exit status that an update of a tool call tells of its command.
func Exit(update []byte) (code int64, ok bool) {
	for _, path := range [][]string{{"rawOutput", "exit_code"}, {"rawOutput", "exitCode"}, {"rawOutput", "metadata", "exit"}, {"_meta", "terminal_exit", "exit_code"}} {
		if v := wire.ValueOf(wire.Get(update, path...)); v.IsNumber() {
			return v.Int(), true
		}
	}
	said := []string{wire.Text(wire.Get(update, "rawOutput"))}
	for _, block := range wire.Elements(wire.Get(update, "content")) {
		said = append(said, wire.Text(wire.Get(block, "content", "text")))
	}
	for _, text := range said {
		first, _, _ := strings.Cut(text, "\n")
		if m := exitLine().FindStringSubmatch(first + "\n" + Ending(text)); m != nil {
			code, err := strconv.ParseInt(m[1], 10, 64)
			return code, err == nil
		}
	}
	return 0, false
}

// exitLine matches the line in which an agent tells the exit status of a command.
var exitLine = lazyregexp.New(`(?mi)^[<(\[]?(?:process )?(?:exit(?:ed with)?|command exited with) (?:exit )?(?:code|status):? (\d+)\.?[>)\]]?$`)

// failedLines match lines at the end of what programs print that build, test or fetch something, if
// that failed. Some agents tell nothing else of how a command has ended (Gemini CLI).
var failedLines = lazyregexp.New(`(?m)^(?:` + strings.Join([]string{
	`FAIL(?:\s+\S+)?(?:\s+[\d.]+s| \[\w+ failed\])?$`,                                  // go test
	`error: (?:could not compile|test failed|aborting due to) `, `test result: FAILED`, // cargo
	`Tests?:? +(?:\d+ \w+[,|] +)*[1-9]\d* failed`, `Test Suites: [1-9]\d* failed`, // jest, vitest
	`=+ .*\b[1-9]\d* (?:failed|errors?)\b.* in [\d.]+s`, `[1-9]\d* (?:failed|errors?)\b.* in [\d.]+s`, // pytest
	`\s+[1-9]\d* (?:failed|failing)$`,                                                                           // Playwright, Mocha
	`BUILD FAILED`, `FAILURE: Build failed`, `\[INFO\] BUILD FAILURE`, `Build FAILED\.`, `\*\* \w+ FAILED \*\*`, // Gradle, Maven, MSBuild, xcodebuild
	`thread '[^']*' (?:\(\d+\) )?panicked at `, `panic: `, `Traceback \(most recent call last\):$`, // Rust, Go, Python
	`\d+% tests passed, [1-9]\d* tests? failed`, `ninja: build stopped`, `g?make(?:\[\d+\])?: \*\*\* `, // CTest, Ninja, make
	`npm (?:ERR!|error) code `, `Found [1-9]\d* errors?\b`, `\S+\(\d+,\d+\): error TS\d+`, // npm, tsc
	`│? ?Error: Error acquiring the state lock`, `│ Error: `, // Terraform
	`curl: \(\d+\) `, `(?:psql:\S+ )?ERROR:  \S`, `\S+ +: ok=\d+ .*(?:unreachable|failed)=[1-9]`, `ERROR! Attempting to decrypt but no vault secrets found`, // curl, psql, Ansible
	`ERROR: failed to (?:build|solve)`, `(?:\S*sh: )?(?:line \d+: )?\S+: command not found$`,
}, "|") + `)`)

// Failed reports whether a command has failed by the last lines of what it printed. Those of a
// command that shows a file or a log are not its own.
func Failed(l *shell.Line, printed string) bool {
	if Status(l, printed) != "" {
		return true
	}
	return l.First() != "" && !l.Guarded() && !l.Shows() && failedLines().MatchString(termtext.Unmarked(Ending(printed)))
}

// Status returns the line of what curl has printed that has the status of a request that failed. It is
// empty if there is none, or another program has printed it.
func Status(l *shell.Line, printed string) string {
	if !slices.Contains(l.Words, "curl") {
		return ""
	}
	return strings.TrimSpace(badStatus().FindString(termtext.Unmarked(Ending(printed))))
}

// badStatus matches the status of HTTP in what curl prints of a request that failed.
var badStatus = lazyregexp.New(`(?m)^(?:< )?HTTP/[\d.]+ [45]\d\d\b|^(?:\S+:? )?[45]\d\d(?: \S+)?$`)

// Passed reports whether the last lines of what a command printed say that all went well, also
// if its exit status is that of a program behind a pipe.
func Passed(printed string) bool {
	text := Ending(printed)
	return passedLines().MatchString(text) && !failedLines().MatchString(text)
}

var passedLines = lazyregexp.New(`(?m)^# FAIL: +0$|\b0 fail(?:ed|ures?|ing)\b|^test result: ok|^Tests?:? +(?:\d+ \w+[,|] +)*\d+ passed|^=* ?[1-9]\d* passed|^100% tests passed|^BUILD SUCCESS|^INFO: Build completed successfully|^Build complete!|^ *Finished .* in |^ok +\S+`)

// Tested reports whether a command has run tests by the last lines of what it printed.
func Tested(printed string) bool { return testedLines().MatchString(Ending(printed)) }

var testedLines = lazyregexp.New(`(?m)^test result: |\b\d+ passed\b|^\d+ tests? completed|\bPassed: +\d+|^(?:ok|FAIL)\s+\S+\s+[\d.]+s$`)

// Missing reports whether a command failed because a program, or a part of it, is not there.
func Missing(why string) bool { return notThere().MatchString(why) }

var notThere = lazyregexp.New(`(?i)\bcommand not found\b|: not found$|\bcould not be found\b|\bunknown (?:sub)?command\b|\bno such (?:sub)?command\b|\bno module named\b|\bcannot find module\b|\bcan't locate \S+ in @INC\b|\bis not installed\b`)

// Misused reports whether a request failed because of what it was given.
func Misused(why string) bool { return misuse().MatchString(why) }

var misuse = lazyregexp.New(`(?i)\b(?:missing|unknown|invalid|unexpected) (?:required )?(?:parameters?|arguments?|properties|property|fields?)\b|\bis (?:a )?required\b|\bvalidation (?:error|failed)\b`)
