package trace_test

import (
	"fmt"
	"strings"
	"testing"
)

// Who initializes is introduced each time, who discovers once, unless that failed.
func TestIntroductions(t *testing.T) {
	for _, tt := range []struct {
		name, want string // requests
		tapes      []string
	}{
		{"initialize", "1", []string{`> {"id":1,"method":"initialize","params":{"protocolVersion":1}}`}},
		{"twice", "1 3", []string{`> {"id":1,"method":"initialize","params":{"protocolVersion":1}}
			< {"id":1,"error":{"code":1,"message":"again"}}
			> {"id":2,"method":"initialize","params":{"protocolVersion":1}}`}},
		{"discover", "1", []string{`> {"id":1,"method":"server/discover","params":{}}
			< {"id":1,"result":{"supportedVersions":["2026-07-28"]}}
			> {"id":2,"method":"server/discover","params":{}}
			< {"id":2,"result":{"supportedVersions":["2026-07-28"]}}`}},
		{"discover in vain", "3", []string{`> {"id":1,"method":"server/discover","params":{}}
			< {"id":1,"error":{"code":-32601,"message":"not found"}}
			> {"id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`}},
		{"tapes", "1 1", []string{`> {"id":1,"method":"initialize","params":{"protocolVersion":1}}`, `> {"id":1,"method":"initialize","params":{"protocolVersion":1}}`}},
	} {
		var got []string
		for _, c := range build(t, tt.tapes...).Introductions() {
			got = append(got, fmt.Sprint(c.Request))
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: got the requests %v, want %s", tt.name, got, tt.want)
		}
	}
}
