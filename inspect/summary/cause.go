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

// Limits on the columns of the reason for a failure, and of what it says of how much is wrong; and
// the number of lines from which one that does not say so is no reason.
const (
	whyColumns   = 140
	countColumns = 48
	manyLines    = 5
)

// toldLines match lines of a tool's output that say what went wrong, those that say most first: the
// name of a test that failed, an error with its text, and others.
var toldLines = [...]*regexp.Regexp{
	regexp.MustCompile(`^WARNING: DATA RACE|^\[ +FAILED +\] \w|^\s*(?:FAILED|FAIL:?|--- FAIL:|[✖✗✘×⨯❌●]|not ok \d+|Failed|rspec) +\S*[\pL\d/]|(?:\.\.\.|\)| > .*) FAILED$|^\[ERROR\] (?:\w+\.)+\w+ .*<<< (?:FAILURE|ERROR)!|^\w+(?:::\w+)*#test_\w+`),
	regexp.MustCompile(`^\W*(?i:error|fatal)(?:\[\w+\])?: |^e: |^E {2,}\S|\b\w+(?:Error|Exception): `),
	regexp.MustCompile(`(?i:\b(?:error|fatal|panic(?:ked)?|exception|cannot|denied|not found|no such|undefined|undeclared|assert(?:ion(?:error)?)?|by (?:the )?user)\b)|\b(?:FAIL|FAILED|CONFLICT|E\d{3,4})\b|^\S+\.\w+:\d+(?::\d+)?: `),
	regexp.MustCompile(`(?i)\b(?:fail(?:ed|s|ure)?|abort(?:ed|ing)?|must|unable|refused|rejected|invalid|missing|timed out|killed|unauthorized|forbidden|mismatch|overflow(?:ed|s)?|could not|couldn't|can't)\b`),
}

// saysFault reports whether a line says what went wrong.
func saysFault(line string) bool {
	return slices.ContainsFunc(toldLines[:], func(r *regexp.Regexp) bool { return r.MatchString(line) })
}

// emptyLine matches lines that say nothing of what went wrong.
var emptyLine = regexp.MustCompile(`(?i)warning\]?:|\[warning\]|^[\d:.\s]*(?:encountered an |runtime )?errors?:?$|^[\s\pP\pS]*(?:(?:process )?exit(?:ed with)? (?:code|status):? \d+\.?)?[\s\pP\pS]*$|^[\pL ]+: \(none\)$|^(?:Command|Directory|Process Group PGID): |^CMake Error(?: at .*\(message\))?:?$|^FAILED: \S+\.o\b|^(?:> )?Task \S+ FAILED$|^FAILURE: Build failed|^collect2: error: |^g?make(?:\[\d+\])?: \*\*\* .* Error \d+$|^✖ \d+ problems? |^ERROR: failed to (?:build|solve): process|^#\d+ ERROR: process|^npm (?:ERR!|error) code |^[\d:]+ +(?:Completed with \d+ error|Done\. PASS=)|^fatal: Could not read from remote repository|^FAIL\s+\S+\s+(?:\[(?:build|setup) failed\]|[\d.]+s)$|={5}|-{5}|\.{5}|_{5}|\*{5}`)

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
	text := termtext.FirstLines(plainOutput(beginning(output)), maxToolLines, 0)
	isEmpty := func(line string) bool { return emptyLine.MatchString(line) && !strings.HasSuffix(line, "DATA RACE") }
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
	if test := goTest.FindStringSubmatch(told); test != nil {
		told = cmp.Or(goFault(test[1], text[at+1:]), told)
	}
	for _, line := range termtext.FirstLines(termtext.Unmarked(ending(output)), maxToolLines, 0) {
		if countLine.MatchString(line) {
			count = strings.Trim(line, "= ")
		}
	}
	told = toldMark.ReplaceAllString(told, "")
	if count == "" || strings.Contains(count, told) || countLine.MatchString(told) {
		return told
	}
	return termtext.CutWords(told, whyColumns-countColumns) + " · " + termtext.CutWords(strings.TrimPrefix(count, "[ERROR] "), countColumns)
}

// toldMark matches what stands around a cause and tells nothing: how far docker build is, the box of
// Terraform, a tag of Claude Code, the directory of a file.
var toldMark = regexp.MustCompile(`^(?:\[ERROR\] |Output: |E +|│ |#\d+ [\d.]+ |<tool_use_error>|(?:e: )?(?:file://)?/(?:[^\s:/]+/)+)|</tool_use_error>$`)

// What go test writes of a test that failed, and before the first thing that the test says.
var (
	goTest    = regexp.MustCompile(`^--- FAIL: (\S+)`)
	goMessage = regexp.MustCompile(`^(?:\S+_test\.go:\d+:|Error:) +(\S.*)`) // the latter of testify
)

// goFault returns what a test of Go said, in the lines after its name; empty: nothing.
func goFault(test string, after []string) string {
	for _, line := range after {
		if said := goMessage.FindStringSubmatch(line); said != nil {
			return test + ": " + said[1]
		}
		if strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "FAIL") {
			break
		}
	}
	return ""
}

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
