package portable

import (
	"bufio"
	"bytes"
	"regexp"
)

// A form is how one tool writes a file that Read understands.
type form struct {
	name string
	is   func(head []byte) bool // whether a file that begins with head has the form
	read func(*file) error
}

// forms are all of them. Content decides, because users name and cut files as they like.
// The first form that fits counts: those that show where the file begins come before those
// that any line may show, because a message may quote such a line.
var forms = []form{
	{"acp-devtools, export", isDevtools, readDevtools},
	{"logger", isLogger, readLogger},
	{"acpx, messages", isMessages, readMessages},
	{"acpx, index", isAcpxIndex, readAcpxIndex},
	{"zed", isZed, readZed},
	{"conductor, trace", isTrace, readTrace},
	{"conductor, debug log", isConductorLog, readConductorLog},
	{"acp.el, traffic", isEmacsTraffic, readEmacsTraffic},

	{"acp.el, log", isEmacsLog, readEmacsLog},
	{"claude desktop", isClaudeDesktop, readClaudeDesktop},
	{"jetbrains", isJetBrains, readJetBrains},
}

// formOf returns the form of a file that begins with head: the portable one unless it has
// another.
func formOf(head []byte) form {
	for _, f := range forms {
		if f.is(head) {
			return f
		}
	}
	return form{"portable", nil, readPortable}
}

// beginning is how much of a file decides which form it has.
const beginning = 64 << 10

// A file is a file being read, and where its content goes.
type file struct {
	in    *bufio.Reader
	name  string
	tell  func(string)
	begin func(Head)
	line  func(Line) error
}

// begins reports whether head begins with these tokens, with blanks between them.
func begins(head []byte, tokens ...string) bool {
	for _, token := range tokens {
		var ok bool
		if head, ok = bytes.CutPrefix(bytes.TrimSpace(head), []byte(token)); !ok {
			return false
		}
	}
	return true
}

// firstLine returns the first line with something in it, which may be cut off if it is
// long.
func firstLine(head []byte) []byte {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	return line
}

// anyDated reports whether a line in head is of a log whose lines begin with a date. Of other
// lines, such as all of the portable form, it looks at the first byte alone.
func anyDated(head []byte, log func() *regexp.Regexp) bool {
	return anyLine(head, func(line []byte) bool {
		return len(line) > 0 && '0' <= line[0] && line[0] <= '9' && log().Match(line)
	})
}

// anyLine reports whether a line in head is of a log.
func anyLine(head []byte, is func(line []byte) bool) bool {
	for line := range bytes.Lines(head) {
		if is(bytes.TrimRight(line, "\r\n")) {
			return true
		}
	}
	return false
}
