package schema_test

import (
	"slices"
	"testing"

	"github.com/acptap/acptap/inspect/conform/schema"
	"github.com/acptap/acptap/proxy/dialect"
)

// without lists methods that no schema has, and why.
var without = []struct {
	method string
	in     dialect.Protocol
	only   dialect.Dialect // Unknown: all of them
	why    string
}{
	{"proxy/initialize", dialect.ACP, 0, "proxy chains are an RFD"},
	{"_proxy/initialize", dialect.ACP, 0, "proxy chains are an RFD"},
	{"proxy/successor", dialect.ACP, 0, "proxy chains are an RFD"},
	{"_proxy/successor", dialect.ACP, 0, "proxy chains are an RFD"},
	{"tasks/get", dialect.MCP, dialect.MCPModern, "an extension with a repository of its own"},
	{"tasks/cancel", dialect.MCP, dialect.MCPModern, "an extension with a repository of its own"},
}

func reason(m dialect.Method, d dialect.Dialect) string {
	for _, w := range without {
		if w.method == m.Name && w.in == m.Protocol() && (w.only == d || w.only == dialect.Unknown) {
			return w.why
		}
	}
	return ""
}

// TestKeywords: what nobody has thought of is found when shapes are made.
func TestKeywords(t *testing.T) {
	sets := 0
	schema.Texts(func(d dialect.Dialect, name string, text []byte) {
		sets++
		if _, err := schema.MakeSet(text); err != nil {
			t.Errorf("%v %s: %v", d, name, err)
		}
	})
	if sets != 8 {
		t.Errorf("got %d sets, want 8", sets)
	}
	_, err := schema.MakeSet([]byte(`{"methods":{"a/b":{"request":{"$ref":"#/$defs/A"}}},"$defs":{"A":{"if":{}}}}`))
	if want := "a/b: request: $ref: if: the keyword is not known here"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestMethods compares the methods that schemas have with those that dialect knows.
func TestMethods(t *testing.T) {
	described := map[dialect.Dialect][]string{}
	schema.Texts(func(d dialect.Dialect, name string, _ []byte) {
		set := schema.Of(d, name)
		for _, method := range set.Methods() {
			described[d] = append(described[d], method)
			m, ok := dialect.Lookup(d.Protocol(), method)
			if !ok || !m.Stable.Has(d) && !m.Unstable.Has(d) {
				t.Errorf("%v %s has %s, which dialect does not know there", d, name, method)
				continue
			}
			request, notification := set.Params(method, true) != nil, set.Params(method, false) != nil
			if request != (set.Result(method) != nil) {
				t.Errorf("%v %s: %s has a request without a result, or the reverse", d, name, method)
			}
			if request != (m.Form != dialect.AsNotification) || notification != (m.Form != dialect.AsRequest) {
				t.Errorf("%v %s: %s is of another form: request %v, notification %v", d, name, method, request, notification)
			}
		}
	})
	for _, m := range dialect.Methods() {
		for d := dialect.ACPv1; d <= dialect.MCPModern; d++ {
			if d.Protocol() != m.Protocol() || !m.Stable.Has(d) && !m.Unstable.Has(d) {
				continue
			}
			switch has, why := slices.Contains(described[d], m.Name), reason(m, d); {
			case has && why != "":
				t.Errorf("%v: %s has a shape, though it is %s", d, m.Name, why)
			case !has && why == "":
				t.Errorf("%v: %s has no shape", d, m.Name)
			}
		}
	}
}

// TestRevisions looks at what differs between the revisions of MCP.
func TestRevisions(t *testing.T) {
	const legacy, modern = dialect.MCPLegacy, dialect.MCPModern
	for _, tt := range []struct {
		dialect            dialect.Dialect
		version            string
		method, kind, text string
		want               []string
	}{
		{legacy, "2024-11-05", "tools/call", "result", `{"content":[{"type":"audio","data":"","mimeType":"a"}]}`,
			[]string{`unknown-variant content[0].type: "audio", not text or image or resource`}},
		{legacy, "2025-03-26", "tools/call", "result", `{"content":[{"type":"audio","data":"","mimeType":"a"}]}`, nil},
		{legacy, "2025-03-26", "tools/call", "result", `{"content":[],"more":1}`, nil},
		{legacy, "2025-06-18", "tools/call", "result", `{}`, []string{"missing content of CallToolResult: nothing, not array"}},
		{legacy, "2025-06-18", "completion/complete", "result", `{"completion":{"values":[],"total":1.5}}`, nil},
		{legacy, "2025-11-25", "elicitation/create", "request", `{"message":"m"}`,
			[]string{"missing requestedSchema of ElicitRequestFormParams: nothing, not object"}},
		{legacy, "2025-11-25", "elicitation/create", "request", `{"mode":"url","message":"m","url":"u"}`,
			[]string{"missing elicitationId of ElicitRequestURLParams: nothing, not string"}},
		{legacy, "2025-11-25", "elicitation/create", "request", `{"mode":"voice","message":"m"}`,
			[]string{`unknown-variant mode of ElicitRequestParams: "voice", not url or form`}},
		{legacy, "2025-11-25", "tools/call", "task", `{"content":[]}`, []string{"missing task of CreateTaskResult: nothing, not object"}},
		{legacy, "2025-11-25", "ping", "request", ``, nil},
		{legacy, "2025-11-25", "ping", "result", `{}`, nil},
		{legacy, "2025-11-25", "ping", "result", `null`, []string{"null  of Result: null, not object"}},
		{modern, "2026-07-28", "tools/list", "request", ``, []string{"missing  of PaginatedRequestParams: nothing, not object"}},
		{modern, "2026-07-28", "tools/list", "request", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`,
			[]string{"missing _meta[\"io.modelcontextprotocol/clientCapabilities\"] of RequestMetaObject: nothing, not object"}},
		{modern, "2026-07-28", "tools/call", "result", `{"resultType":"input_required","requestState":"s"}`, nil},
		{modern, "2026-07-28", "tools/call", "result", `{"content":[]}`, []string{"missing resultType of CallToolResult: nothing, not string"}},
	} {
		m := message{dialect: tt.dialect, version: tt.version, method: tt.method, kind: tt.kind}
		if tt.kind == "task" {
			m.kind, m.task = "result", true
		}
		if got := problems(m.shape(), []byte(tt.text)); !slices.Equal(got, tt.want) {
			t.Errorf("%s %s %s %s: got %q, want %q", tt.version, tt.method, tt.kind, tt.text, got, tt.want)
		}
	}
	for _, version := range []string{"", "2025-07-01", "DRAFT-2026-v1"} {
		if schema.Of(legacy, version) != nil {
			t.Errorf("there are shapes of MCP %q", version)
		}
	}
	if schema.Of(dialect.Unknown, "1") != nil {
		t.Error("there are shapes of no protocol")
	}
}
