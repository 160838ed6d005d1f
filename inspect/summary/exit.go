package summary

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// exitOf returns the exit status that an update of a tool call tells of its command.
func exitOf(update []byte) (code int64, ok bool) {
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
		if m := exitLine.FindStringSubmatch(first + "\n" + ending(text)); m != nil {
			code, err := strconv.ParseInt(m[1], 10, 64)
			return code, err == nil
		}
	}
	return 0, false
}

// exitLine matches the line in which an agent tells the exit status of a command.
var exitLine = regexp.MustCompile(`(?mi)^[<(\[]?(?:process )?(?:exit(?:ed with)?|command exited with) (?:exit )?(?:code|status):? (\d+)\.?[>)\]]?$`)

// failedLines match lines at the end of what programs print that build, test or fetch something, if
// that failed. Some agents tell nothing else of how a command has ended (Gemini CLI).
var failedLines = regexp.MustCompile(`(?m)^(?:` + strings.Join([]string{
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

// saysFailed reports whether a command has failed by the last lines of what it printed. Those of a
// command that shows a file or a log are not its own.
func saysFailed(c *command, printed string) bool {
	text := termtext.Unmarked(ending(printed))
	if c.badStatus(text) != "" {
		return true
	}
	return len(c.chain) > 0 && !c.guarded && !c.shows() && failedLines.MatchString(text)
}

// badStatus returns the line of what curl has printed that has the status of a request that failed.
func (c *command) badStatus(printed string) string {
	if !slices.Contains(c.words, "curl") {
		return ""
	}
	return strings.TrimSpace(badStatus.FindString(printed))
}

// badStatus matches the status of HTTP in what curl prints of a request that failed.
var badStatus = regexp.MustCompile(`(?m)^(?:< )?HTTP/[\d.]+ [45]\d\d\b|^(?:\S+:? )?[45]\d\d(?: \S+)?$`)

// saysPassed reports whether the last lines of what a command printed say that all went well, also
// if its exit status is that of a program behind a pipe.
func saysPassed(printed string) bool {
	text := ending(printed)
	return passedLines.MatchString(text) && !failedLines.MatchString(text)
}

var passedLines = regexp.MustCompile(`(?m)^# FAIL: +0$|\b0 fail(?:ed|ures?|ing)\b|^test result: ok|^Tests?:? +(?:\d+ \w+[,|] +)*\d+ passed|^=* ?[1-9]\d* passed|^100% tests passed|^BUILD SUCCESS|^INFO: Build completed successfully|^Build complete!|^ *Finished .* in |^ok +\S+`)

// saysTested reports whether a command has run tests by the last lines of what it printed.
func saysTested(printed string) bool { return testedLines.MatchString(ending(printed)) }

var testedLines = regexp.MustCompile(`(?m)^test result: |\b\d+ passed\b|^\d+ tests? completed|\bPassed: +\d+|^(?:ok|FAIL)\s+\S+\s+[\d.]+s$`)

// shows reports whether a command only shows what there is, or what others have said.
func (c *command) shows() bool {
	if len(c.chain) == 0 {
		return false
	}
	return showing.MatchString(strings.Join(c.chain[len(c.chain)-1], " "))
}

// notThere matches reasons by which a program, or a part of it, is missing.
var notThere = regexp.MustCompile(`(?i)\bcommand not found\b|: not found$|\bcould not be found\b|\bunknown (?:sub)?command\b|\bno such (?:sub)?command\b|\bno module named\b|\bcannot find module\b|\bcan't locate \S+ in @INC\b|\bis not installed\b`)

// showing matches commands that only show something: programs that do nothing else, and subcommands of
// others, perhaps after flags.
var showing = regexp.MustCompile(`^(?:awk|bat|cat|echo|grep|head|jq|journalctl|less|ls|printf|rg|sed (?:-[^i]\S* )*[^-]|tail)\b|^(?:kubectl|oc)(?: -\S+(?: \S+)?)* (?:get|describe|logs|top|events)\b|` +
	`^\S+(?: -\S+(?: [^-\s]\S*)??)*(?: \S+)?? (?:list|ls|show|status|describe|logs?|diff|images|inspect|ps|view|version|help|heads|current|history|info|tree|why|outdated|search|--version|--help)(?: |$)`)

// queries matches commands that only read from a database.
var queries = regexp.MustCompile(`^(?:psql|mysql|sqlite3) .*\b(?i:select|explain)\b`)

// saysNo reports whether a command exits with 1 when it has found nothing, or a difference, or is
// to fail by its title.
func saysNo(title string) bool {
	if toFail.MatchString(title) {
		return true
	}
	if audits.MatchString(title) {
		return true
	}
	words, _ := commandOf(title)
	for i := len(words) - 1; i >= 0; i-- {
		if slices.Contains([]string{"|", "&&", "||", ";"}, words[i]) {
			words = words[i+1:]
			break
		}
	}
	return len(words) > 0 && slices.Contains([]string{"grep", "rg", "diff", "cmp", "test", "[", "which", "git diff"}, words[0])
}

// audits matches commands that exit with 1 if there is something to tell.
var audits = regexp.MustCompile(`\b(?:npm|pnpm|yarn) (?:audit(?: --?[\w=-]+)*$|outdated)`)

// toFail matches titles of calls that are right if they fail.
var toFail = regexp.MustCompile(`(?i)\b(?:is|are|gets?|be) (?:refused|rejected|denied|blocked)\b|\b(?:should|must|to) fail\b|\bexpect(?:ed|s|ing)? (?:a |the |to see )?(?:failure|error)\b`)
