package filter_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/frames/filter"
)

func TestComplete(t *testing.T) {
	values := func(key string) []string {
		return map[string][]string{
			"method":    {"session/update", "fs/read_text_file", "ping"},
			"session":   {"s 1", "other"},
			".":         {"params.x", "params.update.kind", "a b"},
			".params.x": {"true", "(no)"},
		}[key]
	}
	tests := []struct {
		query string
		want  string // from text, separated by commas
	}{
		{"", "0 method:, 0 update:, 0 kind:, 0 dir:, 0 is:, 0 failure:, 0 slow:, 0 stop:, 0 outcome:, 0 permission:, 0 rule:, 0 by:, 0 session:, 0 turn:, 0 tool:, 0 server:, 0 id:, 0 text:, 0 latency:, 0 time:, 0 size:, 0 seq:, 0 stream:, 0 origin:"},
		{"SE", "0 session:, 0 server:, 0 seq:"},
		{"a !(se", "4 session:, 4 server:, 4 seq:"},
		{`session:"s `, `8 "s 1"`},
		{"se", "0 session:, 0 server:, 0 seq:"},
		{"a|se", "2 session:, 2 server:, 2 seq:"},
		{"kind:", "5 invalid, 5 request, 5 response, 5 notification, 5 batch, 5 oversized, 5 stderr, 5 mark, 5 body"},
		{"by:", "3 client, 3 agent"},
		{"permission:", "11 allowed, 11 rejected, 11 cancelled"},
		{"outcome:to", `8 "token limit reached"`},
		{"stop:ca", "5 cancelled"},
		{"is:n", "3 note, 3 open, 3 cancelled, 3 finding, 3 violation, 3 warning"},
		{"kind:re", "5 request, 5 response"},
		{"kind>re", ""},
		{"kinds:re", ""},
		{"method:up", "7 session/update"},
		{"method~up", ""},
		{"session:", `8 "s 1", 8 other`},
		{".par", "0 .params.x:, 0 .params.update.kind:"},
		{"`a", "0 `a b`:"},
		{".params.x:", `10 true, 10 "(no)"`},
		{"`params.x`=t", "11 true"},
		{`"se`, ""},
		{`"se" m`, "5 method:, 5 outcome:, 5 permission:, 5 time:, 5 stream:"},
	}
	for _, tt := range tests {
		var got []string
		for _, c := range filter.Complete(tt.query, values) {
			got = append(got, fmt.Sprintf("%d %s", c.From, c.Text))
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: got  %s\nwant %s", tt.query, got, tt.want)
		}
	}
}
