package wire_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

var readerTests = []struct {
	name, text string
	tokens     string
}{
	{"an object", `{"a":1, "b" : "x"}`, `{ :"a" 0:1 :"b" ":"x" }`},
	{"nested", `[{"a":[]},null,-1e5]`, `[ { :"a" [ ] } 0:null 0:-1e5 ]`},
	{"brackets and colons in a string", `["}]:{","\":"]`, `[ ":"}]:{" ":"\":" ]`},
	{"escapes", `{"\"":"\\"}`, `{ :"\"" ":"\\" }`},
	{"a string alone", `"a"`, `":"a"`},
	{"nothing", ``, ``},
	{"blanks", " \t\r\n", ``},
	{"cut off in a string", `{"a":"b`, `{ :"a" ":"b`},
	{"cut off in an escape", `{"a":"b\"`, `{ :"a" ":"b\"`},
	{"cut off in a name", `{"a`, `{ ":"a`},
	{"cut off in a number", `[12`, `[ 0:12`},
}

func tokens(text []byte) []string {
	var list []string
	r := wire.Reader{Text: text}
	for t, start := r.Next(); t != wire.NoToken; t, start = r.Next() {
		s := string(text[start:r.Pos])
		switch t {
		case wire.MemberName:
			s = ":" + s
		case wire.String:
			s = `":` + s
		case wire.Literal:
			s = "0:" + s
		}
		list = append(list, s)
	}
	return list
}

func TestReaderNext(t *testing.T) {
	for _, tt := range readerTests {
		if got := strings.Join(tokens([]byte(tt.text)), " "); got != tt.tokens {
			t.Errorf("%s, %s: got %s, want %s", tt.name, tt.text, got, tt.tokens)
		}
	}
}

func TestReaderMembers(t *testing.T) {
	r := wire.Inside([]byte(`{"a": {"b":[1,"}"]} , "\u0063":2,"d":"x`), '{')
	var got []string
	for name, value, ok := r.Member(); ok; name, value, ok = r.Member() {
		got = append(got, string(name)+"="+string(value))
	}
	if want := []string{`a={"b":[1,"}"]}`, `c=2`, `d="x`}; !slices.Equal(got, want) {
		t.Errorf("members: got %q, want %q", got, want)
	}
	r = wire.Inside([]byte(`[ 1,{"a":[]} ,"]"]`), '[')
	got = nil
	for value, ok := r.Element(); ok; value, ok = r.Element() {
		got = append(got, string(value))
	}
	if want := []string{`1`, `{"a":[]}`, `"]"`}; !slices.Equal(got, want) {
		t.Errorf("elements: got %q, want %q", got, want)
	}
	r = wire.Inside([]byte(`[1]`), '{')
	if _, _, ok := r.Member(); ok {
		t.Error("an array has a member")
	}
}

// FuzzReader takes any text. All three ways of reading it end, and for JSON the tokens are
// those of encoding/json.
func FuzzReader(f *testing.F) {
	for _, tt := range readerTests {
		f.Add([]byte(tt.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got := tokens(text)
		for _, open := range []byte("{[") {
			r := wire.Inside(text, open)
			for _, _, ok := r.Member(); ok; _, _, ok = r.Member() {
			}
			r = wire.Inside(text, open)
			for _, ok := r.Element(); ok; _, ok = r.Element() {
			}
		}
		if !json.Valid(text) {
			return
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		for _, token := range got {
			want, err := d.Token()
			if err != nil {
				t.Fatalf("%s: got %s, want no token (%v)", text, token, err)
			}
			var same bool
			switch want := want.(type) {
			case json.Delim:
				same = token == want.String()
			case string:
				_, quoted, _ := strings.Cut(token, `"`)
				if token[0] == '"' {
					quoted = token[len(`":"`):]
				}
				read, ok := wire.Unquote([]byte(`"` + quoted))
				same = ok && strings.ToValidUTF8(string(read), "\ufffd") == want || strings.Contains(want, "\ufffd")
			default:
				same = strings.HasPrefix(token, "0:")
			}
			if !same {
				t.Fatalf("%s: got %s, want %v", text, token, want)
			}
		}
		if d.More() {
			t.Fatalf("%s: tokens are missing behind %q", text, got)
		}
	})
}

// TestInteger: a number without a fraction is an integer, however it is spelled.
func TestInteger(t *testing.T) {
	tests := []struct {
		in   string
		want int64
		ok   bool
	}{
		{"7", 7, true},
		{"-32601", -32601, true},
		{"1.0", 1, true},
		{"1e3", 1000, true},
		{"9007199254740993", 9007199254740993, true},
		{"-9223372036854775808", math.MinInt64, true},
		{"1.5", 0, false},
		{`"7"`, 0, false},
		{"null", 0, false},
		{"", 0, false},
		{"1e300", 0, false},
		{strings.Repeat("1", 40), 0, false},
	}
	for _, tt := range tests {
		if got, ok := wire.Integer([]byte(tt.in)); got != tt.want || ok != tt.ok {
			t.Errorf("Integer(%s) = %d, %v; want %d, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}
