package redact

import "bytes"

// secretKind matches the kind of a Kubernetes Secret in its manifest, and secretData the
// line before its values.
var (
	secretKind = compiledAtUse(`(?mi)\bkind:[ \t]*["']?secret["']?[ \t]*\r?$`)
	secretData = compiledAtUse(`(?m)^([ \t]*).*?\b(?:data|stringData):[ \t]*\r?\n`)
)

// manifests looks for the values of Kubernetes Secrets in YAML.
func (s *search) manifests() {
	if !s.contains("ata:") || !s.contains("ecret") {
		return
	}
	const separator = "\n---"
	for from := 0; from < len(s.text); {
		to := len(s.text)
		if n := bytes.Index(s.text[from:], []byte(separator)); n >= 0 {
			to = from + n + len(separator)
		}
		if secretKind().Match(s.text[from:to]) {
			done := 0
			for _, at := range secretData().FindAllSubmatchIndex(s.text[from:to], -1) {
				if at[0] >= done {
					done = s.manifestValues(from+at[1], to, at[3]-at[2]) - from
				}
			}
		}
		from = to
	}
}

// manifestValues redacts the lines of a mapping, which are indented deeper than its name,
// and returns where they end.
func (s *search) manifestValues(i, to, indent int) int {
	for i < to {
		line := head(s.text[i:to], "\r\n")
		text := bytes.TrimLeft(line, " \t")
		if len(text) > 0 && len(line)-len(text) <= indent {
			return i
		}
		value := text
		if _, behind, ok := bytes.Cut(text, []byte(":")); ok {
			value = behind
		}
		value = bytes.TrimLeft(value, " \t\"'")
		at := i + len(line) - len(value)
		value = bytes.TrimRight(value, " \t\"'")
		if len(value) > 2 && !isReference(value, nil) { // not the | of a block
			s.add(at, at+len(value))
		}
		i += len(line) + 1
	}
	return i
}
