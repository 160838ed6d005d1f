package dialect_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// TestIDKey: the same value has the same key, however it is written.
func TestIDKey(t *testing.T) {
	for _, tt := range []struct {
		id, other string
		same      bool
	}{
		{`2.0`, `2`, true},
		{`2e0`, `2`, true},
		{`2.5`, `2`, false},
		{`9007199254740993.0`, `9007199254740992`, false},
		{`"a\/b"`, `"a/b"`, true},
		{`"\u00e9"`, `"é"`, true},
		{`"2.0"`, `"2"`, false},
		{`"2"`, `2`, false},
		{`"\u0032"`, `2`, false},
		{`"a\`, `"a`, false},
		{`null`, `"null"`, false},
	} {
		a, b := dialect.IDKey([]byte(tt.id)), dialect.IDKey([]byte(tt.other))
		if got := a == b; got != tt.same {
			t.Errorf("%s and %s: the same %v, want %v", tt.id, tt.other, got, tt.same)
		}
	}
}

func TestOpenRequests(t *testing.T) {
	const c, a = wire.ClientToAgent, wire.AgentToClient
	long := `"` + strings.Repeat("x", 1000)
	var open dialect.OpenRequests[string]
	open.Ask(c, []byte(`1`), "client's 1")
	open.Ask(a, []byte(`1`), "agent's 1")
	open.Ask(c, []byte(`"1"`), "client's text 1")
	open.Ask(c, []byte(long+`1"`), "long 1")
	open.Ask(c, []byte(long+`2"`), "long 2")
	if got := slices.Collect(open.All()); len(got) != 5 || got[0] != "client's 1" || got[4] != "long 2" {
		t.Errorf("all: got %q", got)
	}
	for _, tt := range []struct {
		dir  wire.Direction // of the response
		id   string
		want string
	}{
		{c, `1`, "agent's 1"},
		{c, `1`, ""},
		{c, `"1"`, ""},
		{a, long + `2"`, "long 2"},
		{a, `"1"`, "client's text 1"},
		{a, `1`, "client's 1"},
		{a, long + `1"`, "long 1"},
	} {
		if got := open.Answer(tt.dir, []byte(tt.id)); got != tt.want {
			t.Errorf("%v %.20s: got %q, want %q", tt.dir, tt.id, got, tt.want)
		}
	}
}

// A request takes the place of one with its id; beyond the bound it takes that of
// the oldest.
func TestOpenRequestsForget(t *testing.T) {
	var open dialect.OpenRequests[int]
	const most = 1 << 16
	for n := 1; n <= most; n++ {
		if replaced, forgotten := open.Ask(wire.ClientToAgent, strconv.AppendInt(nil, int64(n), 10), n); replaced != 0 || forgotten != 0 {
			t.Fatalf("request %d: got %d replaced, %d forgotten", n, replaced, forgotten)
		}
	}
	if replaced, forgotten := open.Ask(wire.ClientToAgent, []byte("1"), -1); replaced != 1 || forgotten != 0 {
		t.Errorf("the same id: got %d replaced, %d forgotten", replaced, forgotten)
	}
	if replaced, forgotten := open.Ask(wire.ClientToAgent, []byte("0"), -2); replaced != 0 || forgotten != 2 {
		t.Errorf("one too many: got %d replaced, %d forgotten", replaced, forgotten)
	}
	if got := open.Find(wire.ClientToAgent, []byte("1")); got != -1 {
		t.Errorf("the newer: got %d", got)
	}
}
