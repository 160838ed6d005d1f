package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// TestValue reads random texts with repeated member names, and compares the result with
// encoding/json.
func TestValue(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		text := randomJSON(r, 4)
		var want any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		compareValue(t, text, wire.ValueOf(text), want)
		eachPath(want, nil, func(path []string, want any) {
			at := strings.Join(path, ".")
			compareValue(t, text, wire.ValueAt(text, at), want)
			compareValue(t, text, wire.ValueOf(string(text)).Get(at), want)
			compareValue(t, text, wire.ValueOf(wire.Get(text, path...)), want)
			found := wire.Find(text, at)
			if len(found) != 1 {
				t.Fatalf("%s: Find sees %d values at %s", text, len(found), at)
			}
			compareValue(t, text, wire.ValueOf(text[found[0].Start:found[0].End]), want)
			if set := wire.ValueAt(wire.Set(text, []byte(`"set"`), path...), at); set.Text() != "set" {
				t.Fatalf("%s: after Set at %s there is %s", text, at, set)
			}
		})
		repeats := wire.Repeats(text)
		if len(repeats) > 0 && !wire.Scan([]byte(fmt.Sprintf(`{"id":1,"result":%s}`, text))).Repeats {
			t.Fatalf("%s: Scan sees no repeats", text)
		}
		if n := bytes.Count(text, []byte(":")) - membersOf(want); len(repeats) == 0 != (n == 0) {
			t.Fatalf("%s: %d repeats, but %d members are not in the result", text, len(repeats), n)
		}
	}
}

// randomJSON returns an object or array with few different names, so that many are repeated,
// some of them spelled with escapes. Colons occur only after names.
func randomJSON(r *rand.Rand, depth int) []byte {
	names := []string{`"a"`, `"\u0061"`, `"title"`, `"\u0074itle"`, `"kind of a long name"`, `"kind of a lone name"`, `"b"`, `"\ud83d\ude00"`, `"😀"`, `""`}
	blank := func() string { return []string{"", "", " ", "\n\t"}[r.IntN(4)] }
	var b bytes.Buffer
	b.WriteString(blank())
	switch n := r.IntN(10); {
	case depth > 0 && (n < 5 || depth == 4):
		b.WriteByte('{')
		for i := range r.IntN(7) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(blank() + names[r.IntN(len(names))] + blank() + ":")
			b.Write(randomJSON(r, depth-1))
		}
		b.WriteByte('}')
	case depth > 0 && n < 7:
		b.WriteByte('[')
		for i := range r.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(randomJSON(r, depth-1))
		}
		b.WriteByte(']')
	default:
		b.WriteString([]string{"0", "-1.5e3", "12345678901234567890", "true", "false", "null", `"text"`, `"\n{},\"a\""`, `"\ud800"`, `"\udc00\u0041é"`, `""`}[r.IntN(11)])
	}
	b.WriteString(blank())
	return b.Bytes()
}

func compareValue(t *testing.T, text []byte, v wire.Value, want any) {
	t.Helper()
	if got := plainValue(v); !reflect.DeepEqual(got, want) {
		t.Fatalf("%s: got %#v, want %#v", text, got, want)
	}
	var raw any
	if err := json.Unmarshal([]byte(v.Raw()), &raw); err != nil || !reflect.DeepEqual(raw, want) {
		t.Fatalf("%s: got the JSON %s, want %#v", text, v.Raw(), want)
	}
}

// plainValue returns a value as decoded by encoding/json.
func plainValue(v wire.Value) any {
	switch {
	case v.IsObject():
		members := map[string]any{}
		v.ForEach(func(name, value wire.Value) bool {
			if _, twice := members[name.Text()]; twice {
				members["a member that does not count"] = true
			}
			members[name.Text()] = plainValue(value)
			return true
		})
		return members
	case v.IsArray():
		elements := []any{}
		for _, e := range v.Array() {
			elements = append(elements, plainValue(e))
		}
		return elements
	case v.IsString():
		return v.Text()
	case v.IsNumber():
		return v.Float()
	case v.IsTrue(), v.IsFalse():
		return v.Bool()
	}
	return nil
}

// eachPath calls yield with all that is in a value, and the path to it.
func eachPath(v any, path []string, yield func(path []string, v any)) {
	if len(path) > 0 {
		yield(path, v)
	}
	path = path[:len(path):len(path)]
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name != "" { // gjson has no path for it
				eachPath(member, append(path, name), yield)
			}
		}
	case []any:
		for i, element := range v {
			eachPath(element, append(path, fmt.Sprint(i)), yield)
		}
	}
}

// membersOf returns how many members are in a value.
func membersOf(v any) (n int) {
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			n += 1 + membersOf(member)
		}
	case []any:
		for _, element := range v {
			n += membersOf(element)
		}
	}
	return n
}

func TestRepeats(t *testing.T) {
	many := make([]string, 200)
	for i := range many {
		many[i] = fmt.Sprintf(`"name %d":%d`, i, i)
	}
	deep := strings.Repeat(`{"a":`, 50) + `{"b":1,"b":2}` + strings.Repeat("}", 50)
	for _, tt := range []struct{ text, want string }{
		{`{"a":1,"b":2}`, ""},
		{`{"a":{"a":1},"b":[{"a":1},{"a":1}]}`, ""},
		{`{"a":1, "b":2,"a":3}`, "a:1, "},
		{`{"a":1,"a":2,"a":3}`, "a:1, a:2,"},
		{`{"a":{"b":1,"b":2},"a":3}`, `a:{"b":1,"b":2}, b:1,`},
		{`[{"title":1,"\u0074itle":2}]`, "title:1,"},
		{`{"\u0061":1,"b":2}`, ""},
		{"{" + strings.Join(many, ",") + "}", ""},
		{"{" + strings.Join(many, ",") + `,"name 7":0}`, "name 7:7,"},
		{deep, "b:1,"},
		{`{"a":1,"a":[1,{"b":1,"b":`, "a:1, b:1,"},
		{`{"a":1,"a`, ""},
		{`7`, ""},
		{``, ""},
	} {
		var got []string
		for _, r := range wire.Repeats([]byte(tt.text)) {
			member := tt.text[r.Start:r.End]
			got = append(got, r.Name+member[strings.Index(member, ":"):])
		}
		if got := strings.TrimSpace(strings.Join(got, " ")); got != strings.TrimSpace(tt.want) {
			t.Errorf("%s: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

func FuzzValue(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		f.Add(randomJSON(r, 3))
	}
	f.Add([]byte(`{"a":1,"a":[1,{"b":1,"b":`))
	f.Fuzz(func(t *testing.T, in []byte) {
		v := wire.ValueOf(in)
		v.Get("a.b.0")
		v.ForEach(func(name, value wire.Value) bool { return true })
		if !json.Valid(in) || bytes.Count(in, []byte("[")) > 1000 {
			return
		}
		if wire.Scan(in).Kind == wire.Invalid && !wire.IsJSON(in) {
			return // no UTF-8
		}
		var want, got any
		if json.Unmarshal(in, &want) != nil {
			return // numbers beyond float64
		}
		if err := json.Unmarshal([]byte(v.Raw()), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%q: got %q", in, v.Raw())
		}
	})
}

func TestIsJSON(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, ` [1] `: true, `"a"`: true, `7`: true, `null`: true, `"é"`: true,
		``: false, ` `: false, `{`: false, `{} {}`: false, `{"a":}`: false, "\"\xff\"": false, `nul`: false,
	} {
		if got := wire.IsJSON([]byte(text)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func BenchmarkValueAt(b *testing.B) {
	frames := conversation(b)
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range frames {
			wire.ValueAt(f, "params.update.sessionUpdate")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(frames)), "ns/frame")
}
