package redact

import (
	"bytes"
	_ "embed"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

//go:embed notations.txt
var notationsText string

// A notation is a line of notations.txt.
type notation struct {
	needs string
	last  uint // the number of the last pair of bytes in needs
	form  func() *regexp.Regexp
	check func(name, value []byte) bool
}

// notations returns those of notations.txt. It reads them on first use.
var notations = sync.OnceValue(func() (all []notation) {
	for _, line := range textLines(notationsText) {
		quoted, err := strconv.QuotedPrefix(line)
		if err != nil {
			panic("redact: notations.txt: " + line) // embedded
		}
		check, form, _ := strings.Cut(line[len(quoted)+1:], " ")
		needs, _ := strconv.Unquote(quoted)
		all = append(all, notation{needs, lastPair(needs), lazyregexp.New(form), notationChecks[check]})
	}
	return all
})

var notationChecks = map[string]func(name, value []byte) bool{
	"any":    func(_, value []byte) bool { return !isReference(value, nil) },
	"named":  namesItsSecret,
	"prose":  func(_, value []byte) bool { return likePassword(value) },
	"strong": func(name, value []byte) bool { return namesItsSecret(name, value) && looksSecret(value) },
}

func namesItsSecret(name, value []byte) bool {
	return isSecret(name) && !isReference(value, bytes.TrimLeft(name, "-"))
}

// noted looks for secrets in the notations.
func (s *search) noted() {
	needs, has := "", false
	if s.pairs == nil {
		s.pairs = pairsOf(s.text)
	}
	all := notations()
	for i := range all {
		k := &all[i]
		if !s.pairs.has(k.last) {
			continue
		}
		if k.needs != needs { // otherwise needs was already looked for
			needs, has = k.needs, s.contains(k.needs)
		}
		if !has {
			continue
		}
		for _, at := range k.form().FindAllSubmatchIndex(s.text, -1) {
			from, to := at[len(at)-2], at[len(at)-1]
			if from < 0 { // the other of two groups matched
				from, to = at[len(at)-4], at[len(at)-3]
			}
			if k.check(s.text[max(at[2], 0):max(at[3], 0)], s.text[from:to]) {
				s.add(from, to)
			}
		}
	}
}

// passwordFlags returns the flags with which programs accept a password, as
// notations.txt lists them.
var passwordFlags = sync.OnceValue(func() map[string]string {
	all := make(map[string]string)
	for _, line := range textLines(programsText) {
		programs, flags, _ := strings.Cut(line, ": ")
		for program := range strings.FieldsSeq(programs) {
			all[program] = flags
		}
	}
	return all
})

//go:embed programs.txt
var programsText string

// afterLogin marks programs that accept a password with -p only to log in.
const afterLogin = "login"

// textLines returns the lines of a text that are neither empty nor comments.
func textLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && line[0] != '#' {
			lines = append(lines, line)
		}
	}
	return lines
}
