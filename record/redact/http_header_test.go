package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/redact"
)

// No credential is kept, only what tells that it changed.
func TestHeaders(t *testing.T) {
	const secret = "hunter2-8f3a"
	for _, tt := range []struct{ name, value, want string }{
		{"Authorization", "Bearer " + secret, `{"name":"Authorization","length":19,"scheme":"Bearer","fingerprint":"F"}`},
		{"authorization", secret, `{"name":"authorization","length":12,"fingerprint":"F"}`},
		{"Proxy-Authorization", "Basic " + secret, `{"name":"Proxy-Authorization","length":18,"scheme":"Basic","fingerprint":"F"}`},
		{"Cookie", "a=" + secret + "; b=1", `{"name":"Cookie","length":19,"cookies":["a","b"],"fingerprint":"F"}`},
		{"Set-Cookie", "sid=" + secret + "; Path=/; HttpOnly", `{"name":"Set-Cookie","length":34,"cookies":["sid"],"fingerprint":"F"}`},
		{"X-Api-Key", secret, `{"name":"X-Api-Key","length":12,"fingerprint":"F"}`},
		{"Mcp-Auth-Token", secret, `{"name":"Mcp-Auth-Token","length":12,"fingerprint":"F"}`},
		{"Sec-Websocket-Protocol", secret, `{"name":"Sec-Websocket-Protocol","length":12}`},
		{"X-Forwarded-For", "10.0.0.1", `{"name":"X-Forwarded-For","length":8}`},
		{"Content-Type", "text/event-stream", `{"name":"Content-Type","value":"text/event-stream"}`},
		{"Mcp-Session-Id", "s-1", `{"name":"Mcp-Session-Id","value":"s-1"}`},
		{"MCP-Protocol-Version", "2025-06-18", `{"name":"MCP-Protocol-Version","value":"2025-06-18"}`},
		{"WWW-Authenticate", `Bearer realm="x"`, `{"name":"WWW-Authenticate","value":"Bearer realm=\"x\""}`},
		{"Allow", "", `{"name":"Allow"}`},
		{"Location", "/cb?code=" + secret + "&state=2", `{"name":"Location","value":"/cb?code=[redacted]\u0026state=2"}`},
	} {
		kept := redact.Key("k").Headers(http.Header{tt.name: {tt.value}})
		got, err := json.Marshal(kept[0])
		if err != nil {
			t.Fatal(err)
		}
		if f := kept[0].Fingerprint; f != "" {
			if len(f) != 8 {
				t.Errorf("%s: fingerprint %q", tt.name, f)
			}
			got = bytes.Replace(got, []byte(f), []byte("F"), 1)
		}
		if string(got) != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		if strings.Contains(string(got), secret) {
			t.Errorf("%s: %s holds the secret", tt.name, got)
		}
	}
}

// A header is treated alike however it is spelled: common spellings take a shorter path.
func TestHeadersSpelled(t *testing.T) {
	for _, name := range []string{
		"Accept", "Accept-Encoding", "Accept-Language", "Acp-Connection-Id", "Cache-Control", "Connection", "Content-Length", "Content-Type", "Date", "Host",
		"Last-Event-Id", "Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id", "Origin", "Server", "Transfer-Encoding", "User-Agent",
		"Authorization", "Cookie", "Location", "Mcp-Auth-Token", "X-Api-Key", "X-Other",
	} {
		usual := redact.Key("k").Headers(http.Header{name: {"a value"}})[0]
		lower := redact.Key("k").Headers(http.Header{strings.ToLower(name): {"a value"}})[0]
		lower.Name = name
		if fmt.Sprint(usual) != fmt.Sprint(lower) {
			t.Errorf("%s is kept as %+v, and spelled in small letters as %+v", name, usual, lower)
		}
	}
}

// A target is kept without credentials, but with what its session is called.
func TestTarget(t *testing.T) {
	for target, want := range map[string]string{
		"/mcp":                                "/mcp",
		"/message?sessionId=s-1":              "/message?sessionId=s-1",
		"/mcp?api_key=k&page=2":               "/mcp?api_key=[redacted]&page=2",
		"/mcp?access%5Ftoken=t":               "/mcp?access%5Ftoken=[redacted]",
		"/mcp?token=":                         "/mcp?token=",
		"https://h/a?X-Amz-Signature=f&x#y":   "https://h/a?X-Amz-Signature=[redacted]&x#y",
		"/mcp?%zz=1&sig=s":                    "/mcp?%zz=1&sig=[redacted]",
		"/v1beta/models?key=AIza&alt=sse":     "/v1beta/models?key=[redacted]&alt=sse",
		"/mcp?KEY=k":                          "/mcp?KEY=[redacted]",
		"/mcp?k%65y=k":                        "/mcp?k%65y=[redacted]",
		"/mcp?a=1;key=k;b&token=t":            "/mcp?a=1;key=[redacted];b&token=[redacted]",
		"/mcp?keyboard=de&monkey=1":           "/mcp?keyboard=de&monkey=1",
		"/cb#access_token=t&state=1":          "/cb#access_token=[redacted]&state=1",
		"/#/cb?code=c&x=1":                    "/#/cb?code=[redacted]&x=1",
		"/go?to=https%3A%2F%2Fh%2F%3Fkey%3Dk": "/go?to=https%3A%2F%2Fh%2F%3Fkey%3D%5Bredacted%5D",
		"/go?to=https%3A%2F%2Fh%2F%3Fq%3D1":   "/go?to=https%3A%2F%2Fh%2F%3Fq%3D1",
		"/mcp?&&a=1&":                         "/mcp?&&a=1&",
	} {
		if got := redact.Target(target); got != want {
			t.Errorf("%s: got %s, want %s", target, got, want)
		}
	}
}

// A header whose value is kept is kept without the secrets in the URLs in it.
func TestURLInHeader(t *testing.T) {
	for name, tt := range map[string][2]string{
		"Www-Authenticate": {`Bearer error="invalid", resource_metadata="https://h/.well-known/x?key=k&a=1"`, `Bearer error="invalid", resource_metadata="https://h/.well-known/x?key=[redacted]&a=1"`},
		"Location":         {"https://h/cb?code=c#token=t", "https://h/cb?code=[redacted]#token=[redacted]"},
		"Content-Location": {"/m?access_token=t", "/m?access_token=[redacted]"},
	} {
		if got := redact.Key("k").Headers(http.Header{name: {tt[0]}})[0].Value; got != tt[1] {
			t.Errorf("%s: got %s, want %s", name, got, tt[1])
		}
	}
}

func TestHeadersOrder(t *testing.T) {
	kept := redact.Key("k").Headers(http.Header{"Set-Cookie": {"b=1", "a=1"}, "Accept": {"*/*"}, "X-Token": {"t"}})
	var names []string
	for _, h := range kept {
		names = append(names, h.Name+strings.Join(h.Cookies, ""))
	}
	if got := strings.Join(names, " "); got != "Accept Set-Cookieb Set-Cookiea X-Token" {
		t.Errorf("got %s", got)
	}
}

// A fingerprint is the same for the same value and key only.
func TestFingerprint(t *testing.T) {
	of := func(key, name, value string) string {
		return redact.Key(key).Headers(http.Header{name: {value}})[0].Fingerprint
	}
	a := of("one", "Authorization", "Bearer a")
	if a != of("one", "X-Api-Key", "Bearer a") || a == of("one", "Authorization", "Bearer b") || a == of("two", "Authorization", "Bearer a") {
		t.Error("fingerprints do not tell values, or keys, apart")
	}
}

// A mark is exported without anything that gives access; the same id gets the same pseudonym,
// and redacting twice changes nothing.
func TestMark(t *testing.T) {
	k := redact.Key("k")
	id := func(s string) string { // its pseudonym
		m := wire.ReadMark(wire.Frame{Kind: wire.Mark, Raw: k.Mark(wire.Marked{HTTP: &wire.HTTP{Headers: []wire.Header{{Name: "Mcp-Session-Id", Value: s}}}}.JSON())})
		return m.HTTP.Headers[0].Value
	}
	if one, two := id("one"), id("two"); !strings.HasPrefix(one, "session-") || len(one) != 20 || one == two {
		t.Fatalf("pseudonyms %q and %q", one, two)
	}
	for _, tt := range []struct{ name, mark, want string }{
		{"session", `{"http":{"stream":1,"status":200,"headers":[{"name":"mcp-session-id","value":"one"},{"name":"Acp-Connection-Id","value":"one"}]}}`,
			`{"http":{"stream":1,"status":200,"headers":[{"name":"mcp-session-id","value":"ONE"},{"name":"Acp-Connection-Id","value":"ONE"}]}}`},
		{"target", `{"http":{"stream":1,"method":"POST","target":"/m?sessionId=one\u0026apiKey=xyz\u0026page=2"}}`,
			`{"http":{"stream":1,"method":"POST","target":"/m?sessionId=ONE\u0026apiKey=[redacted]\u0026page=2"}}`},
		{"secret path", `{"http":{"stream":1,"method":"POST","target":"/abcdefgh-abcdefghijklmnopqrstuvwxyz/mcp"}}`,
			`{"http":{"stream":1,"method":"POST","target":"/abcdefgh-[redacted]/mcp"}}`},
		{"path of a user", `{"http":{"stream":1,"method":"POST","target":"/api/mcp/s/ZmE5YzQ2NzItOGRl/mcp?x=1"}}`,
			`{"http":{"stream":1,"method":"POST","target":"/api/mcp/s/[redacted]/mcp?x=1"}}`},
		{"path of words", `{"http":{"stream":1,"method":"GET","target":"/.well-known/oauth-protected-resource/documentation/2025-11-25/mcp"}}`,
			`{"http":{"stream":1,"method":"GET","target":"/.well-known/oauth-protected-resource/documentation/2025-11-25/mcp"}}`},
		{"location of a user", `{"http":{"stream":1,"status":307,"headers":[{"name":"Location","value":"https://h123456789abcdef0.example/mcp/0b7f6a52-9a0f-4a57-8d13-54c2f00f1a7e/sse"}]}}`,
			`{"http":{"stream":1,"status":307,"headers":[{"name":"Location","value":"https://h123456789abcdef0.example/mcp/[redacted]/sse"}]}}`},
		{"authorization code", `{"http":{"stream":1,"method":"GET","target":"/cb?code=abc\u0026state=5#x"}}`,
			`{"http":{"stream":1,"method":"GET","target":"/cb?code=[redacted]\u0026state=5#x"}}`},
		{"location", `{"http":{"stream":1,"status":307,"headers":[{"name":"Location","value":"http://h/?token=abcdef"}]}}`,
			`{"http":{"stream":1,"status":307,"headers":[{"name":"Location","value":"http://h/?token=[redacted]"}]}}`},
		{"rewritten", `{"http":{"stream":1,"method":"GET","target":"/","rewritten":{"target":"/x?session=one","headers":[{"name":"Host","value":"h"}],"removed":["Origin"]}}}`,
			`{"http":{"stream":1,"method":"GET","target":"/","rewritten":{"target":"/x?session=ONE","headers":[{"name":"Host","value":"h"}],"removed":["Origin"]}}}`},
		{"a credential by hand", `{"http":{"stream":1,"headers":[{"name":"Authorization","value":"Basic abc"}]}}`,
			`{"http":{"stream":1,"headers":[{"name":"Authorization","value":"[redacted]"}]}}`},
		{"endpoint", `{"sse":{"event":"endpoint","data":"/messages?session_id=one"}}`, `{"sse":{"event":"endpoint","data":"/messages?session_id=ONE"}}`},
		{"endpoint of a user", `{"sse":{"event":"endpoint","data":"/messages/ZmE5YzQ2NzItOGRl"}}`, `{"sse":{"event":"endpoint","data":"/messages/[redacted]"}}`},
		{"other event", `{"sse":{"event":"config","data":"{\"apiKey\":\"xyz\"}"}}`, `{"sse":{"event":"config","data":"{\"apiKey\":\"[redacted]\"}"}}`},
		{"trailers", `{"ended":{"stream":1,"by":"server","error":"api_key=abcdefghijklmnop","trailers":[{"name":"Mcp-Session-Id","value":"one"},{"name":"X-Token","value":"abc"}]}}`,
			`{"ended":{"stream":1,"by":"server","error":"api_key=[redacted]","trailers":[{"name":"Mcp-Session-Id","value":"ONE"},{"name":"X-Token","value":"[redacted]"}]}}`},
		{"end", `{"end":{"stream":1,"bytes":7,"by":"server"}}`, `{"end":{"stream":1,"bytes":7,"by":"server"}}`},
	} {
		want := strings.ReplaceAll(tt.want, "ONE", id("one"))
		got := k.Mark([]byte(tt.mark))
		if string(got) != want {
			t.Errorf("%s: got  %s\nwant %s", tt.name, got, want)
		}
		if again := k.Mark(got); !bytes.Equal(again, got) {
			t.Errorf("%s: again: got %s, want %s", tt.name, again, got)
		}
	}
}

func TestLead(t *testing.T) {
	k := redact.Key("k")
	const token = "sk-ant-REDACTME0123456789abcdef"
	for _, tt := range []struct {
		name, lead, raw string
		derived, ok     bool
		want            string
	}{
		{"one line of data", ": a\r\nid: 7\r\ndata: ", `{"apiKey":"x"}`, false, true, ": a\r\nid: 7\r\ndata: "},
		{"a comment", ": key " + token + "\ndata: ", "{}", false, true, ": key sk-ant-[redacted]\ndata: "},
		{"several lines", "\n\ndata: {\rdata:\"apiKey\":\"x\"}\r\n\n", "{\n\"apiKey\":\"x\"}", true, true,
			"\n\ndata: {\rdata:\"apiKey\":\"[redacted]\"}\r\n\n"},
		{"an empty line", "data\ndata: {\"apiKey\":\"x\"}\n\n", "\n{\"apiKey\":\"x\"}", true, true, "data\ndata: {\"apiKey\":\"[redacted]\"}\n\n"},
		{"fragments", "\x01\x01{\x80\x0f\"apiKey\":\"xyz\"}", `{"apiKey":"xyz"}`, true, false, ""},
		{"fragments without secrets", "\x01\x01{\x80\x01}", `{}`, true, true, "\x01\x01{\x80\x01}"},
		{"one fragment", "\x81\x10", `{"apiKey":"xyz"}`, false, true, "\x81\x10"},
	} {
		f := wire.Frame{Kind: wire.Invalid, Lead: []byte(tt.lead), Raw: []byte(tt.raw), Derived: tt.derived}
		now := redact.Frame(f.Kind, f.Raw)
		got, ok := k.Lead(&f, now)
		if ok != tt.ok || ok && string(got) != tt.want {
			t.Errorf("%s: got %q, %v, want %q, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
	mark := wire.Frame{Kind: wire.Mark, Derived: true, Lead: []byte("event: endpoint\ndata: /m?token=abcdef\n\n")}
	if got, ok := k.Lead(&mark, nil); !ok || string(got) != "event: endpoint\ndata: /m?token=[redacted]\n\n" {
		t.Errorf("of a mark: got %q, %v", got, ok)
	}
}

// The URL under which an agent gets to its server is a secret while it is used.
func TestListener(t *testing.T) {
	const secret = "abcdefghijklmnopqrstuvwxyz"
	in := `{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"mcpServers":[{"type":"http","url":"http://127.0.0.1:4711/qwertyui-` + secret + `/mcp?x=1"}]}}`
	want := strings.Replace(in, secret, redact.Placeholder, 1)
	if got := redact.Frame(wire.Request, []byte(in)); string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// A mark stays a mark of its stream, whatever its content, and redacting twice changes
// nothing.
func FuzzMark(f *testing.F) {
	f.Add([]byte(`{"http":{"stream":1,"target":"/m?sessionId=one&apiKey=xyz#a?b","headers":[{"name":"Mcp-Session-Id","value":"one"},{"name":"Location","value":"?sid=\u0000"}]}}`))
	f.Add([]byte(`{"sse":{"event":"endpoint","data":"/m?token=abcdef&session-id=session-0123456789ab"}}`))
	f.Add([]byte(`{"ended":{"stream":1,"by":"server","error":"Get \"http://h/?token=abcdefghij\": EOF"}}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		was := wire.ReadMark(wire.Frame{Kind: wire.Mark, Raw: raw})
		if was == (wire.Marked{}) || !json.Valid(raw) {
			return
		}
		k := redact.Key("k")
		once := k.Mark(raw)
		now := wire.ReadMark(wire.Frame{Kind: wire.Mark, Raw: once})
		if (now.HTTP == nil) != (was.HTTP == nil) || now.HTTP != nil && (now.HTTP.Stream != was.HTTP.Stream || len(now.HTTP.Headers) != len(was.HTTP.Headers)) {
			t.Errorf("%s became %s", raw, once)
		}
		if again := k.Mark(once); !bytes.Equal(again, once) {
			t.Errorf("%s became %s, and then %s", raw, once, again)
		}
	})
}
