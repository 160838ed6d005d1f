package termtext_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/acptap/acptap/record/termtext"
)

var wireTests = []struct{ name, in, text, line, brief string }{
	{"clean", "a b", "a b", "a b", "a b"},
	{"nothing", "", "", "", ""},
	{"blanks", "  a  b ", "  a  b ", "  a  b ", "a b"},
	{"other blanks", "a\u00a0\u3000b", "a\u00a0\u3000b", "a\u00a0\u3000b", "a b"},
	{"lines", "a\n\nb\n", "a\n\nb\n", "a↵↵b↵", "a ↵ b ↵"},
	{"other line ends", "a\r\nb\rc\u2028d\u0085e\v", "a\nb\nc\nd\ne\n", "a↵b↵c↵d↵e↵", "a ↵ b ↵ c ↵ d ↵ e ↵"},
	{"only a line end", "\n", "\n", "↵", "↵"},
	{"tabs", "a\tb\n\tc", "a   b\n    c", "a   b↵    c", "a b ↵ c"},
	{"colours", "a\x1b[1;38:5:9mb\x1b[0m", "ab", "ab", "ab"},
	{"cursor", "a\x1b[2J\x1b[?25lb", "ab", "ab", "ab"},
	{"title", "a\x1b]0;t\ab\x1b]8;;u\x1b\\c", "abc", "abc", "abc"},
	{"a sequence without an end", "a\x1b[12", "a␛[12", "a␛[12", "a␛[12"},
	{"a string without an end", "a\x1b]0;t\nb", "a␛]0;t\nb", "a␛]0;t↵b", "a␛]0;t ↵ b"},
	{"other controls", "\x00\b\x7f\u009b", "␀␈␡\ufffd", "␀␈␡\ufffd", "␀␈␡\ufffd"},
	{"direction of writing", "a\u202eb\u2066c", "a\ufffdb\ufffdc", "a\ufffdb\ufffdc", "a\ufffdb\ufffdc"},
	{"no UTF-8", "a\xff\xc3", "a\ufffd\ufffd", "a\ufffd\ufffd", "a\ufffd\ufffd"},
	{"joined emoji", "👩‍👩‍👧", "👩‍👩‍👧", "👩‍👩‍👧", "👩‍👩‍👧"},
}

func TestWire(t *testing.T) {
	for _, tt := range wireTests {
		t.Run(tt.name, func(t *testing.T) {
			for _, form := range []struct{ name, got, want string }{
				{"Text", termtext.Text(tt.in), tt.text},
				{"Line", termtext.Line(tt.in), tt.line},
				{"Brief", termtext.Brief(tt.in, 0), tt.brief},
			} {
				if form.got != form.want {
					t.Errorf("%s(%q): got %q, want %q", form.name, tt.in, form.got, form.want)
				}
			}
		})
	}
}

var jsonTests = []struct{ name, in, want string }{
	{"clean", `{"a":"\u001bé世"}`, `{"a":"\u001bé世"}`},
	{"delete and C1", "[\"a\x7f\u009b2J\"]", `["a\u007f\u009b2J"]`},
	{"in a name", "{\"\u0085\":1}", `{"\u0085":1}`},
	{"direction of writing", "\"\u202e\u2066\u061c\"", `"\u202e\u2066\u061c"`},
	{"line ends of Unicode", "\"\u2028\u2029\"", `"\u2028\u2029"`},
	{"behind a backslash", "\"\\\\\u009b\"", `"\\\u009b"`},
	{"white space", "{\r\"a\":\n\t1}", "{ \"a\": \t1}"},
	{"no UTF-8", "\"\x9b\"", `"\ufffd"`},
}

func TestJSON(t *testing.T) {
	for _, tt := range jsonTests {
		if got := string(termtext.JSON([]byte(tt.in))); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
}

// FuzzJSON holds that JSON stays the same value, on one line that controls
// nothing.
func FuzzJSON(f *testing.F) {
	for _, tt := range jsonTests {
		f.Add(tt.in)
	}
	f.Fuzz(func(t *testing.T, in string) {
		var want, got any
		if json.Unmarshal([]byte(in), &want) != nil {
			return
		}
		out := termtext.JSON([]byte(in))
		if err := json.Unmarshal(out, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q becomes %q: %v, want %v (%v)", in, out, got, want, err)
		}
		if i := strings.IndexFunc(string(out), func(r rune) bool { return controls(r) && r != '\t' }); i >= 0 || !utf8.Valid(out) {
			t.Errorf("%q becomes %q", in, out)
		}
	})
}

func TestColumns(t *testing.T) {
	for _, tt := range []struct {
		in      string
		columns int
		cut     string
		wrap    string
	}{
		{"", 1, "", ""},
		{"abc", 3, "abc", "abc"},
		{"abcd", 3, "ab…", "abc|d"},
		{"ab cd ef", 5, "ab c…", "ab cd|ef"},
		{"ab  cd", 4, "ab…", "ab|cd"},
		{"日本語", 6, "日本語", "日本語"},
		{"日本語", 5, "日本…", "日本|語"},
		{"日本語", 4, "日…", "日本|語"},
		{"日本", 1, "…", "日|本"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…", "e\u0301e\u0301|e\u0301"},
		{"👩‍👩‍👧a", 2, "…", "👩‍👩‍👧|a"},
	} {
		if got := termtext.Cut(tt.in, tt.columns); got != tt.cut {
			t.Errorf("Cut(%q, %d): got %q, want %q", tt.in, tt.columns, got, tt.cut)
		}
		if got := strings.Join(termtext.Wrap(tt.in, tt.columns), "|"); got != tt.wrap {
			t.Errorf("Wrap(%q, %d): got %q, want %q", tt.in, tt.columns, got, tt.wrap)
		}
	}
	if got, want := strings.Join(termtext.Wrap("a b \n\nc", 0), "|"), "a b||c"; got != want {
		t.Errorf("not wrapped: got %q, want %q", got, want)
	}
	if got, want := termtext.Pad("日本", 6)+"|", "日本  |"; got != want {
		t.Errorf("padded: got %q, want %q", got, want)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 9949: "9.9 kB", 9951: "10 kB", 47_500: "48 kB", 999_499: "999 kB", 999_500: "1.0 MB",
		330_000_000: "330 MB", 999_500_000: "1.0 GB", 52_000_000_000: "52 GB",
	} {
		if got := termtext.ByteSize(n); got != want {
			t.Errorf("ByteSize(%d): got %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0", -999: "-999", -1000: "-1,000", 1000: "1,000", 1234567: "1,234,567"} {
		if got := termtext.Grouped(n); got != want {
			t.Errorf("Grouped(%d): got %q, want %q", n, got, want)
		}
	}
}

func TestPaint(t *testing.T) {
	for _, tt := range []struct {
		style      termtext.Style
		text, want string
	}{
		{termtext.Red, "a", "\x1b[31ma\x1b[0m"},
		{termtext.Red, "", ""},
		{termtext.Plain, "a", "a"},
	} {
		if got := tt.style.Paint(tt.text); got != tt.want {
			t.Errorf("%q in %q: got %q, want %q", tt.text, tt.style, got, tt.want)
		}
	}
}

// FuzzClean holds that nothing in clean text controls a terminal, that clean text
// stays as it is, and that it gets no wider than it may.
func FuzzClean(f *testing.F) {
	for _, tt := range wireTests {
		f.Add(tt.in, uint8(5))
	}
	f.Fuzz(func(t *testing.T, wire string, size uint8) {
		columns := int(size) + 1
		text := termtext.Text(wire)
		for _, line := range append(strings.Split(text, "\n"), termtext.Line(wire), termtext.Brief(wire, columns)) {
			if i := strings.IndexFunc(line, controls); i >= 0 || !utf8.ValidString(line) {
				t.Errorf("%q of %q is not clean", line, wire)
			}
			if again := termtext.Line(line); again != line {
				t.Errorf("%q of %q becomes %q", line, wire, again)
			}
			if cut := termtext.Cut(line, columns); termtext.Width(cut) > columns {
				t.Errorf("%q is wider than %d columns", cut, columns)
			}
		}
		wrapped := termtext.Wrap(text, columns)
		for _, line := range wrapped {
			if termtext.Width(line) > columns && uniseg.GraphemeClusterCount(line) > 1 {
				t.Errorf("%q of %q is wider than %d columns", line, text, columns)
			}
		}
		if got, want := solid(strings.Join(wrapped, "")), solid(text); got != want {
			t.Errorf("wrapped, %q is %q", want, got)
		}
	})
}

func controls(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp, unicode.Bidi_Control)
}

// solid returns text without blanks and line ends, which wrapping may drop.
func solid(text string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(text) }
