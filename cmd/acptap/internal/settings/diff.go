package settings

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff returns the change as a unified diff.
func (ch *Change) Diff() string {
	if ch.IsEmpty() {
		return ""
	}
	from, to, after := ch.file.Path, "/dev/null", []byte(nil)
	if !ch.file.exists {
		from = "/dev/null"
	}
	if ch.doc != nil {
		to, after = ch.file.Path, ch.doc.bytes()
	}
	_, text, _ := bytes.Cut(diff.Diff(from, ch.file.read, to, after), []byte("\n")) // without its line "diff FROM TO"
	return string(text)
}
