package schema

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// A part holds what one schema object's own keywords require. References, entries of
// allOf and unions are separate parts that apply, too.
type part struct {
	id    int
	name  string // of the definition; empty for any other part
	all   []*part
	not   []*part
	union []*part // if not nil, the part is only this union
	one   bool    // exactly one branch of the union must fit (oneOf), rather than at least one

	types  types
	enum   []literal // nil: any value
	limits []limit

	members    []member
	required   []string
	additional *part // for unlisted members; nil: any
	open       bool  // it explicitly allows other members
	prefix     []*part
	items      *part // for elements after prefix; nil: any

	lenient  bool     // typed clients replace a value that does not fit by the default
	skips    bool     // typed clients drop elements that do not fit
	unstable bool     // only the unstable schema has it
	removed  []string // members that it had in an earlier version
	other    []string // members that it has in another version
}

type member struct {
	name string
	part *part
}

// A reader makes parts from a schema's text.
type reader struct {
	text  []byte           // the whole schema
	known map[string]*part // by JSON pointer, such as /$defs/Tool
	defs  map[string][]byte
	parts int
	old   bool // before 2019-09 $ref overrides its siblings
}

var errKeyword = errors.New("the keyword is not known here")

// maxParts limits the parts of one schema. Our largest, for ACP version 2, has 2,132.
const maxParts = 8_000

func newReader(text []byte) *reader {
	return &reader{text: text, known: map[string]*part{}}
}

func (r *reader) make() *part {
	r.parts++
	return &part{id: r.parts, types: anyType}
}

// node returns a schema's node.
func (r *reader) node(text []byte, j *joiner) (*node, error) {
	p, err := r.schema(text)
	if err != nil {
		return nil, err
	}
	return j.join(p)
}

// schema parses one schema.
func (r *reader) schema(text []byte) (*part, error) {
	p := r.make()
	return p, r.into(p, text)
}

func (r *reader) into(p *part, text []byte) error {
	switch {
	case r.parts > maxParts:
		return fmt.Errorf("more than %d schemas", maxParts)
	case string(text) == "true":
		return nil
	case string(text) == "false":
		p.types = 0
		return nil
	case len(text) == 0 || text[0] != '{':
		return fmt.Errorf("a schema is neither an object nor true or false")
	}
	if ref := wire.Get(text, "$ref"); r.old && len(ref) > 0 {
		return r.keyword(p, "$ref", ref)
	}
	seen := map[string]bool{}
	for name, value := range wire.Members(text) {
		if seen[string(name)] {
			return fmt.Errorf("%s: the keyword occurs twice", name)
		}
		seen[string(name)] = true
		if err := r.keyword(p, string(name), value); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// keyword parses one keyword of JSON Schema 2020-12, of ACP's reference SDK
// (x-deserialize-…), or of testdata/generate (x-unstable, x-removed, x-other).
func (r *reader) keyword(p *part, name string, value []byte) (err error) {
	switch name {
	case "type":
		p.types, err = typesOf(value)
	case "enum":
		var values [][]byte
		for _, v := range wire.Elements(value) {
			values = append(values, v)
		}
		err = p.allow(values...)
	case "const":
		err = p.allow(value)
	case "properties":
		err = r.properties(p, value)
	case "required":
		p.required = texts(value)
	case "additionalProperties":
		p.additional, err = r.schema(value)
		p.open = string(value) != "false"
	case "unevaluatedProperties":
		if p.open = true; string(value) != "true" {
			err = errKeyword
		}
	case "propertyNames":
		if kind := wire.Get(value, "type"); string(value) != `{"type":"string"}` && wire.Text(kind) != "string" {
			err = errKeyword
		}
	case "items":
		p.items, err = r.schema(value)
	case "prefixItems":
		p.prefix, err = r.list(value)
	case "allOf":
		var all []*part
		all, err = r.list(value)
		p.all = append(p.all, all...)
	case "anyOf", "oneOf":
		u := r.make()
		u.one = name == "oneOf"
		u.union, err = r.list(value)
		p.all = append(p.all, u)
	case "not":
		var not *part
		not, err = r.schema(value)
		p.not = append(p.not, not)
	case "$ref":
		var target *part
		target, err = r.refer(wire.Text(value))
		p.all = append(p.all, target)
	case "x-deserialize-default-on-error":
		p.lenient = string(value) == "true"
	case "x-deserialize-skip-invalid-items":
		p.skips = string(value) == "true"
	case "x-unstable":
		p.unstable = string(value) == "true"
	case "x-removed":
		p.removed = texts(value)
	case "x-other":
		p.other = texts(value)
	case "$id":
		if p.id > 1 { // it would change what $ref means
			err = errKeyword
		}
	default:
		if _, ok := bounds[name]; ok {
			var l limit
			l, err = limitOf(name, value)
			p.limits = append(p.limits, l)
		} else if !slices.Contains(annotations[:], name) {
			err = errKeyword
		}
	}
	return err
}

// annotations are keywords that require nothing. Since 2019-09 these include format.
var annotations = [...]string{
	"$comment", "$defs", "$schema", "contentEncoding", "contentMediaType", "default", "definitions", "deprecated", "description",
	"discriminator", "example", "examples", "format", "readOnly", "title", "writeOnly",
}

func (r *reader) properties(p *part, value []byte) error {
	for name, value := range wire.Members(value) {
		of, err := r.schema(value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.members = append(p.members, member{string(name), of})
	}
	return nil
}

func (r *reader) list(value []byte) ([]*part, error) {
	var list []*part
	for _, element := range wire.Elements(value) {
		p, err := r.schema(element)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// refer returns the schema at a JSON pointer within the text (RFC 6901).
func (r *reader) refer(to string) (*part, error) {
	pointer, ok := strings.CutPrefix(to, "#")
	if !ok {
		return nil, fmt.Errorf("%q is outside of the schema", to)
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil {
		return nil, err
	}
	if p := r.known[pointer]; p != nil {
		return p, nil
	}
	keys := strings.Split(pointer, "/")
	for i := range keys[1:] {
		keys[i+1] = strings.ReplaceAll(strings.ReplaceAll(keys[i+1], "~1", "/"), "~0", "~")
	}
	target := r.at(keys[1:])
	if len(target) == 0 || keys[0] != "" {
		return nil, fmt.Errorf("there is no %q", to)
	}
	p := r.make()
	if len(keys) == 3 && (keys[1] == "$defs" || keys[1] == "definitions") {
		p.name = keys[2]
	}
	r.known[pointer] = p // before parsing, since it may refer to itself
	return p, r.into(p, target)
}

// at returns the text at a path. It indexes definitions once, because searching the whole
// text for each would take most of the time.
func (r *reader) at(path []string) []byte {
	switch {
	case len(path) == 0:
		return r.text
	case len(path) == 2 && path[0] == "$defs":
		if r.defs == nil {
			r.defs = map[string][]byte{}
			for name, value := range wire.Members(wire.Get(r.text, "$defs")) {
				r.defs[string(name)] = value
			}
		}
		return r.defs[path[1]]
	}
	return wire.Get(r.text, path...)
}

// allow adds the values of enum or const. If a schema has both, both must allow a value.
func (p *part) allow(values ...[]byte) error {
	allowed := []literal{}
	for _, value := range values {
		l, ok := literalOf(value)
		if !ok {
			return errors.New("a value that is an object or an array")
		}
		allowed = append(allowed, l)
	}
	p.enum = common(p.enum, allowed)
	return nil
}

func texts(array []byte) (list []string) {
	for _, element := range wire.Elements(array) {
		list = append(list, wire.Text(element))
	}
	return list
}
