package settings

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/acptap/acptap/record/termtext"
)

// splitLine splits a command as acpx does: at blanks, respecting quotes and a backslash,
// which escapes any character outside single quotes.
func splitLine(line string) ([]string, error) {
	words, _, err := scanLine(line)
	return words, err
}

// SplitWords splits words as a shell does, without expansion.
func SplitWords(line string) ([]string, error) {
	words, err := splitLine(line)
	if err != nil {
		return nil, errors.New("a quote or a backslash in it has no end")
	}
	return words, nil
}

// lineFrom returns a command without its first n words.
func lineFrom(line string, n int) string {
	_, starts, _ := scanLine(line)
	return line[starts[n]:]
}

// scanLine returns the words of a command, and where each begins.
func scanLine(line string) (words []string, starts []int, err error) {
	var word strings.Builder
	var quoted rune
	inside, escaped := false, false
	for i, c := range line {
		blank := unicode.IsSpace(c) && quoted == 0 && !escaped
		switch {
		case !blank && !inside:
			inside = true
			starts = append(starts, i)
		case blank && inside:
			inside = false
			words = append(words, word.String())
			word.Reset()
		}
		switch {
		case blank:
		case escaped:
			escaped = false
			word.WriteRune(c)
		case c == '\\' && quoted != '\'':
			escaped = true
		case c == quoted:
			quoted = 0
		case quoted == 0 && (c == '"' || c == '\''):
			quoted = c
		default:
			word.WriteRune(c)
		}
	}
	if quoted != 0 || escaped {
		return nil, nil, errors.New("its command has a quote or a backslash without an end")
	}
	if inside {
		words = append(words, word.String())
	}
	return words, starts, nil
}

// joinLine is the reverse of splitLine.
func joinLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = w
		if w == "" || strings.ContainsFunc(w, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(`"'\`, c) }) {
			quoted[i] = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(w) + `"`
		}
	}
	return strings.Join(quoted, " ")
}

// shellWord quotes a word for a shell, if necessary. Characters that
// control a terminal become escapes, in a form of quotes that bash, zsh and ksh know.
func shellWord(w string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:=@%+,~", c) || c > 127 && !termtext.Controls(c)
	}
	if w != "" && strings.IndexFunc(w, func(c rune) bool { return !plain(c) }) < 0 && w[0] != '~' {
		return w
	}
	if !strings.ContainsFunc(w, termtext.Controls) {
		return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for _, c := range []byte(w) {
		switch {
		case c == '\\' || c == '\'':
			b.WriteByte('\\')
			fallthrough
		case c >= ' ' && c < 0x7f:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	return b.String() + "'"
}

// UnwrapLine returns the command that undoes wrapping entries, to be pasted into a shell.
func UnwrapLine(client string, flags []string, entries ...string) string {
	words := []string{"acptap", "unwrap", client}
	if slices.ContainsFunc(entries, func(name string) bool { return strings.HasPrefix(name, "-") }) {
		words = slices.Concat(words, flags, []string{"--"}, entries) // they are not flags
	} else {
		words = slices.Concat(words, entries, flags)
	}
	return ShellWords(words...)
}

// ShellWords quotes words for a shell, and joins them.
func ShellWords(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellWord(w)
	}
	return strings.Join(quoted, " ")
}
