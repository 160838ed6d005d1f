package summary

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// toolFault says why a tool call failed, given the update that ends it and what it printed in a
// terminal: what it returned, or else its exit status.
func toolFault(update []byte, printed string) string {
	raw := wire.Get(update, "rawOutput")
	output := [][]byte{raw}
	for _, name := range [...]string{"aggregated_output", "output", "error", "stderr", "stdout"} {
		output = append(output, wire.Get(raw, name))
	}
	text, exit := cmp.Or(toolText(wire.Get(update, "content")), printed), exitText(update)
	for _, one := range output {
		text = cmp.Or(text, telling(wire.Text(one), false))
	}
	if lines := strings.Split(textOf(update), "\n"); exit != "" && len(lines) >= manyLines && !slices.ContainsFunc(lines, saysFault) {
		return exit
	}
	return cmp.Or(text, exit)
}

// Limits on the columns of the reason for a failure, of what it says of how much is wrong, and of the
// name of a test; and the number of lines from which one that does not say so is no reason.
const (
	whyColumns   = 140
	countColumns = 48
	testColumns  = 72
	manyLines    = 5
)

// toldLines match lines of a tool's output that say what went wrong, those that say most first: the
// name of a test that failed, an error with its text, and others.
var toldLines = [...]*regexp.Regexp{
	regexp.MustCompile(`^WARNING: DATA RACE|\bcommand not found\b|: not found$`),
	namedLine,
	regexp.MustCompile(`^\S+\.\w+:\d+:\d+: (?:fatal )?error:? |^(?:npm error )?gyp ERR! find |^\S+: warning: \[\w+\] |^==\d+==ERROR: `),
	regexp.MustCompile(`^\s*(?:FAILED|FAIL:?|not ok \d+|Failed|rspec) +\S*[\pL\d/]|^\w+(?:::\w+)*#test_\w+`),
	regexp.MustCompile(`^\W*(?i:error|fatal)(?:\[\w+\])?: |^e: |^E {2,}\S|\b\w+(?:Error|Exception): |\(conflict: `),
	regexp.MustCompile(`(?i:\b(?:error|fatal|panic(?:ked)?|exception|cannot|denied|not found|no such|undefined|undeclared|assert(?:ion(?:error)?)?|by (?:the )?user)\b)|\b(?:FAIL|FAILED|CONFLICT|E\d{3,4})\b|^\S+\.\w+:\d+(?::\d+)?: `),
	regexp.MustCompile(`(?i)\b(?:fail(?:ed|s|ure)?|abort(?:ed|ing)?|must|requires?|unable|refused|rejected|invalid|missing|timed out|killed|unauthorized|forbidden|mismatch|overflow(?:ed|s)?|could not|couldn't|can't)\b`),
}

// namedLine matches the name of a single test that failed, as test runners write it.
var namedLine = regexp.MustCompile(`^\s*(?:[✖✗✘×⨯❌●]|--- FAIL:|\[ +FAILED +\]) +\S*[\pL\d/]|^\d+\) \S|(?:\.\.\.|\)| > .*) FAILED$|: +FAIL(?: \([\d.]+s\))?$|^\[ERROR\] (?:\w+\.)+\w+ .*<<< (?:FAILURE|ERROR)!`)

// saysFault reports whether a line says what went wrong.
func saysFault(line string) bool {
	return slices.ContainsFunc(toldLines[:], func(r *regexp.Regexp) bool { return r.MatchString(line) })
}

// emptyLine matches lines that say nothing of what went wrong.
var emptyLine = regexp.MustCompile(`(?i)warning\]?:|\[warning\]|^[\d:.\s]*(?:encountered an |runtime )?errors?:?$|^[\s\pP\pS]*(?:(?:process )?exit(?:ed with)? (?:code|status):? \d+\.?)?[\s\pP\pS]*$|^[\pL ]+: \(none\)$|^(?:Command|Directory|Process Group PGID): |^CMake Error(?: at .*\(message\))?:?$|^FAILED: \S+\.o\b|^(?:> )?Task \S+ FAILED$|^FAILURE: Build failed|^Error: \[\w+-\d+\]$|^Failed to build |^Failed examples:$|^error: fatalError$|^Failed to compile\.?$|^Error: \d+ chart\(s\) linted|^w: |^(?:> )?Failed to apply plugin|^An exception occurred applying plugin|^A problem occurred (?:evaluating|configuring)|^Execution failed for task|^(?:> )?Compilation failed; see|^BUILD FAILED(?: in .*)?$|^error: warnings found and -Werror|^\d+ validation errors? for |\bdid not complete successfully: exit code|^collect2: error: |^g?make(?:\[\d+\])?: \*\*\* .* Error \d+$|^✖ \d+ problems? |^ERROR: failed to (?:build|solve): process|^#\d+ ERROR: process|^npm (?:ERR!|error) code |^[\d:]+ +(?:Completed with \d+ error|Done\. PASS=)|^fatal: Could not read from remote repository|^FAIL\s+\S+\s+(?:\[(?:build|setup) failed\]|[\d.]+s)$|={5}|-{5}|\.{5}|_{5}|\*{5}`)

// countLine matches a line of a tool's output that says how much went wrong.
var countLine = regexp.MustCompile(`(?i)(?:^|[^#\w])[1-9]\d* (?:tests? |specs? |suites? )?(?:failed|failing|failures?|errors?)\b|\bfail(?:ed|ures): *[1-9]|^test result: failed`)

// textOf returns the first text in the content of an update.
func textOf(update []byte) string {
	for _, block := range wire.Elements(wire.Get(update, "content")) {
		if text := wire.Text(wire.Get(block, "content", "text")); text != "" {
			return text
		}
	}
	return ""
}

// toolText returns what a tool returns, in one of both protocols, in the line that says most.
func toolText(content []byte) string {
	for _, block := range wire.Elements(content) {
		for _, path := range [][]string{{"text"}, {"content", "text"}} {
			if text := telling(wire.Text(wire.Get(block, path...)), false); text != "" {
				return text
			}
		}
	}
	return ""
}

// telling returns the line of a tool's output that says most: the first that tells of something
// wrong, or else the last or the first one. After it stands the one that says how much is wrong.
func telling(output string, last bool) string {
	text := termtext.FirstLines(plainOutput(numberedTest.ReplaceAllString(dockerMark.ReplaceAllString(beginning(output), ""), "✗ $1")), maxToolLines, 0)
	isEmpty := func(line string) bool {
		return emptyLine.MatchString(line) && !strings.HasSuffix(line, "DATA RACE") && !(warned.MatchString(line) && strings.Contains(output, "-Werror"))
	}
	if bare := slices.DeleteFunc(slices.Clone(text), isEmpty); len(bare) > 0 { // a ruler is one
		text = bare
	}
	if len(text) == 0 {
		return ""
	}
	at := -1
	for _, pattern := range toldLines {
		if at < 0 {
			at = slices.IndexFunc(text, pattern.MatchString)
		}
	}
	if at < 0 && last {
		at = len(text) - 1
	}
	told, count := strings.TrimSuffix(text[max(at, 0)], " …"), ""
	if at > 0 && strings.HasPrefix(told, "Failure/Error: ") { // RSpec: the name stands before it, in a list
		at--
		told = "✗ " + text[at]
	}
	switch {
	case at < 0:
	case pytestLine.MatchString(told):
		test, why := pytestLine.ReplaceAllString(told, "$1"), pytestLine.ReplaceAllString(told, "$2")
		if head, cut := strings.CutSuffix(why, "..."); cut { // it stands whole in another line
			if i := slices.IndexFunc(text, func(line string) bool { return !strings.HasSuffix(line, "...") && strings.Contains(line, head) }); i >= 0 {
				why = text[i][strings.Index(text[i], head):]
			}
		}
		told = test + ": " + why
	case namedLine.MatchString(told):
		if why := reason(text[at+1:]); why != "" {
			told = termtext.CutWords(testMark.ReplaceAllString(testMark.ReplaceAllString(told, ""), ""), testColumns) + ": " + why
		}
	case at+1 < len(text) && strings.HasSuffix(told, ":") && letterLine.MatchString(text[at+1]):
		told += " " + strings.TrimLeft(text[at+1], "!•→ ")
	case ghcError.MatchString(told) && at+1 < len(text):
		told = ghcError.ReplaceAllString(told, "") + " " + strings.TrimPrefix(text[at+1], "• ")
	}
	for _, line := range termtext.FirstLines(termtext.Unmarked(ending(output)), maxToolLines, 0) {
		if countLine.MatchString(line) {
			count = strings.Trim(line, "= ")
		}
	}
	told = requestMark.ReplaceAllString(toldMark.ReplaceAllString(told, ""), "")
	if count == "" || strings.Contains(count, told) || countLine.MatchString(told) {
		return told
	}
	return cutWhy(told, whyColumns-countColumns) + " · " + termtext.CutWords(strings.TrimPrefix(count, "[ERROR] "), countColumns)
}

// warned matches a warning of a compiler, which may be told to take it for an error.
var warned = regexp.MustCompile(`^\S+: warning: `)

// dockerMark matches what docker build writes before a line of a command.
var dockerMark = regexp.MustCompile(`(?m)^#\d+ [\d.]+ `)

// toldMark matches what stands around a cause and tells nothing: the box of Terraform, a tag of Claude
// Code, the directory of a file, the name of the tool.
var toldMark = regexp.MustCompile(`^(?:\[ERROR\] |Output: |E +|│ |Error calling tool '\w+': |<tool_use_error>|(?:e: )?(?:\[\w+\] )?(?:file://)?/(?:[^\s:/]+/)+)|</tool_use_error>$`)

// requestMark matches the request that failed, before the answer to it.
var requestMark = regexp.MustCompile(`\b(?:GET|POST|PUT|PATCH|DELETE) https?://\S+:? `)

var (
	// testMark matches what stands around the name of a test: a sign, and how long it ran.
	testMark = regexp.MustCompile(`^(?:[✖✗✘×⨯❌●] +|--- FAIL: |\[ +FAILED +\] |\d+\) )|:? +FAIL(?:ED)?(?: \([\d.]+s\))?$| \(?[\d.]+ ?m?s\)?$`)
	// reasonLine matches the line in which a test says what is wrong, and reasonMark what stands
	// before that.
	reasonLine = regexp.MustCompile(`^→ \S|^\S+_test\.go:\d+: +\S|^E {2,}\S|\w*(?:Error|Exception):? +\S|(?i:\b(?:failed asserting|expect(?:ed|s)?|assert\w*|differ(?:s|ent)?|timed? ?out|timeout|panicked|not found|undefined)\b)`)
	reasonMark = regexp.MustCompile(`^(?:→ |\S+_test\.go:\d+: +|E {2,}|Error: +)`)
	// noReason matches lines like these that only repeat the test's code.
	noReason = regexp.MustCompile(`^Failure/Error: |^Error Trace:|^expect\(|^assert |^\W*\d+ ?[|│▕]`)
)

// reason returns what a test that failed says, in the lines after its name; empty: nothing.
func reason(after []string) string {
	for i, line := range after[:min(len(after), reasonLines)] {
		switch {
		case namedLine.MatchString(line):
			return ""
		case !reasonLine.MatchString(line) || noReason.MatchString(line):
			continue
		case i+1 < len(after) && strings.HasSuffix(line, ":") && letterLine.MatchString(after[i+1]):
			return after[i+1]
		case i+1 < len(after) && expectedLine.MatchString(line) && cameLine.MatchString(after[i+1]):
			return line + ", " + after[i+1]
		}
		return reasonMark.ReplaceAllString(line, "")
	}
	return ""
}

// letterLine matches a line of text.
var letterLine = regexp.MustCompile(`^[\W\d]{0,8}\pL`)

// numberedTest matches the name of a test that failed after its number, which would begin a list in
// Markdown.
var numberedTest = regexp.MustCompile(`(?m)^ *\d+\) +((?:test |\[|\S*[#›:]).*)$`)

// What was expected stands on a line before what came.
var (
	expectedLine = regexp.MustCompile(`(?i)^expected:? +\S+$`)
	cameLine     = regexp.MustCompile(`(?i)^(?:got|received|actual)\b`)
)

// pytestLine matches the line of pytest's summary about a test that failed.
var pytestLine = regexp.MustCompile(`^(?:FAILED|ERROR) \S*?::(\S+) - (.+)$`)

// ghcError matches the end of the line before the text of an error of GHC.
var ghcError = regexp.MustCompile(` error: \[GHC-\d+\].*$`)

// reasonLines limits the lines after the name of a test that are looked at.
const reasonLines = 16

// ending returns the last lines of a tool's output.
func ending(output string) string {
	if len(output) > maxEnding {
		output = output[len(output)-maxEnding:]
		output = strings.ToValidUTF8(output[strings.IndexByte(output, '\n')+1:], "")
	}
	return output
}

// maxEnding limits the bytes at the end of a tool's output that are looked at.
const maxEnding = 2 << 10

// beginning returns the lines of a tool's output that are looked at.
func beginning(output string) string {
	for i, n := 0, 0; ; n++ {
		end := strings.IndexByte(output[i:], '\n')
		if end < 0 {
			return output
		}
		if i += end + 1; n == maxToolLines {
			return output[:i]
		}
	}
}

// exitText returns the exit status in an update of a tool call, or nothing.
func exitText(update []byte) string {
	if code, ok := exitOf(update); ok {
		return fmt.Sprint("exit ", code)
	}
	return ""
}

// maxToolLines limits the lines of a tool's output that are looked at.
const maxToolLines = 200
