package settings

import "strings"

// shellWord quotes a word for a shell, if necessary.
func shellWord(w string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:=@%+,~", c) || c > 127
	}
	if w != "" && strings.IndexFunc(w, func(c rune) bool { return !plain(c) }) < 0 && w[0] != '~' {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// ShellWords quotes words for a shell, and joins them.
func ShellWords(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellWord(w)
	}
	return strings.Join(quoted, " ")
}
