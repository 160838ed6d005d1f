package schema_test

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acptap/acptap/inspect/conform/schema"
	"github.com/acptap/acptap/proxy/wire"
)

// beyond fits what one of the two validators does not judge, or is slow at: depth and
// exponents.
var beyond = regexp.MustCompile(`[\[{]{60}|[0-9][eE][+-]?[0-9]{3}`)

// FuzzCheck: any bytes are checked without a panic, and JSON fits where the oracle
// says so.
func FuzzCheck(f *testing.F) {
	all := messages(f)
	for i, m := range all {
		f.Add(i, m.value)
	}
	o := newOracle(f)
	f.Fuzz(func(t *testing.T, i int, value []byte) {
		m := all[uint(i)%uint(len(all))]
		s := m.shape()
		if s == nil {
			return
		}
		got := fits(s, value)
		if !frameable(value) || len(bytes.TrimSpace(value)) < len(value) {
			return
		}
		if want := o.fits(t, m.pointer(), value); got != want {
			t.Errorf("%v\n%s\nfits: got %v, want %v; found: %q", m, value, got, want, problems(s, value))
		}
	})
}

// frameable reports whether a value can stand in a frame that is judged, and by both
// validators.
func frameable(value []byte) bool {
	return utf8.Valid(value) && json.Valid(value) && !beyond.Match(value) && wire.Scan([]byte(`{"method":"m","params":`+string(value)+`}`)).Kind == wire.Notification
}

// FuzzCompile: any bytes are compiled without a panic or are not, and what could be
// compiled checks any bytes.
func FuzzCompile(f *testing.F) {
	for _, tt := range compileTests {
		f.Add([]byte(tt.schema), []byte(tt.fits[0]))
	}
	f.Fuzz(func(t *testing.T, text, value []byte) {
		s, err := schema.Compile(text)
		if err != nil {
			return
		}
		found := problems(s, value)
		if len(found) > 100 {
			t.Errorf("%d problems", len(found))
		}
		if again := problems(s, value); strings.Join(again, "\n") != strings.Join(found, "\n") {
			t.Errorf("first %q, then %q", found, again)
		}
	})
}
