package check

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"sync"

	"github.com/acptap/acptap/inspect/conform"
)

// faultKey returns what tells one fault from another: a hash of the rule, the side, the
// method or variant, the path in the message, and what was there, of which ids,
// numbers, times and paths of files do not count. So the same fault has the same key in
// a longer run, on another tape, and on another machine.
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

// aboutFault says in a few words what the findings with a key have in common.
func aboutFault(f *conform.Finding) string {
	// The date of the texts that were read is the same in the next run.
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
	// A file has a path from the root, from a drive or from home, or a relative one that
	// ends with what files end with.
	filePath = pattern(`(^|[^\w])(?:(?:(?:[A-Za-z]:)?[\\/]|~/|\.{1,2}/)[^\s"'<>|,;:()]+|[\w+@-][\w.+@-]*(?:[\\/][\w.+@-]+)*\.[A-Za-z]\w{0,9}\b)`)
	// A duration is short or long, and so in another unit.
	duration = pattern(`\b(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)? ?(?:ns|µs|ms|s)\b`)
	// A word with a digit is an id, a number, a time, or has one in it.
	numbered = pattern(`[\w.+-]*\d[\w.+-]*`)
	// Letters at random are an id too.
	longWord = pattern(`[A-Za-z_-]{32,}`)
)

// pattern compiles when the expression is first used: every proxy would pay for it at
// its start.
func pattern(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// masked returns a text without what is another one in the next run. session is the id
// of its session.
func masked(text, session string) string {
	if len(session) > 1 {
		text = strings.ReplaceAll(text, session, "0")
	}
	text = filePath().ReplaceAllString(text, "${1}/")
	text = duration().ReplaceAllString(text, "0 s")
	text = numbered().ReplaceAllString(text, "0")
	return longWord().ReplaceAllString(text, "0")
}
