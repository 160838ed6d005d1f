package wire

import (
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// A Value is a JSON value that is read: an object, an array, a string, a number, true,
// false, null, or none, which is the zero Value. It is independent of the bytes that it
// was read from.
//
// Of members of an object that have the same name the last one counts, as in Scan, Get
// and Set: the others are in no Value, also not in Raw and Members. The text should be
// one that Scan found to be JSON. Of anything else a Value makes something.
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

// ValueAt reads the value at a path of a JSON text: keys and indexes with dots between,
// a dot in a key escaped by a backslash (EscapeKey), # for each element of an array, and
// what else gjson's paths select by. The value is none if nothing is there.
func ValueAt[T ~[]byte | ~string](json T, path string) Value {
	return valueOf(gjson.GetBytes(withoutRepeats([]byte(json)), path))
}

// JSON is a text in which no object has two members of one name, such as a part of an
// envelope, or the Raw of a Value. It is read without a look for them, which takes longer
// than to find one value.
type JSON []byte

// Value reads the text.
func (j JSON) Value() Value { return valueOf(gjson.ParseBytes(j)) }

// Get reads the value at a path: see ValueAt.
func (j JSON) Get(path string) Value { return valueOf(gjson.GetBytes(j, path)) }

// valueOf returns what gjson has read, and reads escapes in a string again that gjson
// reads in its own way: half of a surrogate pair is the replacement character, and the
// escape sequence after it counts too.
func valueOf(r gjson.Result) Value {
	if r.Type == gjson.String && len(r.Str) < len(r.Raw)-2 && (strings.Contains(r.Raw, `\ud`) || strings.Contains(r.Raw, `\uD`)) {
		if text, ok := Unquote([]byte(r.Raw)); ok {
			r.Str = string(text)
		}
	}
	return Value{r.Type, r.Raw, r.Str, r.Num}
}

// result is v for gjson. A Value does not keep all of it, so that copies are small.
func (v Value) result() gjson.Result {
	return gjson.Result{Type: v.kind, Raw: v.raw, Str: v.text, Num: v.num}
}

// Get returns the value at a path: see ValueAt.
func (v Value) Get(path string) Value { return valueOf(gjson.Get(v.raw, path)) }

// Exists reports whether there is a value, be it null.
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

// Raw returns the value as JSON, as it was sent but for members that do not count;
// nothing if there is none.
func (v Value) Raw() string { return v.raw }

// Text returns the text of a string, nothing for any other value.
func (v Value) Text() string { return v.text }

// String returns the text of a string, and any other value as JSON.
func (v Value) String() string { return v.result().String() }

// Float returns a number, 0 for any other value.
func (v Value) Float() float64 { return v.num }

// Int returns a number, or a text that is one, without what stands behind its point; 0
// for any other value.
func (v Value) Int() int64 { return v.result().Int() }

// Uint is Int for numbers that are not negative.
func (v Value) Uint() uint64 { return v.result().Uint() }

// Bool reports whether the value is true, a number but 0, or a text that says so.
func (v Value) Bool() bool { return v.result().Bool() }

// Array returns the elements of an array; any other value but null is the only one.
func (v Value) Array() []Value {
	list := v.result().Array()
	values := make([]Value, len(list))
	for i, r := range list {
		values[i] = valueOf(r)
	}
	return values
}

// ForEach calls yield for each member of an object, with its name, and for each element
// of an array, until yield returns false. Any other value but null is the only one.
func (v Value) ForEach(yield func(name, value Value) bool) {
	v.result().ForEach(func(name, value gjson.Result) bool { return yield(valueOf(name), valueOf(value)) })
}

// EscapeKey returns a key as it stands in a path.
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
