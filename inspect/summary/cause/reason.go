package cause

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/record/termtext"
)

// withReason returns a line that says what went wrong together with what it lacks and others have: a
// test that failed with what it says, a heading with what follows it.
func withReason(told string, text []string, at int) string {
	if at > 0 && strings.HasPrefix(told, "Failure/Error: ") { // RSpec: the name stands before it, in a list
		at--
		told = "✗ " + text[at]
	}
	after := text[at+1:]
	switch {
	case pytestLine().MatchString(told):
		test := pytestLine().FindStringSubmatch(told)
		return test[1] + ": " + uncut(test[2], text)
	case ctestLine().MatchString(told):
		name := ctestLine().FindStringSubmatch(told)[1]
		if len(after) > 0 && !strings.HasPrefix(after[0], "Start ") {
			return name + ": " + after[0]
		}
		return name + " failed"
	case namedLine().MatchString(told):
		if why := reason(after); why != "" {
			return termtext.CutWords(testMark().ReplaceAllString(testMark().ReplaceAllString(told, ""), ""), testColumns) + ": " + why
		}
		told = strings.TrimPrefix(told, "✗ ")
	case len(after) > 0 && strings.HasSuffix(told, ":") && letterLine().MatchString(after[0]):
		return told + " " + strings.TrimLeft(after[0], "!•→ ")
	case timeoutLine().MatchString(told):
		if i := slices.IndexFunc(after, blockedLine().MatchString); i >= 0 {
			return told + " " + blockedLine().FindString(after[i])
		}
	case len(after) > 0 && headLine().MatchString(told):
		return told + " " + after[0]
	case len(after) > 0 && ghcError().MatchString(told):
		return ghcError().ReplaceAllString(told, "") + " " + strings.TrimPrefix(after[0], "• ")
	}
	return told
}

var (
	// timeoutLine matches the error of Playwright that only says how long it waited, and blockedLine what
	// it says of why.
	timeoutLine = lazyregexp.New(`^(?:TimeoutError: )?\w+\.\w+: Timeout \d+ms exceeded\.$`)
	blockedLine = lazyregexp.New(`<\w.*intercepts pointer events|element is (?:not|outside)\b.*`)
)

// ctestLine matches the line of CTest about a test that failed.
var ctestLine = lazyregexp.New(`^\d+/\d+ Test +# ?\d+: (\S+) \.*\*\*\*`)

// headLine matches lines that say only that something is wrong, before the one that says what (Bundler,
// REST Assured).
var headLine = lazyregexp.New(`^Could not find compatible versions$|\b\d+ expectations? failed\.$`)

// uncut returns a reason that ends with dots, or is only the name of an error, as it stands whole in
// another line.
func uncut(why string, text []string) string {
	head, cut := strings.CutSuffix(why, "...")
	if !cut {
		head += ": "
	}
	for _, line := range text {
		if at := strings.Index(line, head); at >= 0 && !strings.HasSuffix(line, "...") {
			return line[at:]
		}
	}
	return why
}

// namedLine matches the name of a single test that failed, as test runners write it.
var namedLine = lazyregexp.New(`^Failure/Error: |^\s*(?:[✖✗✘×⨯❌●]|--- FAIL:|\[ +FAILED +\]) +\S*[\pL\d/]|^\d+\) \S|(?:\.\.\.|\)| > .*) FAILED$|: +FAIL(?: \([\d.]+s\))?$|^\[ERROR\] (?:\w+\.)+\w+ .*<<< (?:FAILURE|ERROR)!|^Failed \S+ \[[\d.,< ]+m?s\]$|^\d+/\d+ Test +# ?\d+: \S+ \.*\*\*\*`)

var (
	// testMark matches what stands around the name of a test: a sign, and how long it ran.
	testMark = lazyregexp.New(`^(?:[✖✗✘×⨯❌●] +|Failed |--- FAIL: |\[ +FAILED +\] |\d+\) )|:? +FAIL(?:ED)?(?: \([\d.]+s\))?$| [(\[]?[\d.,< ]+ ?m?s[)\]]?$`)
	// reasonLine matches the line in which a test says what is wrong, and reasonMark what stands
	// before that.
	reasonLine = lazyregexp.New(`^→ \S|^\d+:\d+\s+error\b|^\S+_test\.go:\d+: +\S|^E {2,}\S|\w*(?:Error|[Ee]xception):? +\S|(?i:\b(?:failed asserting|expect(?:ed|s)?|received|assert\w*|differ(?:s|ent)?|timed? ?out|timeout|panicked|not found|undefined)\b)`)
	reasonMark = lazyregexp.New(`^(?:→ |\S+_test\.go:\d+: +|E {2,}|Error: +)`)
	// noReason matches lines like these that only repeat the test's code.
	noReason = lazyregexp.New(`^Failure/Error: |^Error Trace:|^expect\(|^assert |^\W*\d+ ?[|│▕]`)
)

// reason returns what a test that failed says, in the lines after its name; empty: nothing.
func reason(after []string) string {
	for i, line := range after[:min(len(after), reasonLines)] {
		switch {
		case noReason().MatchString(line):
			continue
		case namedLine().MatchString(line):
			return ""
		case !reasonLine().MatchString(line):
			continue
		case i+1 < len(after) && strings.HasSuffix(line, ":") && letterLine().MatchString(after[i+1]):
			i, line = i+1, after[i+1]
		}
		if i+1 < len(after) && expectedLine().MatchString(line) && cameLine().MatchString(after[i+1]) {
			return termtext.CutWords(line, testColumns/2) + ", " + after[i+1]
		}
		if i+1 < len(after) && headLine().MatchString(line) {
			return line + " " + after[i+1]
		}
		return reasonMark().ReplaceAllString(line, "")
	}
	return ""
}

// Limits on the columns of the name of a test, and on the lines after it that are looked at.
const (
	testColumns = 72
	reasonLines = 16
)

// alsoFailed returns the names of the tests that failed besides the one that a line names.
func alsoFailed(text []string, at int) string {
	if !namedLine().MatchString(text[at]) {
		return ""
	}
	bare := func(line string) string {
		return testMark().ReplaceAllString(testMark().ReplaceAllString(strings.TrimPrefix(line, "✗ "), ""), "")
	}
	var names []string
	for _, line := range text[at+1:] {
		if name := bare(line); namedLine().MatchString(line) && !noReason().MatchString(line) && name != bare(text[at]) && !slices.Contains(names, name) {
			names = append(names, termtext.CutWords(name, testColumns/2))
		}
	}
	if names == nil {
		return ""
	}
	few := names[:min(len(names), maxAlso)]
	also := " · also " + strings.Join(few, ", ")
	if more := len(names) - len(few); more > 0 {
		also += ", …"
	}
	return also
}

// maxAlso limits the tests that are named besides the first one that failed.
const maxAlso = 2

// HasText reports whether a line has words soon after its beginning.
func HasText(line string) bool { return letterLine().MatchString(line) }

// letterLine matches a line of text.
var letterLine = lazyregexp.New(`^[\W\d]{0,8}\pL`)

// numberedTest matches the name of a test that failed after its number, which would begin a list in
// Markdown.
var numberedTest = lazyregexp.New(`(?m)^ *\d+\) +((?:test |\[|\S*[#›:]|[A-Z]\w*(?:\.\w+)+ ).*)$`)

// What was expected stands on a line before what came.
var (
	expectedLine = lazyregexp.New(`(?i)^expected *:? +\S.*$`)
	cameLine     = lazyregexp.New(`(?i)^(?:got|received|actual)\b`)
)

// pytestLine matches the line of pytest's summary about a test that failed.
var pytestLine = lazyregexp.New(`^(?:FAILED|ERROR) \S*?::(\S+) - (.+)$`)

// ghcError matches the end of the line before the text of an error of GHC.
var ghcError = lazyregexp.New(` error: \[GHC-\d+\].*$`)
