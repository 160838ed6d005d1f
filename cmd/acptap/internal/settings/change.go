package settings

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// A Step is what a change does to one entry.
type Step struct {
	Client string   `json:"client"`
	File   string   `json:"file"`
	Entry  string   `json:"entry"`
	Did    Did      `json:"did"`
	Agent  []string `json:"command,omitempty"`
	Acptap []string `json:"acptap,omitempty"`
	Why    string   `json:"why,omitempty"` // if skipped
	Undo   string   `json:"undo,omitempty"`
}

// Did names what a change does to an entry.
type Did string

const (
	DidWrap    Did = "wrapped"
	DidRewrap  Did = "rewrapped"
	DidNothing Did = "unchanged" // it was already wrapped
	DidAdd     Did = "added"
	DidUnwrap  Did = "unwrapped"
	DidRemove  Did = "removed"
	DidSkip    Did = "skipped"
)

// A Change is new contents for one settings file.
type Change struct {
	Client *Client
	Steps  []Step

	file *File
	doc  *document // nil to remove the file
	put  []Record
	drop []Record
}

// IsEmpty reports whether the change leaves the file unchanged.
func (ch *Change) IsEmpty() bool { return ch.doc != nil && bytes.Equal(ch.doc.bytes(), ch.file.read) }

// A PasteError is an error with lines that the user can paste instead.
type PasteError struct {
	Err   error
	Lines string
}

func (e *PasteError) Error() string { return e.Err.Error() }
func (e *PasteError) Unwrap() error { return e.Err }

// pasteInstead adds to err the changed entries, for the user to paste.
func (ch *Change) pasteInstead(err error) error {
	var b strings.Builder
	for _, st := range ch.Steps {
		for _, r := range ch.put {
			if v := ch.doc.at(r.Path...); v != nil && r.Path[len(r.Path)-1] == st.Entry {
				fmt.Fprintf(&b, "%s: %s\n", quote(st.Entry), ch.doc.of(v))
			}
		}
	}
	if b.Len() == 0 {
		return err
	}
	return &PasteError{err, b.String()}
}

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
