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
	// maxSize is far larger than any settings file.
	maxSize = 16 << 20

	// maxValues bounds the syntax tree, which takes about 200 bytes per value and several
	// times that while it is edited. Large settings, such as those in which Claude Code keeps
	// past prompts, consist of long strings.
	maxValues = 1 << 18

	// maxDepth bounds hujson, which recurses.
	maxDepth = 1000
)

// A document is the bytes of settings with their syntax tree, whose offsets refer to text.
type document struct {
	bom  []byte // a byte order mark, which is not JSON
	text []byte
	root hujson.Value
}

// parse reads JSON, or JSON with comments and trailing commas.
func parse(data []byte) (*document, error) {
	d := &document{text: data}
	if mark := []byte("\uFEFF"); bytes.HasPrefix(data, mark) {
		d.bom, d.text = mark, data[len(mark):]
	}
	switch {
	case len(data) > maxSize:
		return nil, fmt.Errorf("it has more than %d MiB", maxSize>>20)
	case tooDeep(d.text):
		return nil, fmt.Errorf("it is nested more than %d levels deep", maxDepth)
	case values(d.text) > maxValues:
		return nil, fmt.Errorf("it has more than %d values, which no client writes", maxValues)
	case bytes.HasPrefix(data, []byte("\xFE\xFF")), bytes.HasPrefix(data, []byte("\xFF\xFE")):
		return nil, errors.New("it is in UTF-16, not in UTF-8")
	case len(bytes.TrimSpace(d.text)) == 0:
		return nil, errors.New("it is empty")
	}
	// hujson requires a line break after a comment; clients also accept the end of the
	// file.
	root, err := hujson.Parse(append(slices.Clip(d.text), '\n'))
	if err != nil {
		return nil, errors.New(strings.ToValidUTF8(strings.TrimPrefix(err.Error(), "hujson: "), string(utf8.RuneError)))
	}
	d.root = root
	if _, ok := root.Value.(*hujson.Object); !ok {
		return nil, errors.New("it holds no object")
	}
	return d, nil
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

// values returns the approximate number of values and names.
func values(text []byte) (n int) {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case ',', ':', '{', '[':
			n++
		case '"':
			i = endOfString(text, i+1)
		case '/':
			i = endOfComment(text, i+1)
		}
	}
	return n
}

// endOfString returns the position of the quote that ends the string that begins at i.
func endOfString(text []byte, i int) int {
	for ; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// endOfComment returns the position at which the comment ends whose second character is at i.
func endOfComment(text []byte, i int) int {
	rest := text[min(i, len(text)):]
	end := -1
	switch {
	case bytes.HasPrefix(rest, []byte("/")):
		end = bytes.IndexByte(rest, '\n')
	case bytes.HasPrefix(rest, []byte("*")):
		end = bytes.Index(rest[1:], []byte("*/")) + 2 // of the slash
		if end == 1 {
			end = -1
		}
	default:
		return i - 1 // not a comment
	}
	if end < 0 {
		return len(text)
	}
	return i + end
}

// bytes returns the document with its byte order mark.
func (d *document) bytes() []byte { return slices.Concat(d.bom, d.text) }

// of returns the bytes of a value.
func (d *document) of(v *hujson.Value) []byte { return d.text[v.StartOffset:v.EndOffset] }

// at returns the value at a path of member names, or nil.
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

// member returns a member of an object, or nil. If a name occurs twice, the last one
// counts, as it does for the clients.
func member(v *hujson.Value, name string) *hujson.ObjectMember {
	members := membersOf(v)
	for i := len(members) - 1; i >= 0; i-- {
		if text(&members[i].Name) == name {
			return &members[i]
		}
	}
	return nil
}

// membersOf returns the members of an object, or none if v is not an object.
func membersOf(v *hujson.Value) []hujson.ObjectMember {
	if object, ok := v.Value.(*hujson.Object); ok {
		return object.Members
	}
	return nil
}

// value returns the value of a member, or nil if it is missing or null.
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

// meaning returns the decoded document, which ignores spelling.
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
