package summary

import (
	"cmp"
	"fmt"
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
	for _, name := range [...]string{"aggregated_output", "formatted_output", "output", "error", "stderr", "stdout"} {
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

// Limits on the columns of the reason for a failure, and of what it says of how much is wrong; and the
// number of lines from which one that does not say so is no reason.
const (
	whyColumns   = 200
	countColumns = 48
	manyLines    = 5
)

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
	text := termtext.FirstLines(plainOutput(numberedTest.ReplaceAllString(lineMark.ReplaceAllString(beginning(output), ""), "✗ $1")), maxToolLines, 0)
	strict := strings.Contains(output, "-Werror") || strings.Contains(output, "treated as error")
	isEmpty := func(line string) bool {
		return emptyLine.MatchString(line) && !strings.HasSuffix(line, "DATA RACE") && !(strict && warned.MatchString(line))
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
	told, also, count := strings.TrimSuffix(text[max(at, 0)], " …"), "", ""
	if at >= 0 {
		told, also = withReason(told, text, at), alsoFailed(text, at)
	}
	for _, line := range termtext.FirstLines(termtext.Unmarked(ending(output)), maxToolLines, 0) {
		if countLine.MatchString(line) {
			count = mavenCount.ReplaceAllString(strings.Trim(line, "= "), "$2 of $1 failed")
		}
	}
	told = jsonReason.ReplaceAllString(requestMark.ReplaceAllString(toldMark.ReplaceAllString(told, ""), ""), "$1$2")
	if count == "" || strings.Contains(count, told) || countLine.MatchString(told) {
		return cutWhy(told, whyColumns-termtext.Width(also)) + also
	}
	return cutWhy(told, whyColumns-countColumns-termtext.Width(also)) + also + " · " + termtext.CutWords(strings.TrimPrefix(count, "[ERROR] "), countColumns)
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
