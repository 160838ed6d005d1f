package dialect

import (
	"strings"
	"testing"
)

// TestProposals checks that proposals are not part of the protocol, and have a source.
func TestProposals(t *testing.T) {
	for name, p := range proposals() {
		method, member, _ := strings.Cut(name, "#")
		_, known := Lookup(p.Protocol, method)
		if row, update := LookupUpdate(name); update && !row.Proposed() || known != (member != "") {
			t.Errorf("%s: is it of the protocol? %v", name, known || update)
		}
		if len(p.Month) != len("2026-08") || !strings.HasPrefix(p.Source, "https://") || p.Title == "" {
			t.Errorf("%s: %+v", name, p)
		}
	}
	if p, ok := LookupProposed(ACP, "session/inject"); !ok || p.Title != "Mid-turn Input" || len(p.Offers) != 1 {
		t.Errorf("got %+v, %v", p, ok)
	}
	if _, ok := LookupProposed(MCP, "session/inject"); ok {
		t.Error("session/inject is of ACP")
	}
}
