package wire

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// A Value is a parsed JSON value: an object, an array, a string, a number, true, false,
// null, or none, which is the zero Value. It shares no memory with the bytes it was read
// from.
//
// If members of one object have the same name, the last one counts, as in Scan, Get and
// Set; the others appear nowhere in a Value, not even in Raw or ForEach. The text should be
// one that Scan accepts as JSON. Other text gives an arbitrary Value.
type Value struct {
	kind gjson.Type
	raw  string
	text string // of a string
	num  float64
}

// ValueOf reads a JSON text.
func ValueOf[T ~[]byte | ~string](json T) Value {
	return valueOf(gjson.ParseBytes(withoutRepeats([]byte(json))))
}

// ValueAt reads the value at a path in a JSON text; the result is none if nothing is
// there. A path has keys and indexes separated by dots, a backslash before each dot in a
// key (EscapeKey), # for each element of an array, and everything else that gjson's paths
// support.
func ValueAt[T ~[]byte | ~string](json T, path string) Value {
	var room [8]string // on the stack
	if keys := plainKeys(room[:0], path); keys != nil {
		return ValueOf(Get([]byte(json), keys...))
	}
	return valueOf(gjson.GetBytes(withoutRepeats([]byte(json)), path))
}

// plainKeys appends the keys of a path that consists only of keys, or returns nil. Get
// reads these without searching the rest of the text for repeats.
func plainKeys(keys []string, path string) []string {
	start := 0
	for i := 0; i <= len(path); i++ {
		if i < len(path) && path[i] != '.' {
			if c := path[i] | 0x20; path[i] != '_' && !('a' <= c && c <= 'z') && !('0' <= c && c <= '9') {
				return nil
			}
			continue
		}
		if i == start {
			return nil
		}
		keys = append(keys, path[start:i])
		start = i + 1
	}
	return keys
}

// JSON is a text in which no object repeats a member name, such as a part of an envelope,
// or the Raw of a Value. Reading it skips the search for repeats, which takes longer than
// finding one value.
type JSON []byte

// Value reads the text.
func (j JSON) Value() Value { return valueOf(gjson.ParseBytes(j)) }

// Get reads the value at a path: see ValueAt.
func (j JSON) Get(path string) Value { return valueOf(gjson.GetBytes(j, path)) }

// valueOf converts what gjson has read. It decodes strings with surrogates itself because
// gjson mishandles half a pair: that becomes the replacement character, and the escape
// sequence after it is kept.
func valueOf(r gjson.Result) Value {
	if r.Type == gjson.String && len(r.Str) < len(r.Raw)-2 && (strings.Contains(r.Raw, `\ud`) || strings.Contains(r.Raw, `\uD`)) {
		if text, ok := Unquote([]byte(r.Raw)); ok {
			r.Str = string(text)
		}
	}
	return Value{r.Type, r.Raw, r.Str, r.Num}
}

// result converts v back to gjson's form. A Value omits some of its fields, which makes
// copies cheap.
func (v Value) result() gjson.Result {
	return gjson.Result{Type: v.kind, Raw: v.raw, Str: v.text, Num: v.num}
}

// Get returns the value at a path: see ValueAt.
func (v Value) Get(path string) Value { return valueOf(gjson.Get(v.raw, path)) }

// Exists reports whether there is a value, which may be null.
func (v Value) Exists() bool { return v.kind != gjson.Null || v.raw != "" }

// IsObject reports whether the value is an object.
func (v Value) IsObject() bool { return v.begins('{') }

// IsArray reports whether the value is an array.
func (v Value) IsArray() bool { return v.begins('[') }

func (v Value) begins(c byte) bool { return v.kind == gjson.JSON && len(v.raw) > 0 && v.raw[0] == c }

// IsString reports whether the value is a string.
func (v Value) IsString() bool { return v.kind == gjson.String }

// IsNumber reports whether the value is a number.
func (v Value) IsNumber() bool { return v.kind == gjson.Number }

// IsTrue reports whether the value is true.
func (v Value) IsTrue() bool { return v.kind == gjson.True }

// IsFalse reports whether the value is false.
func (v Value) IsFalse() bool { return v.kind == gjson.False }

// IsNull reports whether the value is null or none.
func (v Value) IsNull() bool { return v.kind == gjson.Null }

// Raw returns the value as JSON, as it was sent but without members that do not count, or
// nothing if there is no value.
func (v Value) Raw() string { return v.raw }

// Text returns the text of a string, or nothing for any other value.
func (v Value) Text() string { return v.text }

// String returns the text of a string, and any other value as JSON.
func (v Value) String() string { return v.result().String() }

// Float returns a number, or 0 for any other value.
func (v Value) Float() float64 { return v.num }

// Int returns a number, or a string that spells one, truncated to an integer, or 0 for
// any other value.
func (v Value) Int() int64 { return v.result().Int() }

// Uint is Int for numbers that are not negative.
func (v Value) Uint() uint64 { return v.result().Uint() }

// Bool reports whether the value is true, a number other than 0, or a string that says so.
func (v Value) Bool() bool { return v.result().Bool() }

// Array returns the elements of an array, no elements for null or none, and any other
// value as the only element.
func (v Value) Array() []Value {
	list := v.result().Array()
	values := make([]Value, len(list))
	for i, r := range list {
		values[i] = valueOf(r)
	}
	return values
}

// ForEach calls yield for each member of an object, with its name, or each element of an
// array, until yield returns false. It treats any other value but null as the only
// element.
func (v Value) ForEach(yield func(name, value Value) bool) {
	v.result().ForEach(func(name, value gjson.Result) bool { return yield(valueOf(name), valueOf(value)) })
}

// EscapeKey returns a key escaped for use in a path.
func EscapeKey(key string) string { return gjson.Escape(key) }

// AppendText appends a text as a JSON string.
func AppendText(b []byte, text string) []byte { return gjson.AppendJSONString(b, text) }

// IsJSON reports whether a text is one JSON value.
func IsJSON(text []byte) bool {
	s := scanner{b: text}
	s.blanks()
	if !s.value() {
		return false
	}
	s.blanks()
	return s.i == len(s.b) && (!s.high || utf8.Valid(text))
}
