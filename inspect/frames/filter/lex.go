package filter

import (
	"strings"
	"unicode"
)

// A token is one field or text of a query.
type token struct {
	at      int    // position in the query
	key     string // as written, a path with its dot or backquotes; empty for a text
	op      string // without the colon that may precede another operator; empty for a lone path in backquotes
	opAt    int
	value   string // the value, without quotes
	valueAt int
	end     int
	quoted  bool // the value is in quotes
	open    bool // the query ends before the quote or backquote is closed
}

// lex reads the token at the given position in text, which must be neither a blank nor
// one of ( ) | !.
func lex(text string, at int) token {
	p := token{at: at, opAt: at, valueAt: at, end: at}
	rest := text[at:]
	n := keyLen(rest)
	if n > 0 {
		p.key, p.end = rest[:n], at+n
		if rest[0] == '`' && (n == 1 || rest[n-1] != '`') {
			p.open = true
			return p
		}
		size := 0
		p.op, size = operator(rest[n:])
		p.opAt = at + n
		p.valueAt = p.opAt + size
		p.end = p.valueAt
		if p.op == "" {
			return p
		}
	}
	p.readValue(text)
	return p
}

// keyLen returns the length of the key before an operator, or 0 if s does not begin with a
// field. A path in backquotes is a field even without an operator.
func keyLen(s string) int {
	var n int
	switch c := s[0]; {
	case c == '`':
		if end := strings.IndexByte(s[1:], '`'); end >= 0 {
			return end + 2
		}
		return len(s)
	case c == '.':
		n = run(s, isPathByte)
	case isLetter(c):
		n = run(s, isKeyByte)
	}
	if op, _ := operator(s[n:]); op == "" || n == 1 && s[0] == '.' {
		return 0
	}
	return n
}

func run(s string, is func(byte) bool) int {
	n := 0
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isKeyByte(c byte) bool { return isLetter(c) || '0' <= c && c <= '9' || c == '_' || c == '-' }

func isPathByte(c byte) bool { return isKeyByte(c) || c == '.' || c == '*' || c == '#' }

// operators lists >= before >, so that the longer one matches first.
var operators = [...]string{">=", "<=", ">", "<", "=", "~"}

// operator returns the operator at the beginning of s, and its length including an
// optional colon before it.
func operator(s string) (op string, size int) {
	rest, colon := strings.CutPrefix(s, ":")
	for _, op := range operators {
		if strings.HasPrefix(rest, op) {
			return op, len(s) - len(rest) + len(op)
		}
	}
	if colon {
		return ":", 1
	}
	return "", 0
}

func (p *token) readValue(text string) {
	s := text[p.valueAt:]
	if !strings.HasPrefix(s, `"`) {
		p.value = s[:bareLen(s)]
		p.end = p.valueAt + len(p.value)
		return
	}
	p.quoted, p.open = true, true
	var b strings.Builder
	i := 1
	for ; i < len(s) && p.open; i++ {
		switch {
		case s[i] == '"':
			p.open = false
		case s[i] == '\\' && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			i++
			b.WriteByte(s[i])
		default:
			b.WriteByte(s[i])
		}
	}
	p.value, p.end = b.String(), p.valueAt+i
}

// bareLen returns the length of the prefix of s that needs no quotes.
func bareLen(s string) int {
	n := strings.IndexFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()|\"`", r) })
	if n < 0 {
		return len(s)
	}
	return n
}

// blanks returns the length in bytes of the blanks at the beginning of s.
func blanks(s string) int {
	return len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
}

// quote returns s as a string in the query language.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		c := s[i]
		// Escape a backslash only if it would otherwise escape what follows.
		if c == '"' || c == '\\' && (i+1 == len(s) || s[i+1] == '"' || s[i+1] == '\\') {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	b.WriteByte('"')
	return b.String()
}

// Value returns s as the value of a field, quoted if a query would otherwise read
// it as something else.
func Value(s string) string {
	if s == "" || strings.IndexByte("!:=<>~", s[0]) >= 0 || bareLen(s) < len(s) || strings.Contains(s, "..") {
		return quote(s)
	}
	return s
}

// isText reports whether s is a text without quotes.
func isText(s string) bool {
	return s != "" && s[0] != '!' && bareLen(s) == len(s) && keyLen(s) == 0
}
