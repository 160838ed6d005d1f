package wire_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
)

var scanTests = []struct {
	name, in string
	kind     wire.Kind
	id       string
	method   string
}{
	{"request", `{"jsonrpc":"2.0","id":1,"method":"a/b","params":{}}`, wire.Request, "1", "a/b"},
	{"string id", `{"id":"1","method":"x"}`, wire.Request, `"1"`, "x"},
	{"null id", `{"id":null,"method":"x"}`, wire.Request, "null", "x"},
	{"large id", `{"id":9007199254740993,"method":"x"}`, wire.Request, "9007199254740993", "x"},
	{"id at the end", `{"method":"x","params":[1,{"id":2}],"id":7}`, wire.Request, "7", "x"},
	{"notification", `{"method":"x"}`, wire.Notification, "", "x"},
	{"response", `{"id":3,"result":null}`, wire.Response, "3", ""},
	{"error without id", `{"id":null,"error":{"code":-32700,"message":"no"}}`, wire.Response, "null", ""},
	{"blanks", " { \"id\" : 1 ,\t\"method\" : \"x\" } ", wire.Request, "1", "x"},
	{"escaped name", `{"\u0069d":1,"method":"session\/new"}`, wire.Request, "1", "session/new"},
	{"last one counts", `{"id":1,"id":2,"method":"a","method":"b"}`, wire.Request, "2", "b"},
	{"members inside do not count", `{"params":{"id":1,"method":"x"},"result":1}`, wire.Response, "", ""},
	{"batch", `[{"id":1,"method":"x"},{"method":"y"}]`, wire.Batch, "", ""},
	{"empty batch", `[]`, wire.Batch, "", ""},
	{"nothing", ``, wire.Invalid, "", ""},
	{"blank", " \t", wire.Invalid, "", ""},
	{"number", `42`, wire.Invalid, "", ""},
	{"text", `hello`, wire.Invalid, "", ""},
	{"empty object", `{}`, wire.Invalid, "", ""},
	{"some object", `{"a":1}`, wire.Invalid, "", ""},
	{"method is no string", `{"id":1,"method":5}`, wire.Invalid, "", ""},
	{"cut off", `{"id":1,"method":"x"`, wire.Invalid, "", ""},
	{"two", `{"id":1,"method":"x"}{}`, wire.Invalid, "", ""},
	{"comma at the end", `{"id":1,"method":"x",}`, wire.Invalid, "", ""},
	{"byte order mark", "\ufeff" + `{"id":1,"method":"x"}`, wire.Invalid, "", ""},
	{"invalid UTF-8", `{"id":1,"method":"` + "\xff" + `"}`, wire.Invalid, "", ""},
	{"lone surrogate", `{"id":1,"method":"x","params":"\ud800"}`, wire.Request, "1", "x"},
	{"control byte", `{"id":1,"method":"x","params":"` + "\x01" + `"}`, wire.Invalid, "", ""},
	{"leading zero", `{"id":01,"method":"x"}`, wire.Invalid, "", ""},
	{"bad escape", `{"id":1,"method":"\x"}`, wire.Invalid, "", ""},
	{"deep", `{"id":1,"method":"x","params":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + `}`, wire.Request, "1", "x"},
	{"too deep", `{"id":1,"method":"x","params":` + strings.Repeat("[", 10000) + strings.Repeat("]", 10000) + `}`, wire.Oversized, "1", "x"},
	{"long", `{"id":1,"method":"x","params":"` + strings.Repeat("y", wire.MaxChecked) + `"}`, wire.Oversized, "1", "x"},
	{"long response", `{"id":1,"result":"` + strings.Repeat("y", wire.MaxChecked) + `"}`, wire.Oversized, "1", ""},
	{"long text", strings.Repeat("y", 2*wire.MaxChecked), wire.Invalid, "", ""},
	{"only brackets", strings.Repeat("[", 2*wire.MaxChecked), wire.Oversized, "", ""},
}

func TestScan(t *testing.T) {
	for _, tt := range scanTests {
		t.Run(tt.name, func(t *testing.T) {
			e := wire.Scan([]byte(tt.in))
			if e.Kind != tt.kind || string(e.ID) != tt.id || string(e.Method) != tt.method {
				t.Errorf("Scan(%.80q) = %v, id %q, method %q; want %v, %q, %q", tt.in, e.Kind, e.ID, e.Method, tt.kind, tt.id, tt.method)
			}
		})
	}
}

// The beginning of a message is never taken for invalid, wherever it ends.
func TestScanPrefix(t *testing.T) {
	in := `{ "id" : -12.50e+3 , "method":"a\u0041\\","params":[true,false,null,0,{"é":1E9}],"error":{ } }`
	for n := 1; n <= len(in); n++ {
		if e := wire.ScanPrefix([]byte(in[:n])); e.Kind != wire.Oversized {
			t.Errorf("ScanPrefix(%q) = %v, want %v", in[:n], e.Kind, wire.Oversized)
		}
	}
	for _, in := range []string{`{"id":1x`, `{"a":[1x`, `{"id":-"`, `{"id":1.}`, `{"id":nul}`, `{"id":tru `, `{"id":1e,`, `{"a" 1`, `{"a":"\x----`, `x`} {
		if e := wire.ScanPrefix([]byte(in)); e.Kind != wire.Invalid {
			t.Errorf("ScanPrefix(%q) = %v, want %v", in, e.Kind, wire.Invalid)
		}
	}
}

func TestScanMembers(t *testing.T) {
	e := wire.Scan([]byte(`{"sessionId":"s","params":{"a":[1, 2]},"result":"x","error":{"code":1}}`))
	for _, tt := range []struct{ name, got, want string }{
		{"params", string(e.Params), `{"a":[1, 2]}`},
		{"result", string(e.Result), `"x"`},
		{"error", string(e.Error), `{"code":1}`},
		{"session", string(e.Session), `"s"`},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}

func TestEntries(t *testing.T) {
	var got []string
	wire.Entries([]byte(` [ {"id":1} , "x",[2,3] ] `), func(i int, entry []byte) bool {
		got = append(got, string(entry))
		return i < 2
	})
	if want := `{"id":1} "x" [2,3]`; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Scan accepts exactly the JSON that encoding/json accepts, except for invalid UTF-8, and
// finds the same members.
func FuzzScan(f *testing.F) {
	for _, tt := range scanTests {
		if len(tt.in) < 1000 {
			f.Add([]byte(tt.in))
		}
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		e := wire.Scan(in)
		valid := json.Valid(in) && utf8.Valid(in)
		if !valid && e.Kind != wire.Invalid && e.Kind != wire.Oversized {
			t.Fatalf("%q is no JSON, and Scan says %v", in, e.Kind)
		}
		trimmed := bytes.TrimLeft(in, " \t\r\n")
		if valid && len(trimmed) > 0 && trimmed[0] == '[' && e.Kind != wire.Batch {
			t.Fatalf("%q is an array, and Scan says %v", in, e.Kind)
		}
		var m map[string]json.RawMessage
		if !valid || json.Unmarshal(in, &m) != nil {
			return
		}
		method, has := m["method"]
		if has && (len(method) == 0 || method[0] != '"') {
			if e.Kind != wire.Invalid {
				t.Fatalf("%q: its method is no string, and Scan says %v", in, e.Kind)
			}
			return
		}
		_, id := m["id"]
		_, result := m["result"]
		_, failed := m["error"]
		want := wire.Invalid
		switch {
		case has && id:
			want = wire.Request
		case has:
			want = wire.Notification
		case id, result, failed:
			want = wire.Response
		}
		if e.Kind != want {
			t.Fatalf("%q: Scan says %v, want %v", in, e.Kind, want)
		}
		if want == wire.Invalid {
			return
		}
		distinct := func(name string) []byte { return []byte(wire.ValueOf(m[name]).Raw()) }
		if !bytes.Equal(e.ID, distinct("id")) || !bytes.Equal(e.Params, distinct("params")) || !bytes.Equal(e.Result, distinct("result")) || !bytes.Equal(e.Error, distinct("error")) {
			t.Fatalf("%q: id %s, params %s, result %s, error %s", in, e.ID, e.Params, e.Result, e.Error)
		}
		var name string
		if json.Unmarshal(method, &name); has && string(e.Method) != name && !strings.Contains(name, "\ufffd") {
			t.Fatalf("%q: method %q, want %q", in, e.Method, name)
		}
	})
}

func FuzzEntries(f *testing.F) {
	f.Add([]byte(`[{"id":1,"method":"x"},{"method":"y"}]`))
	f.Add([]byte(`[]`))
	f.Fuzz(func(t *testing.T, in []byte) {
		if wire.Scan(in).Kind != wire.Batch {
			return
		}
		var want []json.RawMessage
		if err := json.Unmarshal(in, &want); err != nil {
			t.Fatal(err)
		}
		n := 0
		wire.Entries(in, func(i int, entry []byte) bool {
			if i != n || n >= len(want) || !bytes.Equal(entry, want[n]) {
				t.Fatalf("%q: entry %d is %q", in, i, entry)
			}
			n++
			return true
		})
		if n != len(want) {
			t.Fatalf("%q: %d entries, want %d", in, n, len(want))
		}
	})
}

// conversation returns the lines of a tape of a real agent.
func conversation(tb testing.TB) [][]byte {
	tb.Helper()
	b, err := os.ReadFile("testdata/chunks.jsonl")
	if err != nil {
		tb.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(b), []byte("\n"))
}

func BenchmarkScan(b *testing.B) {
	frames := conversation(b)
	size := 0
	for _, f := range frames {
		size += len(f)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		for _, f := range frames {
			wire.Scan(f)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(frames)), "ns/frame")
}

func BenchmarkSplitter(b *testing.B) {
	stream := append(bytes.Join(conversation(b), []byte("\n")), '\n')
	var s wire.Splitter
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		s.Feed(stream, func([]byte, wire.LineEnd, bool) {})
	}
}

func TestMessageKind(t *testing.T) {
	for in, want := range map[string]wire.Kind{
		`{"id":1,"method":"x","params":{`: wire.Request,
		`{"method":"x","params":{`:        wire.Notification,
		`{"id":1,"result":{`:              wire.Response,
		`{"result":{`:                     wire.Invalid,
		`hello`:                           wire.Invalid,
	} {
		if got := wire.ScanPrefix([]byte(in)).MessageKind(); got != want {
			t.Errorf("%s: got %v, want %v", in, got, want)
		}
	}
	if got := wire.Scan([]byte(`{"id":1,"method":"x"}`)).MessageKind(); got != wire.Request {
		t.Errorf("a whole message: got %v, want %v", got, wire.Request)
	}
}
