package cause

import (
	"regexp"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// toldLines match lines of a tool's output that say what went wrong, those that say most first: the
// name of a test that failed, an error with its text, and others.
var toldLines = [...]func() *regexp.Regexp{
	lazyregexp.New(`^WARNING: DATA RACE|^(?:< )?HTTP/[\d.]+ [45]\d\d\b|\b[1-9]\d*(?:\.\d+)?% packet loss|\brequires? PHP extension \S|\bcommand not found\b|: not found$`),
	namedLine,
	lazyregexp.New(`^(?:info|warning|error) • |^\W*\[[RFWCDS]\] [→↗↑↘] |^L: *\d+ \| P: *\d+ \|`),
	lazyregexp.New(`^\S+\.\w+:\d+:\d+: (?:fatal )?error:? |: error [A-Z]{2,}\d+: |\b\w+\.errors?\.\w+: |^(?:npm error )?gyp ERR! find |^\S+: warning: \[\w+\] |^==\d+==ERROR: `),
	lazyregexp.New(`^\s*(?:FAILED|FAIL:?|not ok \d+|Failed|rspec) +\S*[\pL\d/]|^\w+(?:::\w+)*#test_\w+`),
	lazyregexp.New(`^\W*(?i:error|fatal)(?:\[\w+\])?: |^e: |^E {2,}\S|\b\w+(?:Error|Exception): |\(conflict: `),
	lazyregexp.New(`^\W*What went wrong:$`),
	lazyregexp.New(`(?i:\b(?:error|fatal|panic(?:ked)?|exception|cannot|denied|not found|no such|undefined|undeclared|assert(?:ion(?:error)?)?|by (?:the )?user)\b)|\bexceed(?:ed|ing) (?:the )?timeout\b|\b(?:FAIL|FAILED|CONFLICT|E\d{3,4}|ERR_\w+)\b|^\S+\.\w+:\d+(?::\d+)?: `),
	lazyregexp.New(`(?i)\b(?:fail(?:ed|s|ure)?|abort(?:ed|ing)?|must|requires?|unable|refused|rejected|invalid|missing|timed out|killed|unauthorized|forbidden|mismatch|overflow(?:ed|s)?|already exists|could not|couldn't|can't)\b`),
}

// Tells reports whether a line says what went wrong.
func Tells(line string) bool {
	return slices.ContainsFunc(toldLines[:], func(pattern func() *regexp.Regexp) bool { return pattern().MatchString(line) })
}

// Empty reports whether a line says nothing of what went wrong.
func Empty(line string) bool { return emptyLine().MatchString(line) }

// emptyLine matches lines that say nothing of what went wrong: warnings, headings, rulers, the exit
// status, and what programs write before or after the cause.
var emptyLine = lazyregexp.New(`(?i)` + strings.Join([]string{
	`warning\]?:`,
	`\[warning\]`,
	`^warning +Listing `,
	`^[\d:.\s]*(?:encountered an |runtime )?errors?:?$`,
	`^[\s\pP\pS]*(?:(?:process )?exit(?:ed with)? (?:exit )?(?:code|status):? \d+\.?)?[\s\pP\pS]*$`,
	`^[\pL ]+: \(none\)$`,
	`^(?:Command|Directory|Process Group PGID): `,
	`={5}`,
	`-{5}`,
	`\.{5}`,
	`_{5}`,
	`\*{5}`,
	`^CMake Error(?: at .*\(message\))?:?$`, `^FAILED: \S+\.o\b`, `^collect2: error: `, `^g?make(?:\[\d+\])?: \*\*\* .* Error \d+$`, // CMake, Ninja, make, GCC's linker
	`^(?:> )?Task \S+ FAILED$`, `^FAILURE: Build failed`, `^Starting a Gradle Daemon`, `^w: `, `^(?:> )?Failed to apply plugin`, `^An exception occurred applying plugin`, `^A problem occurred (?:evaluating|configuring)`, `^Execution failed for task`, `^(?:> )?Compilation failed; see`, `^BUILD FAILED(?: in .*)?$`, `^error: warnings found and -Werror`, // Gradle, and Kotlin's warnings
	`^Error: \[\w+-\d+\]$`, `^Failed to (?:build|restore) `, `^\(Background on this error at: `, `^error: fatalError$`, `^error: linking with `, `^error: could not compile `, // Cabal, Swift, rustc
	`^Failed examples:$`, `^FAILED TEST SUMMARY$`, `^[\d:]+ +(?:Completed with \d+ error|Done\. PASS=)`, `^FAIL\s+\S+\s+(?:\[(?:build|setup) failed\]|[\d.]+s)$`, // RSpec, Ceedling, dbt, go test
	`\bdid not complete successfully: exit code`, `^ERROR: failed to (?:build|solve): process`, `^#\d+ ERROR: process`, `^#\d+ \[`, // Docker
	`^Failed to compile\.?$`, `Unable to build website for locale`, `^✖ \d+ problems? `, `^npm (?:ERR!|error) code `, // npm, Next.js, Docusaurus, ESLint
	`^Error: \d+ chart\(s\) linted`, `^\d+ validation errors? for `, `^fatal: Could not read from remote repository`, // Helm, Pydantic, git
}, "|"))

// countLine matches a line of a tool's output that says how much went wrong.
var countLine = lazyregexp.New(`(?i)\b[1-9]\d* dead links? found\b|\b[1-9]\d* (?:issues?|problems?|errors?|warnings?) found\b|^[1-9]\d* (?:\w+ )?vulnerabilit(?:y|ies)\b|(?i)(?:^|[^#\w])[1-9]\d* (?:tests? |specs? |suites? )?(?:failed|failing|failures?|errors?)\b|\bfail(?:ed|ures): *[1-9]|^test result: failed`)

// mavenCount matches how Maven tells how many tests failed.
var mavenCount = lazyregexp.New(`^.*Tests run: (\d+), Failures: ([1-9]\d*), Errors: 0.*$`)

// warned matches a warning of a compiler, which may be told to take it for an error.
var warned = lazyregexp.New(`(?i)^\S+: warning: `)

// lineMark matches what stands before a line of a command's output: of docker build, and the name of the
// stream, as Gemini CLI writes it.
var lineMark = lazyregexp.New(`(?m)^(?:#\d+ [\d.]+ |(?:Output|Stdout|Stderr): (?:\(empty\)$)?)`)

// toldMark matches what stands around a cause and tells nothing: the box of Terraform, a tag of Claude
// Code, the directory of a file, the name of the tool.
var toldMark = lazyregexp.New(`^(?:\[ERROR\] |\W*What went wrong: (?:> )?|Output: |E +|│ |Error calling tool '\w+': |<tool_use_error>|(?:e: )?(?:\[\w+\] )?(?:file://)?(?:/(?:[^\s:/]+/)+|[A-Z]:\\(?:[^\\:]+\\)+))|</tool_use_error>$`)

// WithoutRequest returns a cause without the request that failed.
func WithoutRequest(why string) string { return requestMark().ReplaceAllString(why, "") }

// requestMark matches the request that failed, before the answer to it.
var requestMark = lazyregexp.New(`\b(?:GET|POST|PUT|PATCH|DELETE) https?://\S+:? |\bfor url: https?://\S+(?: -)? ?`)

// jsonReason matches JSON of which only a message tells something: an answer, or what Ansible says.
var jsonReason = lazyregexp.New(`(?:^.*=> *)?\{(?:[^{}]*,)? ?"(?:errors?|message|detail)": ?(?:\{"\w+": ?)?"([^"]{4,})".*$|^.*\{.*"msg": ?"((?:[^"\\]|\\.)+)".*$`)
