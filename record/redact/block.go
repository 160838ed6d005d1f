package redact

import "bytes"

// block looks for the secrets in the lines of YAML below a name: all of a block scalar,
// and the words that look secret in lists, mappings and separate lines. It returns where
// the block ends, or 0 if there is none.
func (s *search) block(a *assignment) (end int) {
	t := s.text
	if t[a.sign] != ':' || a.issued || a.isHeader("cookie") {
		return 0
	}
	i := a.skipMarks(a.sign + 1)
	rest, _, _ := bytes.Cut(head(near(t[i:]), "\r\n"), []byte("#"))
	kind := bytes.TrimSpace(rest)
	scalar := len(kind) > 0 && (kind[0] == '|' || kind[0] == '>')
	if len(bytes.Trim(kind, "|>+-0123456789")) > 0 || !scalar && len(kind) > 0 {
		return 0
	}
	indent := indentAt(t, a.from)
	var all span
	for i += len(head(t[i:], "\n")); i < len(t); {
		i++ // the line end
		line := bytes.TrimRight(head(t[i:], "\n"), " \t\r")
		text := bytes.TrimLeft(line, " \t")
		begin := i + len(line) - len(text)
		i += len(head(t[i:], "\n"))
		switch {
		case len(text) == 0 && scalar:
		case len(line)-len(text) <= indent:
			i = len(t)
		case scalar:
			if all.to == 0 {
				all.from = begin
			}
			all.to = begin + len(text)
			end = all.to
		default:
			if at := yamlValue(text); likePassword(text[at.from:at.to]) {
				s.add(begin+at.from, begin+at.to)
				end = begin + len(text)
			}
		}
	}
	if all.from < all.to && !isReference(t[all.from:all.to], nil) {
		s.add(all.from, all.to)
	}
	return end
}

// yamlValue returns the value in an element of a list, or of a member, unless the
// member's name shows that it is not a secret.
func yamlValue(line []byte) span {
	value := bytes.TrimPrefix(line, []byte("- "))
	if name, after, ok := bytes.Cut(value, []byte(": ")); ok {
		if value = after; ofSecret(string(name)) {
			return span{}
		}
	}
	value = bytes.TrimLeft(value, " \"'")
	from := len(line) - len(value)
	return span{from, from + len(bytes.TrimRight(value, "\"'"))}
}

// indentAt returns how far the line of t[i] is indented; the - of a list counts.
func indentAt(t []byte, i int) int {
	line := t[bytes.LastIndexByte(t[:i], '\n')+1 : i]
	return len(line) - len(bytes.TrimLeft(line, " \t-"))
}
