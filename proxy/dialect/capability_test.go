package dialect_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
)

// Each row of the table is about methods that there are, in dialects that have
// them.
func TestCapabilities(t *testing.T) {
	protocols := []dialect.Protocol{dialect.ACP, dialect.MCP}
	for _, c := range dialect.Capabilities(dialect.Unknown) {
		for _, name := range c.Allows {
			_, known := dialect.LookupUpdate(name)
			for _, p := range protocols {
				if m, ok := dialect.Lookup(p, name); ok && c.Dialects.Has(dialectsOf(p)...) {
					known = true
					if m.From == c.Side && m.Form == dialect.AsRequest {
						t.Errorf("%s: its sender offers %s", name, c.Path)
					}
				}
			}
			if !known {
				t.Errorf("%s allows %s, which is in none of its dialects", c.Path, name)
			}
		}
	}
}

func dialectsOf(p dialect.Protocol) []dialect.Dialect {
	if p == dialect.ACP {
		return []dialect.Dialect{dialect.ACPv1, dialect.ACPv2Early, dialect.ACPv2}
	}
	return []dialect.Dialect{dialect.MCPLegacy, dialect.MCPModern}
}

func TestRequires(t *testing.T) {
	for _, tt := range []struct {
		dialect dialect.Dialect
		method  string
		want    string // the paths in the message that offers it
	}{
		{dialect.ACPv1, "session/load", "result.agentCapabilities.loadSession"},
		{dialect.ACPv2Early, "session/load", "result.capabilities.session.load"},
		{dialect.ACPv1, "session/resume", "result.agentCapabilities.sessionCapabilities.resume"},
		{dialect.ACPv2, "session/resume", "result.capabilities.session"},
		{dialect.ACPv1, "session/new", ""},
		{dialect.ACPv2, "session/new", "result.capabilities.session"},
		{dialect.ACPv1, "fs/read_text_file", "params.clientCapabilities.fs.readTextFile"},
		{dialect.ACPv1, "elicitation/create", "params.clientCapabilities.elicitation.form params.clientCapabilities.elicitation.url"},
		{dialect.ACPv1, "authenticate", "result.authMethods"},
		{dialect.ACPv1, "session/set_mode", ""}, // not in initialize
		{dialect.ACPv1, "plan_update", "params.clientCapabilities.plan"},
		{dialect.MCPLegacy, "elicitation/create", "params.capabilities.elicitation params.capabilities.elicitation.form params.capabilities.elicitation.url"},
		{dialect.MCPModern, "sampling/createMessage", "params._meta.io.modelcontextprotocol/clientCapabilities.sampling"},
		{dialect.MCPModern, "tools/call", "result.capabilities.tools"},
		{dialect.MCPLegacy, "tasks/cancel", "result.capabilities.tasks.cancel params.capabilities.tasks.cancel"},
		{dialect.ACPv1, "tools/call", ""},
		{dialect.ACPv1, "x/y", ""},
	} {
		var got []string
		for _, c := range dialect.Requires(tt.dialect, tt.method) {
			if keys := c.Keys(tt.dialect); keys != nil {
				got = append(got, strings.Join(keys, "."))
			}
		}
		if got := strings.Join(got, " "); got != tt.want {
			t.Errorf("%v %s: got %q, want %q", tt.dialect, tt.method, got, tt.want)
		}
	}
}

func TestAllowed(t *testing.T) {
	for _, tt := range []struct {
		name    string
		dialect dialect.Dialect
		method  string
		said    string // params or result
		want    bool
	}{
		{"true", dialect.ACPv1, "session/load", `{"agentCapabilities":{"loadSession":true}}`, true},
		{"false", dialect.ACPv1, "session/load", `{"agentCapabilities":{"loadSession":false}}`, false},
		{"null", dialect.ACPv1, "session/list", `{"agentCapabilities":{"sessionCapabilities":{"list":null}}}`, false},
		{"an object", dialect.ACPv1, "session/list", `{"agentCapabilities":{"sessionCapabilities":{"list":{}}}}`, true},
		{"true for an object", dialect.ACPv1, "session/list", `{"agentCapabilities":{"sessionCapabilities":{"list":true}}}`, true},
		{"a list for an object", dialect.ACPv1, "session/list", `{"agentCapabilities":{"sessionCapabilities":{"list":[]}}}`, false},
		{"a list", dialect.ACPv1, "authenticate", `{"authMethods":[{"id":"a"}]}`, true},
		{"an empty list", dialect.ACPv1, "authenticate", `{"authMethods":[]}`, false},
		{"one of two", dialect.ACPv1, "elicitation/create", `{"clientCapabilities":{"elicitation":{"url":{}}}}`, true},
		{"none of two", dialect.ACPv1, "elicitation/create", `{"clientCapabilities":{"elicitation":{}}}`, false},
		{"another dialect's", dialect.ACPv1, "session/load", `{"capabilities":{"session":{"load":{}}}}`, false},
		{"any dialect's", dialect.Unknown, "session/load", `{"capabilities":{"session":{"load":{}}}}`, true},
		{"nothing", dialect.Unknown, "session/load", ``, false},
		{"needs nothing", dialect.ACPv1, "session/prompt", `{}`, true},
	} {
		side := dialect.AgentSide
		if tt.method == "elicitation/create" {
			side = dialect.ClientSide
		}
		if got := dialect.Allowed(tt.dialect, side, tt.method, []byte(tt.said)); got != tt.want {
			t.Errorf("%s: got %v for %s", tt.name, got, tt.said)
		}
	}
}
