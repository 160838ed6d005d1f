package frametext_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

func TestJSON(t *testing.T) {
	start := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	invalid := dialect.Frame{Frame: wire.Frame{Seq: 1, Kind: wire.Invalid, Raw: []byte("a\xff"), Size: 2}}
	late := tape(`> {"method":"ping"}`)[0]
	late.At = 1_726_298 * time.Microsecond
	large := dialect.Frame{Frame: wire.Frame{Seq: 1, Kind: wire.Oversized, Raw: []byte(`{"method":"_x"`), Size: 2 << 20}}
	tests := []struct {
		name  string
		frame dialect.Frame
		start time.Time
		want  string
	}{
		{"request", tape(`> {"id":1, "method":"tools/call","params":{"name":"<a>"}}`)[0], start,
			`{"seq":1,"at":0.01,"time":"2026-11-21T10:00:00.01Z","dir":"c2a","origin":"wire","kind":"request","method":"tools/call","size":55,"summary":"<a>","frame":{"id":1, "method":"tools/call","params":{"name":"<a>"}}}`},
		{"update", tape(`< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan_removed"}}}`)[0], time.Time{},
			`{"seq":1,"at":0.01,"dir":"a2c","origin":"wire","kind":"notification","method":"session/update","update":"plan_removed","session":"s","size":96,"summary":"","frame":{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan_removed"}}}}`},
		{"time", late, time.Time{}, `{"seq":1,"at":1.726298,"dir":"c2a","origin":"wire","kind":"notification","method":"ping","size":17,"summary":"","frame":{"method":"ping"}}`},
		{"stderr", tape("! \x1b[1mslow")[0], time.Time{}, `{"seq":1,"at":0.01,"dir":"err","origin":"wire","kind":"stderr","size":8,"summary":"slow","text":"\u001b[1mslow"}`},
		{"mark", tape(`> mark {"eof":true}`)[0], time.Time{}, `{"seq":1,"at":0.01,"dir":"c2a","origin":"wire","kind":"mark","size":12,"summary":"client closed its end","mark":{"eof":true}}`},
		{"invalid UTF-8", invalid, time.Time{}, `{"seq":1,"at":0,"dir":"c2a","origin":"wire","kind":"invalid","size":2,"failure":"invalid","summary":"a�","base64":"Yf8="}`},
		{"what steers a terminal", tape("< {\"method\":\"_x\u009b\",\r\"params\":{\"a\":\"\x7f\u202eé\"}}")[0], time.Time{},
			`{"seq":1,"at":0.01,"dir":"a2c","origin":"wire","kind":"notification","method":"_x\u009b","size":42,"summary":"{\"a\":\"␡�é\"}","frame":{"method":"_x\u009b", "params":{"a":"\u007f\u202eé"}}}`},
		{"large", large, time.Time{}, `{"seq":1,"at":0,"dir":"c2a","origin":"wire","kind":"oversized","size":2097152,"summary":""}`},
	}
	for _, tt := range tests {
		got, err := frametext.JSON(&filter.Subject{Frame: &tt.frame}, tt.start)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.name, got, tt.want)
		}
		if !json.Valid(got) {
			t.Errorf("%s: %s is no JSON", tt.name, got)
		}
	}
}

func TestIndenter(t *testing.T) {
	tests := []struct {
		name, in, want string
		text           bool
	}{
		{name: "message", in: `{"a": [1,{"b" :"x, y: {"},[], { } ],"c":null}`, want: `{
  "a": [
    1,
    {
      "b": "x, y: {"
    },
    [],
    {}
  ],
  "c": null
}
`},
		{name: "string", in: `"a\"b\\"`, want: "\"a\\\"b\\\\\"\n"},
		{name: "controls", in: "[\"a\x7f\u009b\u202eé世\"]", want: "[\n  \"a\\u007f\\u009b\\u202eé世\"\n]\n"},
		{name: "cut off", in: `{"a":"b`, want: "{\n  \"a\": \"b\n"},
		{name: "cut in a character", in: "\"\xe4\xb8", want: "\"��\n"},
		{name: "unbalanced", in: "]]1", want: "\n]\n]1\n"},
		{name: "text", in: "a \x1b[1m{\t}", want: "a \\u001b[1m{\t}\n", text: true},
	}
	for _, tt := range tests {
		for step := 1; step <= len(tt.in); step++ {
			var b strings.Builder
			in := frametext.Indenter{W: &b, Text: tt.text}
			for rest := tt.in; rest != ""; {
				n := min(step, len(rest))
				if _, err := in.Write([]byte(rest[:n])); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := in.Close(); err != nil {
				t.Fatal(err)
			}
			if b.String() != tt.want {
				t.Errorf("%s in steps of %d: got\n%s\nwant\n%s", tt.name, step, b.String(), tt.want)
			}
		}
	}
}

// FuzzIndenter checks that formatted JSON has the same meaning.
func FuzzIndenter(f *testing.F) {
	f.Add(`{"a":[1,{"b":"x, y: {\""},[],{}],"c":null}`)
	f.Fuzz(func(t *testing.T, in string) {
		var b strings.Builder
		indenter := frametext.Indenter{W: &b}
		indenter.Write([]byte(in))
		indenter.Close()
		if wire.Scan([]byte(in)).Kind == wire.Invalid {
			return
		}
		if got, want := compact(t, b.String()), compact(t, in); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func compact(t *testing.T, s string) string {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", s, err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
