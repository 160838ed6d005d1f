package redact

import (
	"bytes"
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// assigned looks for name=value and name: value where name names a secret: in queries of
// URLs, files of variables and settings, header lines, connection strings, and JSON within
// a string. Texts are full of code, so the place or the value must show that it is not
// code; in arguments, where sure is true, it need not.
func (s *search) assigned(sure bool) {
	for i := 0; ; {
		a := assignment{s: s.text, begin: i}
		for i < len(s.text) && !assignmentSigns[s.text[i]] {
			i++
		}
		if i == len(s.text) {
			return
		}
		a.sign = i
		i++
		if !a.findName() {
			continue
		}
		if s.block(&a) {
			continue
		}
		if from, to := a.value(sure); from < to {
			s.add(from, to)
		}
	}
}

var assignmentSigns = [256]bool{'=': true, ':': true, '>': true}

// An assignment is a place in a text that may assign a value to a name.
type assignment struct {
	s          []byte
	begin      int // where the search began
	sign       int // = or : or, after a tag, >
	from, to   int // the name
	quotedName bool
	indexed    bool // the name is an index: unquoted values are code
	marked     bool // marks of Markdown are around the name
	beside     bool // the name is "value", and that of the secret precedes it
	issued     bool // only a value that looks like a key is secret
}

// findName reports whether the name of a secret precedes the sign.
func (a *assignment) findName() bool {
	bare := trimEnd(a.s[a.begin:a.sign], " \t")
	if n := bytes.LastIndex(bare, []byte(" [")); n > 0 && len(bare)-n < 40 && bare[len(bare)-1] == ']' && a.s[a.sign] == ':' {
		bare = bare[:n] // the present value in a prompt
	}
	if a.s[a.sign] == '=' {
		bare = trimEnd(trimEnd(bare, "?.|+"), " \t")                    // ?= and similar operators
		if before, ok := bytes.CutSuffix(bare, []byte(" string")); ok { // as in Go
			bare = before
		}
		if n := bytes.LastIndexByte(bare, '['); n > 0 && bare[len(bare)-1] == ']' && isDigits(bare[n+1:len(bare)-1]) { // as in C
			bare = bare[:n]
		}
	}
	name := trimEnd(bare, "\"'`\\*]")
	if a.s[a.sign] == ':' {
		name = withoutTag(name)
	}
	a.to = a.begin + len(name)
	a.from = a.to
	for a.from > a.begin && isNameByte(a.s[a.from-1]) {
		a.from--
	}
	if a.from == a.to {
		return false
	}
	marks := bare[len(name):]
	if len(marks) > 0 {
		a.quotedName = bytes.ContainsAny(marks, "\"'`\\]")
		a.marked = bytes.ContainsAny(marks, "*>")
		a.indexed = marks[len(marks)-1] == ']' && a.s[a.sign] == '='
	}
	a.marked = a.marked || a.s[a.to-1] == '_'
	if index := bytes.IndexByte(marks, ']'); index == 0 && (a.from == 0 || a.s[a.from-1] != ':') || index > 0 && a.from > 0 && a.s[a.from-1] == '*' {
		return false // of a variable
	}
	switch {
	case a.s[a.sign] == '>':
		return a.from > 0 && a.s[a.from-1] == '<' && isSecret(a.name())
	case a.isBesideName():
		a.beside = true
		return true
	case isSecret(a.name()), a.isQueryKey(), a.inQuery() && bytes.HasSuffix(bytes.ToLower(a.name()), []byte("signature")):
		return true
	case isSomeKey(a.name()):
		a.issued = true
		return true
	}
	if from := phraseBegin(a.s, a.begin, a.from, a.to); from < a.to {
		a.from = from
		return true
	}
	return isPIN(a.name())
}

// withoutTag returns what precedes a closing tag.
func withoutTag(s []byte) []byte {
	if !bytes.HasSuffix(s, []byte(">")) {
		return s
	}
	if n := bytes.LastIndex(s, []byte("</")); n >= 0 && len(s)-n < 16 {
		return s[:n]
	}
	return s
}

// besideValue matches what precedes the value of a pair: the name of a secret.
var besideValue = lazyregexp.New(`(?i)\b(?:name|key|variable|header|field)\\?["']?[ \t]*[:=][ \t]*\\?["']?([A-Za-z0-9_.-]{3,64})\\?["']?,?[\s\\n]*\\?["']?$`)

// isBesideName reports whether the name is "value" and the preceding one names a secret,
// as in a list of variables.
func (a *assignment) isBesideName() bool {
	if name := a.name(); !bytes.EqualFold(name, []byte("value")) && !bytes.EqualFold(name, []byte("val")) {
		return false
	}
	at := besideValue().FindSubmatch(a.s[max(0, a.from-160):a.from])
	return at != nil && isSecret(at[1])
}

// inQuery reports whether the name is a parameter of a URL.
func (a *assignment) inQuery() bool {
	return a.from > 0 && (a.s[a.from-1] == '?' || a.s[a.from-1] == '&') && a.s[a.sign] == '='
}

// isQueryKey reports whether the name is the parameter "key" of a URL, or "code". Some servers
// use these for credentials, others for what the client looks up.
func (a *assignment) isQueryKey() bool {
	if name := a.name(); len(name) == 4 {
		return bytes.EqualFold(name, []byte("code")) && a.s[a.sign] == '=' && a.from > 0 && strings.IndexByte("?&", a.s[a.from-1]) >= 0
	}
	return a.inQuery() && bytes.EqualFold(a.name(), []byte("key"))
}

// inConnection reports whether the name is in a connection string, but not at its
// beginning.
func (a *assignment) inConnection() bool {
	return a.from > 0 && a.s[a.from-1] == ';' && a.s[a.sign] == '='
}

// assigns matches the next part of a connection string or of a form.
var assigns = lazyregexp.New(`[;&][A-Za-z_][A-Za-z0-9_ -]{0,40}=`)

func (a *assignment) name() []byte { return a.s[a.from:a.to] }

// value returns the span of the secret; from equals to if there is none.
func (a *assignment) value(sure bool) (from, to int) {
	s, i := a.s, a.sign+1
	if a.s[a.sign] == '>' {
		return a.element(i)
	}
	if a.s[a.sign] == ':' {
		i += max(0, len(typedOrDefined().Find(near(s[i:])))-1) // up to the quote
	}
	switch {
	case i < len(s) && s[i] == '>', i < len(s) && s[a.sign] == ':' && s[i] == '=': // => and :=
		i++
	case i < len(s) && s[i] == '=', i+1 < len(s) && s[a.sign] == ':' && s[i] == '/' && s[i+1] == '/':
		return 0, 0 // a comparison, a URL
	}
	i = a.skipMarks(i)
	if i+1 < len(s) && strings.IndexByte("brufL@$", s[i]) >= 0 && (s[i+1] == '"' || s[i+1] == '\'') { // of a string in code
		i++
	}
	switch {
	case i == len(s):
		return 0, 0
	case a.isHeader("cookie"):
		const ends = "\r\n\"'`"
		if bytes.IndexByte(head(near(s[i:]), ends), '=') > 0 {
			return i, i + len(head(s[i:], ends))
		}
		return 0, 0
	case s[i] == '"', s[i] == '\'', s[i] == '`', s[i] == '\\':
		if from, to, ok := a.quoted(i); ok {
			return from, to
		}
		if s[i] != '\\' && !sure {
			return 0, 0
		}
	}
	if a.indexed {
		return 0, 0
	}
	return a.bare(i, sure)
}

// skipMarks returns the place after what may precede a value at s[i]: blanks, closing marks
// of Markdown and HTML, tags and anchors of YAML.
func (a *assignment) skipMarks(i int) int {
	for {
		begin := i
		i = skipMarks(a.s, i, " \t*")
		a.marked = a.marked || bytes.ContainsAny(a.s[begin:i], "*>")
		word := nextWord(a.s, i)
		if a.s[a.sign] != ':' || i == len(a.s) || a.s[i] != '!' && a.s[i] != '&' || word.to == len(a.s) || a.s[word.to] != ' ' || word.to-i < 2 || bytes.ContainsAny(a.s[i:word.to], "{(:") {
			return i
		}
		i = word.to
	}
}

// typedOrDefined matches what comes between the colon and the assigned string: the rest of
// ::= in a Makefile, or the type of a variable.
var typedOrDefined = lazyregexp.New(`^(?::{1,2}=|[ \t]*(?:&(?:'static +)?)?(?:string|str|String|bytes|SecretStr|(?:Option|Optional|Final|ClassVar)[\[<]&?(?:'static +)?(?:str|String)[\]>])\??(?:[ \t]*\|[ \t]*(?:None|null|undefined))?[ \t]*=)[ \t]*(?:Some\()?["'` + "`]")

// element returns the span of the text of an XML element that begins at s[i].
func (a *assignment) element(i int) (from, to int) {
	text := head(near(a.s[i:]), "<")
	end := i + len(text)
	from = end - len(bytes.TrimLeft(text, " \t\r\n"))
	to = from + len(bytes.TrimRight(a.s[from:end], " \t\r\n"))
	if end == len(a.s) || a.s[end] != '<' || bytes.ContainsAny(a.s[from:to], "\r\n") || isReference(a.s[from:to], a.name()) {
		return 0, 0
	}
	return from, to
}

// isHeader reports whether the name is that of a header whose value extends to the end of
// the line.
func (a *assignment) isHeader(name string) bool {
	return len(a.name()) >= len(name) && bytes.EqualFold(a.name()[a.to-a.from-len(name):], []byte(name)) && a.s[a.sign] == ':'
}

// quoted returns the span within the quotes that open at s[i]. ok is false if the quote
// looks like a closing one.
func (a *assignment) quoted(i int) (from, to int, ok bool) {
	s := a.s
	in, _, ok := quotedAt(s, i)
	line := s[a.begin:a.from]
	line = line[bytes.LastIndexByte(line, '\n')+1:]
	if !ok || !a.quotedName && bytes.Count(line, s[i:max(in.from, i)])%2 == 1 {
		return 0, 0, false
	}
	from, to = in.from, in.to
	value := s[from:to]
	if scheme, credentials, ok := bytes.Cut(value, []byte(" ")); ok && isScheme(scheme) {
		from, value = from+len(scheme)+1, credentials
	}
	if isReference(value, a.name()) || a.indexed && bytes.ContainsAny(value, "% ") || a.issued && !isIssued(value) || isPIN(a.name()) && !isNumericSecret(a.name(), value) {
		return 0, 0, true
	}
	return from, to, true
}

// bare returns the span of the unquoted secret that begins at s[i].
func (a *assignment) bare(i int, sure bool) (from, to int) {
	const before, behind = " \t\"'`", " \t\r\n\"'`\\&;,()<>{}[]$%"
	s := a.s
	ends := behind
	query := a.inQuery()
	if query {
		ends = " \t\r\n\"'`\\&#<>{}[]()"
	}
	if a.inConnection() {
		ends = ";\r\n\"'`"
	}
	scheme := false
	for {
		for i < len(s) && (strings.IndexByte(before, s[i]) >= 0 || s[i] == '\\' && i+1 < len(s) && strings.IndexByte(before, s[i+1]) >= 0) {
			i++
		}
		from, i = i, i+len(head(near(s[i:]), ends))
		if scheme || !isScheme(s[from:i]) || i == len(s) || s[i] != ' ' {
			break
		}
		scheme = true
	}
	value := s[from:i]
	if a.marked {
		value = bytes.TrimRight(value, "*_")
		i = from + len(value)
		ends += "*_"
	}
	if run := a.wholeLine(from); len(run) > len(value) {
		value, ends = run, "\r\n"
		i = from + len(run)
	}
	switch {
	case a.issued && !isIssued(value):
	case isPIN(a.name()):
		if isNumericSecret(a.name(), value) && !goesOn(s[i:]) {
			return from, i
		}
	case len(value) == 0, a.beside && len(value) < 3, i < len(s) && s[i] == '(', !sure && isReference(value, a.name()):
	case a.isQueryKey() && (len(value) < 16 || !looksSecret(value)):
	case isNumericSecret(a.name(), value) && !goesOn(s[i:]), a.issued, a.beside && len(value) > 2:
		return from, i
	case sure, query, len(value) >= 8 && looksSecret(value), scheme && len(value) >= 4, a.telling(value, i):
		return from, i + len(head(s[i:], ends))
	}
	return 0, 0
}

// wholeLine returns the value that begins at s[from] if it extends to the end of a line with
// nothing else but the name: a passphrase of several words, or a value with signs that end
// others.
func (a *assignment) wholeLine(from int) []byte {
	line := bytes.TrimRight(head(near(a.s[from:]), "\r\n"), " \t,;")
	switch {
	case !a.alone(from + len(line)), bytes.ContainsAny(line, "\"'`\\(){}[]<>$"), assigns().Match(line), isReference(line, a.name()):
	case isPassword(a.name()) && isPhrase(line), looksSecret(line) && !bytes.ContainsAny(line, " \t"):
		return line
	}
	return nil
}

// isScheme reports whether a word is a scheme that precedes the credentials of an
// Authorization header.
func isScheme(word []byte) bool {
	return schemes.have(word)
}

// telling reports whether a short value without digits, which ends at s[end], is secret
// because of where it is: it is the value of a variable, of a setting on a line of its own,
// in a connection string, or in a header given to curl.
func (a *assignment) telling(value []byte, end int) bool {
	if len(value) < 3 {
		return len(value) == 2 && hasDigit(value) && a.alone(end)
	}
	s := a.s
	name := a.name()
	switch {
	case a.inConnection(), a.from > 0 && (s[a.from-1] == ':' || s[a.from-1] == '=') && s[a.sign] == '=': // npm's settings, an argument
		return true
	case s[a.sign] == '=' && a.from > 0 && s[a.from-1] == ',' && isPassword(name): // of mount
		return a.begin > 0 && s[a.begin-1] == '=' && !bytes.ContainsAny(s[a.begin:a.from], " \t\r\n(\"'")
	case s[a.sign] == '=' && end < len(s) && (s[end] == ';' || s[end] == '&') && assigns().Match(head(near(s[end:]), " \t\r\n")):
		return true
	case bytes.Equal(name, bytes.ToUpper(name)) && len(name) >= 4 && s[a.sign] == '=':
		return true
	case a.from > 3 && headerFlag().Match(s[max(0, a.from-10):a.from]):
		return true
	case !a.alone(end):
		return false
	}
	// A line such as "token: what" may describe a field.
	one := !bytes.ContainsAny(name, "-_") && bytes.Equal(name[1:], bytes.ToLower(name[1:]))
	password := bytes.HasPrefix(bytes.ToLower(name), []byte("pass"))
	return s[a.sign] == '=' || !one || password
}

// headerFlag matches what precedes a header given to curl.
var headerFlag = lazyregexp.New(`(?:-H ["']|--header(?: ["']|=))$`)

// alone reports whether the line has only the name and a value that ends at s[end].
func (a *assignment) alone(end int) bool {
	line := a.s[a.begin:a.from]
	if a.begin > 0 && bytes.IndexByte(line, '\n') < 0 {
		begin := bytes.LastIndexByte(a.s[max(0, a.begin-256):a.begin], '\n') + 1
		line = a.s[max(0, a.begin-256)+begin : a.from]
	}
	line = bytes.TrimLeft(line[bytes.LastIndexByte(line, '\n')+1:], " \t-+\"'*_>#`")
	for _, word := range []string{"export ", "set ", "ENV ", "ARG ", "env "} {
		line = bytes.TrimPrefix(line, []byte(word))
	}
	before := a.marked || bytes.IndexFunc(line, func(c rune) bool { return c != '.' && (c >= 0x80 || !isNameByte(byte(c))) }) < 0
	rest := bytes.TrimLeft(a.s[end:], " \t\"'\\*_")
	return before && (len(rest) == 0 || rest[0] == '\n' || rest[0] == '\r' || rest[0] == '#')
}
