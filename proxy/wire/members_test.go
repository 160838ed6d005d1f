package wire_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
)

var patchTests = []struct{ name, message, path, set, deleted string }{
	{"there", `{"a": {"b" : 1, "c":2}}`, "a.b", `{"a": {"b" : 7, "c":2}}`, `{"a": {"c":2}}`},
	{"the last", `{"a":{"c":2 , "b":1 }}`, "a.b", `{"a":{"c":2 , "b":7 }}`, `{"a":{"c":2 }}`},
	{"in the middle", `{"x":0,"b":1,"y":2}`, "b", `{"x":0,"b":7,"y":2}`, `{"x":0,"y":2}`},
	{"the only one", `{ "b":1 }`, "b", `{ "b":7 }`, `{ }`},
	{"missing", `{"a":{"c":2 }}`, "a.b", `{"a":{"c":2,"b":7 }}`, ""},
	{"missing in an empty object", `{"a":{ }}`, "a.b", `{"a":{"b":7 }}`, ""},
	{"parents missing", `{"x":0}`, "a.b.c", `{"x":0,"a":{"b":{"c":7}}}`, ""},
	{"a list for an object", `{"a":[],"x":1}`, "a.b", `{"a":{"b":7},"x":1}`, ""},
	{"a full list for an object", `{"a":[1,{"b":2}],"x":1}`, "a.b", `{"a":{"b":7},"x":1}`, ""},
	{"null for an object", `{"a":null,"x":1}`, "a.b.c", `{"a":{"b":{"c":7}},"x":1}`, ""},
	{"a string for an object", `{"a":"{\"b\":1}"}`, "a.b", `{"a":{"b":7}}`, ""},
	{"a list for all", `[]`, "a.b", `{"a":{"b":7}}`, ""},
	{"a number for all", ` 0 `, "a", ` {"a":7} `, ""},
	{"nothing at all", ``, "a", `{"a":7}`, ""},
	{"an element", `{"a":[{"b":1},{"b":2}]}`, "a.1.b", `{"a":[{"b":1},{"b":7}]}`, `{"a":[{"b":1},{}]}`},
	{"a whole element", `[1, 2 ,3]`, "1", `[1, 7 ,3]`, `[1 ,3]`},
	{"the first element", `[1 , 2]`, "0", `[7 , 2]`, `[2]`},
	{"no such element", `[1]`, "1", `{"1":7}`, ""},
	{"given twice", `{"b":1,"x":2,"b":{"c":3}}`, "b", `{"b":1,"x":2,"b":7}`, `{"x":2}`},
	{"an escaped key", `{"\u0062":1}`, "b", `{"\u0062":7}`, `{}`},
	{"a dot in a key", `{"a.b":1}`, "a.b", `{"a.b":1,"a":{"b":7}}`, ""},
}

func TestPatch(t *testing.T) {
	for _, tt := range patchTests {
		path := strings.Split(tt.path, ".")
		if got := string(wire.Set([]byte(tt.message), []byte("7"), path...)); got != tt.set {
			t.Errorf("%s: set %s in %s: got %s, want %s", tt.name, tt.path, tt.message, got, tt.set)
		}
		if got := string(wire.Get([]byte(tt.set), path...)); got != "7" {
			t.Errorf("%s: at %s in %s: got %q", tt.name, tt.path, tt.set, got)
		}
		want := tt.deleted
		if want == "" {
			want = tt.message
		}
		if got := string(wire.Delete([]byte(tt.message), path...)); got != want {
			t.Errorf("%s: delete %s in %s: got %s, want %s", tt.name, tt.path, tt.message, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	for _, tt := range []struct {
		path, message string
		want          []string
	}{
		{"params.id", `{"params":{"id":1}}`, []string{"1"}},
		{"params.id", `{"params":{"id":1},"params":{"id":2,"id":"x"}}`, []string{`"x"`}},
		{"params.id", `{"params":[]}`, nil},
		{"params.id", ``, nil},
		{"params.#.id", `{"params":[{"id":1},{"no":2},{"id":3,"id":4}]}`, []string{"1", "4"}},
		{"params.#.id", `{"params":{"#":{"id":1}}}`, nil},
		{`_meta.a\.b/c.d`, `{"_meta":{"a.b/c":{"d":{}}}}`, []string{"{}"}},
	} {
		var got []string
		for _, s := range wire.Find([]byte(tt.message), tt.path) {
			got = append(got, tt.message[s.Start:s.End])
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s in %s: got %q, want %q", tt.path, tt.message, got, tt.want)
		}
	}
}

// FuzzPatch takes any text and any path. JSON stays JSON, and the value that was set is
// there.
func FuzzPatch(f *testing.F) {
	for _, tt := range patchTests {
		f.Add([]byte(tt.message), tt.path)
	}
	f.Fuzz(func(t *testing.T, message []byte, dotted string) {
		path := strings.Split(dotted, ".")
		set := wire.Set(message, []byte(`"new"`), path...)
		deleted := wire.Delete(message, path...)
		if !json.Valid(message) || !utf8.ValidString(dotted) {
			return
		}
		if !json.Valid(set) || !json.Valid(deleted) {
			t.Fatalf("%s in %s: set gives %s, delete gives %s", dotted, message, set, deleted)
		}
		if got := string(wire.Get(set, path...)); got != `"new"` {
			t.Errorf("%s in %s: set gives %s, where there is %q", dotted, message, set, got)
		}
		if again := wire.Set(set, []byte(`"new"`), path...); string(again) != string(set) {
			t.Errorf("%s in %s: set gives %s, and then %s", dotted, message, set, again)
		}
	})
}
