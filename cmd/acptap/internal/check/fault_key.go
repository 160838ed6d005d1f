package check

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/lazyregexp"
)

// faultKey returns a hash that identifies a fault by the rule, the side, the method or
// variant, the path in the message, and the value, without IDs, numbers, times and file
// names. Thus the same fault has the same key in a longer run, on another tape, and on
// another machine.
func faultKey(f *conform.Finding) string {
	what := f.Got
	if what == "" {
		what = f.Text
	}
	of := f.Update
	if of == "" {
		of = f.Method
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{
		f.Rule.ID, f.Fault.String(), masked(of, ""), masked(f.Path, ""), masked(what, f.Session),
	}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// aboutFault describes what the findings with one key have in common.
func aboutFault(f *conform.Finding) string {
	// The date of the specification is the same in the next run.
	parts := strings.Split(f.Text, conform.Date)
	for i := range parts {
		parts[i] = masked(parts[i], f.Session)
	}
	about := strings.Join(parts, conform.Date)
	if f.Path != "" {
		about += " (" + masked(f.Path, "") + ")"
	}
	return about
}

var (
	// A file name is a path from the root, a drive or the home directory, or a relative
	// path with an extension.
	filePath = lazyregexp.New(`(^|[^\w])(?:(?:(?:[A-Za-z]:)?[\\/]|~/|\.{1,2}/)[^\s"'<>|,;:()]+|[\w+@-][\w.+@-]*(?:[\\/][\w.+@-]+)*\.[A-Za-z]\w{0,9}\b)`)
	// Durations vary, and so do their units.
	duration = lazyregexp.New(`\b(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)? ?(?:ns|µs|ms|s)\b`)
	// A word with a digit is or contains an ID, a number or a time.
	numbered = lazyregexp.New(`[\w.+-]*\d[\w.+-]*`)
	// Long random words are IDs too.
	longWord = lazyregexp.New(`[A-Za-z_-]{32,}`)
)

// masked returns a text without what varies between runs. session is the ID of its
// session.
func masked(text, session string) string {
	if len(session) > 1 {
		text = strings.ReplaceAll(text, session, "0")
	}
	text = filePath().ReplaceAllString(text, "${1}/")
	text = duration().ReplaceAllString(text, "0 s")
	text = numbered().ReplaceAllString(text, "0")
	return longWord().ReplaceAllString(text, "0")
}
