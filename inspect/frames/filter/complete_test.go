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
		query string // | is the cursor
		want  string // from-to text, separated by commas
	}{
		{"¦se", "0-2 method:, 0-2 update:, 0-2 kind:, 0-2 dir:, 0-2 is:, 0-2 failure:, 0-2 slow:, 0-2 rule:, 0-2 by:, 0-2 session:, 0-2 turn:, 0-2 tool:, 0-2 server:, 0-2 id:, 0-2 text:, 0-2 latency:, 0-2 time:, 0-2 size:, 0-2 seq:, 0-2 stream:, 0-2 origin:"},
		{"se¦", "0-2 session:, 0-2 server:, 0-2 seq:"},
		{"S¦E", "0-2 slow:, 0-2 session:, 0-2 server:, 0-2 size:, 0-2 seq:, 0-2 stream:, 0-2 is:"},
		{"a !(se¦) b", "4-6 session:, 4-6 server:, 4-6 seq:"},
		{"a|se¦", "2-4 session:, 2-4 server:, 2-4 seq:"},
		{"se¦ssion:x", "0-7 session, 0-7 server, 0-7 seq"},
		{"kind:¦", "5-5 invalid, 5-5 request, 5-5 response, 5-5 notification, 5-5 batch, 5-5 oversized, 5-5 stderr, 5-5 mark, 5-5 body"},
		{"by:¦", "3-3 client, 3-3 agent"},
		{"is:n¦", "3-4 note, 3-4 open, 3-4 finding, 3-4 violation, 3-4 warning"},
		{"kind:re¦", "5-7 request, 5-7 response"},
		{"kind=re¦sp x", "5-9 request, 5-9 response"},
		{"kind>re¦", ""},
		{"kinds:re¦", ""},
		{"method:up¦", "7-9 session/update"},
		{"method~up¦", ""},
		{"session:¦", `8-8 "s 1", 8-8 other`},
		{`session:"s ¦x`, `8-11 "s 1"`},
		{`session:"¦s 1" x`, `8-13 "s 1", 8-13 other`},
		{".par¦", "0-4 .params.x:, 0-4 .params.update.kind:"},
		{"`a¦", "0-2 `a b`:"},
		{".params.x:¦", `10-10 true, 10-10 "(no)"`},
		{"`params.x`=t¦", "11-12 true"},
		{`"se¦`, ""},
		{`"se" m¦`, "5-6 method:, 5-6 time:, 5-6 stream:"},
	}
	for _, tt := range tests {
		before, after, _ := strings.Cut(tt.query, "¦")
		var got []string
		for _, c := range filter.Complete(before+after, len(before), values) {
			got = append(got, fmt.Sprintf("%d-%d %s", c.From, c.To, c.Text))
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s: got  %s\nwant %s", tt.query, got, tt.want)
		}
	}
}
