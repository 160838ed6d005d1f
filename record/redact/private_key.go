package redact

import "bytes"

// maxKey limits the text of a private key.
const maxKey = 64 << 10

// privateKeys looks for keys in PEM and OpenPGP armor, including lines that begin with a
// number or a mark, as tools print files. A key without its end is found as a token.
func (s *search) privateKeys() {
	for i := 0; ; {
		n := bytes.Index(s.text[i:], []byte("PRIVATE KEY"))
		if n < 0 {
			return
		}
		i += n + len("PRIVATE KEY")
		body, ok := bytes.CutPrefix(bytes.TrimPrefix(s.text[i:], []byte(" BLOCK")), []byte("-----"))
		if !ok {
			continue
		}
		from := len(s.text) - len(body)
		n = bytes.Index(body[:min(len(body), maxKey)], []byte("-----"))
		if n > 0 && isMostlyBase64(body[:n]) {
			s.add(from, from+n)
			i = from + n
		}
	}
}

// isMostlyBase64 reports whether half of a text or more is long runs of base64, so that it
// is a key and not prose about one.
func isMostlyBase64(s []byte) bool {
	const long = 16
	n, run := 0, 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && base64Chars.has(s[i]) {
			run++
			continue
		}
		if run >= long {
			n += run
		}
		run = 0
	}
	return n >= 2*long && 2*n >= len(s)
}
