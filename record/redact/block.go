package redact

import (
	"bytes"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// block looks for the secrets in the lines of YAML below a name. It reports whether there is
// a block.
func (s *search) block(a *assignment) bool {
	t := s.text
	if t[a.sign] != ':' || a.issued || a.isHeader("cookie") {
		return false
	}
	i := a.skipMarks(a.sign + 1)
	rest, _, _ := bytes.Cut(head(near(t[i:]), "\r\n"), []byte("#"))
	kind := bytes.TrimSpace(rest)
	scalar := len(kind) > 0 && (kind[0] == '|' || kind[0] == '>')
	if len(bytes.Trim(kind, "|>+-0123456789")) > 0 || !scalar && len(kind) > 0 {
		return false
	}
	return s.blockBelow(i, indentAt(t, a.from), scalar, false)
}

// blockBelow looks for the secrets in the lines after that of t[i] that are indented deeper:
// all of a scalar, all values, or those that look secret. It reports whether there are any
// lines of a scalar, or secrets.
func (s *search) blockBelow(i, indent int, scalar, all bool) (found bool) {
	t := s.text
	var whole span
	for i += len(head(t[i:], "\n")); i < len(t); {
		i++ // the line end
		line := bytes.TrimRight(head(t[i:], "\n"), " \t\r")
		text := bytes.TrimLeft(line, " \t")
		begin := i + len(line) - len(text)
		i += len(head(t[i:], "\n"))
		switch {
		case len(text) == 0 && (scalar || all):
		case len(line)-len(text) <= indent:
			i = len(t)
		case scalar:
			if whole.to == 0 {
				whole.from = begin
			}
			whole.to = begin + len(text)
			found = true
		default:
			at := yamlValue(text, all)
			value := text[at.from:at.to]
			if all && len(value) > 2 && !isReference(value, nil) || !all && likePassword(value) { // not the | of a block
				s.add(begin+at.from, begin+at.to)
				found = true
			}
		}
	}
	if whole.from < whole.to && !isReference(t[whole.from:whole.to], nil) {
		s.add(whole.from, whole.to)
	}
	return found
}

// yamlValue returns the value in an element of a list, or of a member, unless the
// member's name shows that it is not a secret, and not all are.
func yamlValue(line []byte, all bool) span {
	value := bytes.TrimPrefix(line, []byte("- "))
	if name, after, ok := bytes.Cut(value, []byte(":")); ok && (all || len(after) > 0 && after[0] == ' ') {
		if value = after; !all && ofSecret(string(name)) {
			return span{}
		}
	}
	value = bytes.TrimLeft(value, " \t\"'")
	from := len(line) - len(value)
	return span{from, from + len(bytes.TrimRight(value, "\"'"))}
}

// indentAt returns how far the line of t[i] is indented; the - of a list counts.
func indentAt(t []byte, i int) int {
	line := t[bytes.LastIndexByte(t[:i], '\n')+1 : i]
	return len(line) - len(bytes.TrimLeft(line, " \t-"))
}

// secretKind matches the kind of a Kubernetes Secret in its manifest, and secretData the
// line before its values.
var (
	secretKind = lazyregexp.New(`(?mi)\bkind:[ \t]*["']?secret["']?[ \t]*\r?$`)
	secretData = lazyregexp.New(`(?m)^([ \t]*).*?\b(?:data|stringData):[ \t]*\r?\n`)
)

// manifests looks for the values of Kubernetes Secrets in YAML.
func (s *search) manifests() {
	if !s.contains("ata:") || !s.contains("ecret") {
		return
	}
	from := 0
	for document := range bytes.SplitAfterSeq(s.text, []byte("\n---")) {
		if secretKind().Match(document) {
			for _, at := range secretData().FindAllSubmatchIndex(document, -1) {
				s.blockBelow(from+at[1]-1, at[3]-at[2], false, true)
			}
		}
		from += len(document)
	}
}
