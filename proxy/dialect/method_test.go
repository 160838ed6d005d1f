package dialect_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
)

func TestMethods(t *testing.T) {
	type key struct {
		protocol dialect.Protocol
		name     string
	}
	seen := make(map[key]bool)
	for _, m := range dialect.Methods() {
		k := key{m.Protocol(), m.Name}
		if seen[k] {
			t.Errorf("%v %s stands twice", k.protocol, k.name)
		}
		seen[k] = true
		if got, ok := dialect.Lookup(k.protocol, k.name); !ok || got != m {
			t.Errorf("Lookup(%v, %s): got %+v, %v, want %+v", k.protocol, k.name, got, ok, m)
		}
		if m.Stable|m.Unstable|m.Removed == 0 && m.Proposals == 0 {
			t.Errorf("%v %s stands in no dialect", k.protocol, k.name)
		}
	}
	variants := make(map[string]bool)
	for _, u := range dialect.Updates() {
		if variants[u.Name] {
			t.Errorf("%s stands twice", u.Name)
		}
		variants[u.Name] = true
		if got, ok := dialect.LookupUpdate(u.Name); !ok || got != u {
			t.Errorf("LookupUpdate(%s): got %+v, %v, want %+v", u.Name, got, ok, u)
		}
	}
}

func TestLookup(t *testing.T) {
	for _, tt := range []struct {
		name     string
		protocol dialect.Protocol
		method   string
		want     dialect.Protocol // AnyProtocol: there is none
	}{
		{"both, for ACP", dialect.ACP, "initialize", dialect.ACP},
		{"both, for MCP", dialect.MCP, "initialize", dialect.MCP},
		{"both, for any", dialect.AnyProtocol, "session/delete", dialect.ACP},
		{"MCP's, for any", dialect.AnyProtocol, "tools/list", dialect.MCP},
		{"MCP's, for ACP", dialect.ACP, "tools/list", dialect.AnyProtocol},
		{"a proposal's", dialect.MCP, "terminate", dialect.MCP},
		{"removed", dialect.ACP, "session/set_model", dialect.ACP},
		{"unknown", dialect.AnyProtocol, "x/y", dialect.AnyProtocol},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, ok := dialect.Lookup(tt.protocol, tt.method)
			if ok != (tt.want != dialect.AnyProtocol) || ok && m.Protocol() != tt.want {
				t.Errorf("Lookup(%v, %s): got %+v, %v", tt.protocol, tt.method, m, ok)
			}
		})
	}
}

func TestOnlyNames(t *testing.T) {
	for _, tt := range []struct {
		method string
		events dialect.Events
		want   bool
	}{
		{"session/load", 0, true},
		{"session/load", dialect.SessionOpened, false},
		{"session/close", 0, true},
		{"session/close", dialect.SessionClosed, false},
		{"session/delete", dialect.SessionGone, false},
		{"session/prompt", 0, false},
		{"session/list", 0, false},
		{"x/y", 0, false},
	} {
		a := dialect.Annotation{Method: tt.method, Session: "s", Events: tt.events}
		if got := a.OnlyNames(); got != tt.want {
			t.Errorf("%s with events %b: got %v, want %v", tt.method, tt.events, got, tt.want)
		}
	}
}

func TestSetups(t *testing.T) {
	for _, tt := range []struct {
		protocol        dialect.Protocol
		method          string
		restores, makes bool
	}{
		{dialect.ACP, "session/new", false, true},
		{dialect.ACP, "session/load", true, false},
		{dialect.ACP, "session/resume", true, false},
		{dialect.ACP, "session/fork", false, true},
		{dialect.ACP, "session/close", false, false},
		{dialect.MCP, "sessions/create", false, true},
		{dialect.MCP, "session/load", false, false},
	} {
		role := dialect.RoleOf(tt.protocol, tt.method)
		if role.Is(dialect.Restores) != tt.restores || role.Is(dialect.MakesSession) != tt.makes {
			t.Errorf("%v %s: got %v, %v, want %v, %v", tt.protocol, tt.method, role.Is(dialect.Restores), role.Is(dialect.MakesSession), tt.restores, tt.makes)
		}
	}
}

func TestSessionPath(t *testing.T) {
	for _, tt := range []struct{ method, params, want string }{
		{"session/prompt", `{}`, "params.sessionId"},
		{"session/fork", `{}`, "params.sessionId"},
		{"elicitation/create", `{}`, "params.sessionId"},
		{"session/new", `{}`, ""},
		{"initialize", `{}`, ""},
		{"nes/suggest", `{"sessionId":"n"}`, ""},
		{"x/y", `{}`, "params.sessionId"},
		{"proxy/successor", `{"method":"session/update","params":{}}`, "params.params.sessionId"},
		{"proxy/successor", `{"method":"_proxy/successor","params":{"method":"x/y","params":{}}}`, "params.params.params.sessionId"},
		{"proxy/successor", `{"method":"initialize","params":{}}`, ""},
		{"proxy/successor", strings.Repeat(`{"method":"proxy/successor","params":`, 15) + `{"method":"x/y"}` + strings.Repeat("}", 15), strings.Repeat("params.", 17) + "sessionId"},
		{"proxy/successor", strings.Repeat(`{"method":"proxy/successor","params":`, 16) + `{"method":"x/y"}` + strings.Repeat("}", 16), ""},
	} {
		if got := dialect.SessionPath(tt.method, []byte(tt.params)); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.method, tt.params, got, tt.want)
		}
	}
}
