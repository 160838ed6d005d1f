// Package cause finds in what a tool returned, or a command printed, why it failed: its exit status and the
// line that says most.
package cause

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// Of says why a tool call failed, given the update that ends it and what it printed in a
// terminal: what it returned, or else its exit status.
func Of(update []byte, printed string) string {
	raw := wire.Get(update, "rawOutput")
	output := [][]byte{raw}
	for _, name := range [...]string{"aggregated_output", "formatted_output", "output", "error", "stderr", "stdout"} {
		output = append(output, wire.Get(raw, name))
	}
	text, exit := cmp.Or(OfContent(wire.Get(update, "content")), printed), exitText(update)
	for _, one := range output {
		text = cmp.Or(text, Telling(wire.Text(one), false))
	}
	if lines := strings.Split(Text(update), "\n"); exit != "" && len(lines) >= manyLines && !slices.ContainsFunc(lines, Tells) {
		return exit
	}
	return cmp.Or(text, exit)
}

// Limits on the columns of the reason for a failure, and of what it says of how much is wrong; and the
// number of lines from which one that does not say so is no reason.
const (
	Columns      = 200
	countColumns = 48
	manyLines    = 5
)

// Text returns the first text in the content of an update.
func Text(update []byte) string {
	for _, block := range wire.Elements(wire.Get(update, "content")) {
		if text := wire.Text(wire.Get(block, "content", "text")); text != "" {
			return text
		}
	}
	return ""
}

// OfContent returns what a tool returns, in one of both protocols, in the line that says most.
func OfContent(content []byte) string {
	for _, block := range wire.Elements(content) {
		for _, path := range [][]string{{"text"}, {"content", "text"}} {
			if text := Telling(wire.Text(wire.Get(block, path...)), false); text != "" {
				return text
			}
		}
	}
	return ""
}

// Telling returns the line of a tool's output that says most: the first that tells of something
// wrong, or else the last or the first one. After it stands the one that says how much is wrong.
func Telling(output string, last bool) string {
	text := termtext.FirstLines(Plain(numberedTest().ReplaceAllString(lineMark().ReplaceAllString(Beginning(output), ""), "✗ $1")), maxToolLines, 0)
	strict := strings.Contains(output, "-Werror") || strings.Contains(output, "treated as error")
	isEmpty := func(line string) bool {
		return emptyLine().MatchString(line) && !strings.HasSuffix(line, "DATA RACE") && !ctestLine().MatchString(line) && !(strict && warned().MatchString(line))
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
			at = slices.IndexFunc(text, pattern().MatchString)
		}
	}
	if at < 0 && last {
		at = len(text) - 1
	}
	told, also, count := strings.TrimSuffix(text[max(at, 0)], " …"), "", ""
	if at >= 0 {
		told, also = withReason(told, text, at), alsoFailed(text, at)
	}
	for _, line := range termtext.FirstLines(termtext.Unmarked(Ending(output)), maxToolLines, 0) {
		if countLine().MatchString(line) {
			count = mavenCount().ReplaceAllString(strings.Trim(line, "= "), "$2 of $1 failed")
		}
	}
	told = jsonReason().ReplaceAllString(requestMark().ReplaceAllString(toldMark().ReplaceAllString(told, ""), ""), "$1$2")
	if count == "" || strings.Contains(count, told) || countLine().MatchString(told) {
		return Cut(told, Columns-termtext.Width(also)) + also
	}
	return Cut(told, Columns-countColumns-termtext.Width(also)) + also + " · " + termtext.CutWords(strings.TrimPrefix(count, "[ERROR] "), countColumns)
}

// Ending returns the last lines of a tool's output.
func Ending(output string) string {
	if len(output) > maxEnding {
		output = output[len(output)-maxEnding:]
		output = strings.ToValidUTF8(output[strings.IndexByte(output, '\n')+1:], "")
	}
	return output
}

// maxEnding limits the bytes at the end of a tool's output that are looked at.
const maxEnding = 2 << 10

// Beginning returns the lines of a tool's output that are looked at.
func Beginning(output string) string {
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
	if code, ok := Exit(update); ok {
		return fmt.Sprint("exit ", code)
	}
	return ""
}

// maxToolLines limits the lines of a tool's output that are looked at.
const maxToolLines = 200

// LastLine returns the last line of what a tool call has printed that says what went wrong, otherwise the
// last one.
func LastLine(printed string) string {
	lines := termtext.FirstLines(termtext.Unmarked(Ending(printed)), maxToolLines, 0)
	for i := len(lines) - 1; i >= max(0, len(lines)-manyLines); i-- {
		if ByUser(lines[i]) {
			lines = append(lines[:i], lines[i+1:]...)
		} else if Tells(lines[i]) {
			return termtext.CutWords(lines[i], lastColumns)
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return termtext.CutWords(lines[len(lines)-1], lastColumns)
}

// lastColumns limits the columns of the last line.
const lastColumns = 320

// ByUser reports whether a line says that the user has stopped a command.
func ByUser(line string) bool { return stoppedLine().MatchString(line) }

var stoppedLine = lazyregexp.New(`(?i)\b(?:stopped|interrupted|killed|terminated|cancelled|canceled|aborted) by (?:the )?user\b`)

// Cut shortens a reason to so many columns. Of errors that explain one another, it keeps the last
// ones and the beginning of the first.
func Cut(why string, columns int) string {
	if termtext.Width(why) <= columns {
		return why
	}
	for at := 0; ; {
		next := strings.Index(why[at:], ": ")
		if next < 0 {
			cut := termtext.CutWords(why, columns)
			if at > 0 && termtext.Width(cut) < columns*2/3 { // a very long word is left out
				cut = termtext.CutWords("… "+why[at:], columns)
			}
			return cut
		}
		at += next + len(": ")
		switch room := columns - termtext.Width(why[at:]) - 1; {
		case room >= MinHead:
			return termtext.CutWords(why[:at], room) + " " + why[at:]
		case room > 0:
			return "… " + why[at:]
		}
	}
}

// MinHead is the smallest number of columns of the first of several errors that are told.
const MinHead = 16
