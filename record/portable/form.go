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

// forms lists all forms. The content decides, because users rename and cut files. The first
// match counts. Forms recognized by the beginning of a file come before those recognized by
// any line, because a message may quote such a line.
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

// formOf returns the form of a file that begins with head; the default is the portable form.
func formOf(head []byte) form {
	for _, f := range forms {
		if f.is(head) {
			return f
		}
	}
	return form{"portable", nil, readPortable}
}

// beginning is the number of bytes by which the form of a file is recognized.
const beginning = 64 << 10

// A file is a file being read, with the receivers of its content.
type file struct {
	in    *bufio.Reader
	name  string
	tell  func(string)
	begin func(Head)
	line  func(Line) error
}

// begins reports whether head begins with these tokens, with optional blanks between them.
func begins(head []byte, tokens ...string) bool {
	for _, token := range tokens {
		var ok bool
		if head, ok = bytes.CutPrefix(bytes.TrimSpace(head), []byte(token)); !ok {
			return false
		}
	}
	return true
}

// firstLine returns the first line that is not blank, which may be cut off if it is long.
func firstLine(head []byte) []byte {
	line, _, _ := bytes.Cut(bytes.TrimLeft(head, " \t\r\n"), []byte("\n"))
	return line
}

// anyDated reports whether a line in head matches log, whose lines begin with a date. For
// other lines, such as those of the portable form, it examines only the first byte.
func anyDated(head []byte, log func() *regexp.Regexp) bool {
	return anyLine(head, func(line []byte) bool {
		return len(line) > 0 && '0' <= line[0] && line[0] <= '9' && log().Match(line)
	})
}

// anyLine reports whether is returns true for a line in head.
func anyLine(head []byte, is func(line []byte) bool) bool {
	for line := range bytes.Lines(head) {
		if is(bytes.TrimRight(line, "\r\n")) {
			return true
		}
	}
	return false
}
