package filter_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// FuzzParse checks that what can be parsed is its own text, that errors stand in
// the query, and that terms can be added and completed anywhere.
func FuzzParse(f *testing.F) {
	for _, tt := range matchTests {
		f.Add(tt.query, 3)
	}
	for _, tt := range stringTests {
		f.Add(tt.query, 5)
	}
	for _, tt := range errorTests {
		f.Add(tt.query[:min(len(tt.query), 1000)], 7)
	}
	f.Fuzz(func(t *testing.T, query string, cursor int) {
		values := func(string) []string { return []string{query, "a", "1..2", `"`} }
		if 0 <= cursor && cursor <= len(query) {
			for _, c := range filter.Complete(query[:cursor], values) {
				if c.From < 0 || c.From > cursor {
					t.Errorf("%q: completed from %d", query[:cursor], c.From)
				}
			}
		}
		got, err := filter.Parse(query)
		if err != nil {
			e, ok := err.(*filter.SyntaxError)
			if !ok || e.Pos < 0 || e.Pos > len(query) || e.Query != query {
				t.Errorf("%q: error %#v", query, err)
			}
			e.Caret()
			return
		}
		checkString(t, got)
		for _, key := range []string{"text", "session", ".a"} {
			longer, err := filter.Add(query, key, query, cursor%2 == 0)
			if err != nil {
				continue // RE2, paths and numbers take no backquotes or other texts
			}
			both, err := filter.Parse(longer)
			if err != nil {
				t.Errorf("%q and %s become %q: %v", query, key, longer, err)
			}
			checkString(t, both)
		}
	})
}

// FuzzMatch checks that a query and its opposite split all frames, and that what
// May says of a frame without its bytes is true.
func FuzzMatch(f *testing.F) {
	for _, tt := range matchTests {
		for name, s := range subjects() {
			if strings.Contains(tt.want, name) {
				f.Add(tt.query, s.Raw, uint8(s.Kind))
			}
		}
	}
	deep := []byte(`{"id":1,"params":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}")
	f.Add("`params.#.#.#.#`:1 | .params.*.*:x", deep, uint8(wire.Response))
	f.Fuzz(func(t *testing.T, query string, raw []byte, kind uint8) {
		want, err := filter.Parse(query)
		if err != nil {
			return
		}
		frame := wire.Frame{Seq: 1, Raw: raw, Size: int64(len(raw)), Kind: wire.Scan(raw).Kind}
		if k := wire.Kind(kind); k == wire.Stderr {
			frame.Kind = k
		}
		about, _ := dialect.NewTracker(dialect.AnyProtocol).Observe(&frame, wire.Scan(raw))
		fits := dialect.Frame{Frame: frame, Annotation: about}
		var tr filter.Tracker
		s := tr.Observe(&fits)
		checkBare(t, want, &s)
		if not, err := filter.Parse("!(" + query + "\n)"); err == nil && !want.IsZero() && not.Match(&s) == want.Match(&s) {
			t.Errorf("%q and its opposite agree on %q", query, raw)
		}
	})
}

// FuzzText checks the search for texts against one that decodes and folds all
// there is.
func FuzzText(f *testing.F) {
	for _, text := range []string{"a", "hi", "Hi", "café", "naïve\n\"x\"", "😀", "kelvin", "θ", `\n`, "\ufffd", ""} {
		for _, in := range []string{"some text with hi", "CAFÉ naïve\n\"X\"", "😀\u212aelvin", "\\nx\\u0041", strings.Repeat("\"", 3000) + "hi"} {
			f.Add(text, in, true)
			f.Add(text, in, false)
		}
	}
	f.Fuzz(func(t *testing.T, text, in string, ascii bool) {
		if !utf8.ValidString(in) {
			return
		}
		raw, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if ascii {
			raw = escapeAll(in)
		}
		want, err := filter.Is("text", text)
		if err != nil {
			t.Fatal(err)
		}
		s := filter.Subject{Frame: &dialect.Frame{Frame: wire.Frame{Kind: wire.Notification, Raw: raw, Size: int64(len(raw))}}}
		if got, want := want.Match(&s), has(string(raw), text) || has(`"`+in+`"`, text); got != want {
			t.Errorf("%q in %s: got %t, want %t", text, raw, got, want)
		}
	})
}

// has reports whether text stands in s, and does so slowly.
func has(s, text string) bool {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsUpper) {
		return strings.Contains(s, text)
	}
	fold := func(s string) string {
		return strings.Map(func(r rune) rune { // to the least of those that are one
			least := r
			for c := unicode.SimpleFold(r); c != r; c = unicode.SimpleFold(c) {
				least = min(least, c)
			}
			return least
		}, s)
	}
	return strings.Contains(fold(s), fold(text))
}

// escapeAll writes a JSON string with every third character as an escape.
func escapeAll(s string) []byte {
	var b bytes.Buffer
	b.WriteByte('"')
	for i, r := range []rune(s) {
		if i%3 != 0 && r >= ' ' && r != '"' && r != '\\' {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&b, `\u%04X`, unit)
		}
	}
	b.WriteByte('"')
	return b.Bytes()
}
