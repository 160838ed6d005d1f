package dialect

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// A walker turns JSON into fields.
type walker struct {
	all    bool // also include values that otherwise never count
	edits  bool // sessionId is the id of a next-edit session
	depth  int
	fields []Field
}

// maxWalk limits how deep values are taken apart. Anything deeper is one field, which
// keeps paths short.
const maxWalk = 64

// walk adds the fields of key's value. In foreign JSON, keys have no meaning. Members are
// sorted by name. Empty params or an empty result are the same as none (ACP's prose calls
// empty results null).
func (w *walker) walk(path, key string, value []byte, foreign bool) {
	w.depth++
	defer func() { w.depth-- }()
	empty := true
	switch {
	case w.depth > maxWalk:
		empty = false
		w.fields = append(w.fields, Field{Path: path, Value: canonical(value)})
	case len(value) == 0, path == "" && string(value) == "null":
		return
	case value[0] == '{':
		members := map[string][]byte{} // the last of each name counts
		for key, value := range wire.Members(value) {
			members[string(key)] = value
		}
		for _, key := range slices.Sorted(maps.Keys(members)) {
			if !w.all && uncounted(key) && !foreign {
				continue
			}
			empty = false
			w.walk(MemberPath(path, key), key, members[key], foreign || ofOthers(key))
		}
	case value[0] == '[':
		for n, element := range wire.Elements(value) {
			empty = false
			w.walk(ElementPath(path, n), key, element, foreign)
		}
	default:
		empty = false
		class := Plain
		if !foreign {
			class = classes()[key]
		}
		if class == SessionID && w.edits {
			class = EditSessionID
		}
		w.add(path, value, class)
	}
	if empty && path != "" {
		w.fields = append(w.fields, Field{Path: path, Value: string([]byte{value[0], value[0] + 2})})
	}
}

// uncounted reports whether a key's values never count: secrets, and _meta, whose meaning
// must not be assumed.
func uncounted(key string) bool { return key == "_meta" || key == "headers" || key == "env" }

// ofOthers reports whether the contents of a key's value are defined by neither ACP nor
// MCP.
func ofOthers(key string) bool {
	return key == "rawInput" || key == "rawOutput" || key == "arguments" || key == "_meta"
}

func (w *walker) add(path string, value []byte, class Class) {
	if len(value) > 0 {
		w.fields = append(w.fields, Field{path, canonical(value), class})
	}
}

func (w *walker) addText(path, text string) {
	w.fields = append(w.fields, Field{Path: path, Value: quote(text)})
}

// MemberPath returns the path of a member below a path, spelled as in Field. A key that
// could be read as a path is quoted.
func MemberPath(path, key string) string {
	switch {
	case key == "", strings.ContainsAny(key, `.[]"`):
		return path + "[" + string(wire.Encode(key)) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

// ElementPath returns the path of an element below a path, spelled as in Field.
func ElementPath(path string, n int) string { return path + "[" + strconv.Itoa(n) + "]" }

// canonical returns a value in canonical spelling, or as a string if it is not JSON
// because it was cut off.
func canonical(value []byte) string {
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.InputOffset() != int64(len(value)) {
		return quote(string(value))
	}
	return string(wire.Encode(respell(v)))
}

// respell brings strings and numbers into canonical spelling.
func respell(v any) any {
	switch v := v.(type) {
	case string:
		return strings.ReplaceAll(v, "\r\n", "\n")
	case json.Number:
		return json.Number(number(string(v)))
	case []any:
		for i := range v {
			v[i] = respell(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = respell(v[key])
		}
	}
	return v
}

// number spells equal JSON numbers alike: integers exactly, others as ECMAScript does.
func number(s string) string {
	if !strings.ContainsAny(s, ".eE") {
		if s == "-0" {
			return "0"
		}
		return s
	}
	f, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil:
		return s
	case f == 0:
		return "0"
	case math.Abs(f) < 1e21 && math.Abs(f) >= 1e-6:
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return strconv.FormatFloat(f, 'e', -1, 64)
}

func quote(s string) string { return string(wire.Encode(strings.ReplaceAll(s, "\r\n", "\n"))) }
