package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/acptap/acptap/proxy/wire"
)

const (
	// maxSize is far above the size of any settings file.
	maxSize = 16 << 20

	// maxDepth bounds hujson, which recurses.
	maxDepth = 1000
)

// A document is the bytes of settings with their syntax tree, whose offsets refer to text.
type document struct {
	bom  []byte // a byte order mark, which is not JSON
	text []byte
	root hujson.Value
}

// A SyntaxError says why settings cannot be parsed.
type SyntaxError struct {
	Line, Column int // from 1; 0 if the error has no single place
	What         string
}

func (e *SyntaxError) Error() string {
	if e.Line == 0 {
		return e.What
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.What)
}

// parse reads JSON, or JSON with comments and trailing commas.
func parse(data []byte) (*document, error) {
	d := &document{text: data}
	if mark := []byte("\uFEFF"); bytes.HasPrefix(data, mark) {
		d.bom, d.text = mark, data[len(mark):]
	}
	switch {
	case len(data) > maxSize:
		return nil, &SyntaxError{What: fmt.Sprintf("it has more than %d MiB", maxSize>>20)}
	case tooDeep(d.text):
		return nil, &SyntaxError{What: fmt.Sprintf("it is nested more than %d levels deep", maxDepth)}
	case bytes.HasPrefix(data, []byte("\xFE\xFF")), bytes.HasPrefix(data, []byte("\xFF\xFE")):
		return nil, &SyntaxError{What: "it is in UTF-16, not in UTF-8"}
	case len(bytes.TrimSpace(d.text)) == 0:
		return nil, &SyntaxError{What: "it is empty"}
	}
	// hujson requires a line break after a comment; clients also accept the end of the
	// file.
	root, err := hujson.Parse(append(slices.Clip(d.text), '\n'))
	if err != nil {
		return nil, syntaxError(err)
	}
	d.root = root
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, &SyntaxError{What: "it holds no object"}
	}
	return d, nil
}

func syntaxError(err error) error {
	e := &SyntaxError{What: err.Error()}
	if inner := errors.Unwrap(err); inner != nil {
		fmt.Sscanf(err.Error(), "hujson: line %d, column %d", &e.Line, &e.Column)
		e.What = inner.Error()
	}
	e.What = strings.ToValidUTF8(e.What, string(utf8.RuneError))
	return e
}

// tooDeep reports whether brackets may be nested too deeply. It also counts those in
// strings and comments.
func tooDeep(text []byte) bool {
	depth := 0
	for _, c := range text {
		switch c {
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth = max(0, depth-1)
		}
	}
	return false
}

// bytes returns the document with its byte order mark.
func (d *document) bytes() []byte { return slices.Concat(d.bom, d.text) }

// of returns the bytes of a value.
func (d *document) of(v *hujson.Value) []byte { return d.text[v.StartOffset:v.EndOffset] }

// at returns the value at a path of member names, nil if there is none.
func (d *document) at(path ...string) *hujson.Value {
	v := &d.root
	for _, name := range path {
		m := member(v, name)
		if m == nil {
			return nil
		}
		v = &m.Value
	}
	return v
}

// member returns a member of an object, nil if there is none. If a name occurs twice, the
// last one counts, as for the clients.
func member(v *hujson.Value, name string) *hujson.ObjectMember {
	members := membersOf(v)
	for i := len(members) - 1; i >= 0; i-- {
		if text(&members[i].Name) == name {
			return &members[i]
		}
	}
	return nil
}

// membersOf returns the members of an object, none if v is something else.
func membersOf(v *hujson.Value) []hujson.ObjectMember {
	if object, ok := v.Value.(*hujson.Object); ok {
		return object.Members
	}
	return nil
}

// value returns the value of a member, nil if it is missing or null.
func value(v *hujson.Value, name string) *hujson.Value {
	m := member(v, name)
	if m == nil || m.Value.Value.Kind() == 'n' {
		return nil
	}
	return &m.Value
}

// text returns the text of a string, or the JSON of any other value.
func text(v *hujson.Value) string {
	literal, _ := v.Value.(hujson.Literal)
	return literal.String()
}

func isString(v *hujson.Value) bool { return v != nil && v.Value.Kind() == '"' }

// meaning returns the decoded document, in which spelling does not matter.
func (d *document) meaning() (any, error) {
	plain := d.root.Clone()
	plain.Standardize()
	decoder := json.NewDecoder(bytes.NewReader(plain.Pack()))
	decoder.UseNumber()
	var v any
	err := decoder.Decode(&v)
	return v, err
}

// An edit replaces text[from:to].
type edit struct {
	from, to int
	text     string
}

// splice applies edits, which must not overlap.
func (d *document) splice(edits ...edit) (*document, error) {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var text []byte
	at := 0
	for _, e := range edits {
		text = append(append(text, d.text[at:e.from]...), e.text...)
		at = e.to
	}
	return parse(slices.Concat(d.bom, text, d.text[at:]))
}

// quote returns a string as JSON with as few escapes as possible.
func quote(s string) string {
	return string(wire.Encode(s))
}

// quoteAll returns strings as the elements of a JSON array.
func quoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w)
	}
	return strings.Join(quoted, ", ")
}
