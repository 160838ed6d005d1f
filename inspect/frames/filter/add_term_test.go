package filter_test

import (
	"testing"

	"github.com/acptap/acptap/inspect/frames/filter"
)

func TestAdd(t *testing.T) {
	tests := []struct {
		name, query, key, value string
		exclude                 bool
		want                    string
	}{
		{"to nothing", "", "method", "session/update", false, "method:session/update"},
		{"not", "", "method", "session/update", true, "!method:session/update"},
		{"to a text", "a", "kind", "mark", true, "a !kind:mark"},
		{"to an or", "a | b", "dir", "c2a", false, "(a | b) dir:c2a"},
		{"again", "kind:mark a", "kind", "mark", false, "kind:mark a"},
		{"again, as written", "( kind:mark )", "kind", "mark", false, "( kind:mark )"},
		{"the opposite", "!kind:mark a", "kind", "mark", false, "a kind:mark"},
		{"the opposite of not", "kind:mark", "kind", "mark", true, "!kind:mark"},
		{"no prefix", "", "session", "s1", false, "session=s1"},
		{"no glob", "", "method", "a*", false, "method=a*"},
		{"quotes", "", "session", `a "b" \`, false, `session="a \"b\" \\"`},
		{"no other operator", "", "text", "=x", true, "!=x"},
		{"a path", "", ".params.x", "1..2", false, `.params.x="1..2"`},
		{"an odd path", "", filter.PathKey(`params.a\.b`), "true", false, "`params.a\\.b`=true"},
		{"a number", "", "seq", "7", false, "seq:7"},
	}
	for _, tt := range tests {
		got, err := filter.Add(tt.query, tt.key, tt.value, tt.exclude)
		if err != nil || got != tt.want {
			t.Errorf("%s: got %s, %v, want %s", tt.name, got, err, tt.want)
		}
		if _, err := filter.Parse(got); err != nil {
			t.Errorf("%s: %v", got, err)
		}
	}
	for _, tt := range []struct{ query, key, value string }{
		{"(", "method", "x"}, {"a", "kind", "x"}, {"a", "nothing", "x"}, {"a", "`@this`", "x"},
	} {
		if got, err := filter.Add(tt.query, tt.key, tt.value, false); err == nil || got != tt.query {
			t.Errorf("%s to %q: got %q, %v", tt.key, tt.query, got, err)
		}
	}
}

func TestPathKey(t *testing.T) {
	for path, want := range map[string]string{
		"params.update.0.x-y_z": ".params.update.0.x-y_z",
		"params.a b":            "`params.a b`",
		"params.a`b":            "`params.a?b`",
		`_meta.io\.x/y`:         "`_meta.io\\.x/y`",
	} {
		if got := filter.PathKey(path); got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
