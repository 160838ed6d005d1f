package relay_test

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/relay"
	"github.com/acptap/acptap/proxy/wire"
)

// startNested starts a listener with a secret path in front of the server at upstream,
// and returns the URL in the place of that of upstream.
func startNested(t *testing.T, upstream string, change func(*relay.Relay)) (f *fixture, here string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f = newFixture(t, upstream)
	if change != nil {
		change(f.Relay)
	}
	n := &relay.Nested{Host: ln.Addr().String()}
	here = n.Add("abcdefgh", f.Relay).String()
	f.serve(t, ln, n, func() { n.Close("the test ended") })
	return f, here
}

// TestRewritten: values that a client could not use behind another URL, on a listener for one
// server and below a secret path.
func TestRewritten(t *testing.T) {
	var upstream string
	s := server(t, func(w http.ResponseWriter, in *http.Request) {
		h := w.Header()
		h.Add("Set-Cookie", "a=1; Domain=example.com; Path=/x; Secure; HttpOnly")
		h.Add("Set-Cookie", "b=2")
		switch {
		case strings.HasPrefix(in.URL.Path, "/.well-known/oauth-protected-resource"):
			h.Set("Content-Type", "application/json")
			io.WriteString(w, `{ "resource" : "`+upstream+`/mcp", "authorization_servers":["https://login.example"]}`)
		case in.URL.Path == "/moved":
			h.Set("Location", in.URL.Query().Get("to"))
			w.WriteHeader(http.StatusTemporaryRedirect)
		default:
			h.Set("Www-Authenticate", `Bearer error="invalid_token", resource_metadata="`+upstream+`/.well-known/oauth-protected-resource/mcp"`)
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	upstream = s.URL
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(url string) (*http.Response, string) {
		t.Helper()
		res, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Error(err)
		}
		return res, string(body)
	}
	for _, nested := range []bool{false, true} {
		f, here := (*fixture)(nil), ""
		if nested {
			f, here = startNested(t, upstream+"/mcp", nil)
		} else {
			f = start(t, upstream+"/mcp", nil)
			here = f.url
		}
		base, _ := strings.CutSuffix(here, "/mcp")
		u, _ := url.Parse(base)

		for to, want := range map[string]string{
			upstream + "/a%2Fb?c#d":  base + "/a%2Fb?c#d",
			"/a":                     u.Path + "/a",
			"a":                      "a",
			"https://other.example/": "https://other.example/",
			strings.Replace(upstream, "http:", "HTTP:", 1): base,
		} {
			if res, _ := get(base + "/moved?to=" + url.QueryEscape(to)); res.Header.Get("Location") != want {
				t.Errorf("Location %s: got %s, want %s", to, res.Header.Get("Location"), want)
			}
		}
		res, _ := get(here)
		if got, want := res.Header.Get("Www-Authenticate"), `Bearer error="invalid_token", resource_metadata="`+base+`/.well-known/oauth-protected-resource/mcp"`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := strings.Join(res.Header.Values("Set-Cookie"), "|"), "a=1; Path="+u.Path+"/x; HttpOnly|b=2"; got != want {
			t.Errorf("cookies: got %s, want %s", got, want)
		}
		documents := []string{base + "/.well-known/oauth-protected-resource/mcp"}
		if nested { // as clients ask that were not told where it is: RFC 9728, section 3.1
			documents = append(documents, "http://"+u.Host+"/.well-known/oauth-protected-resource"+u.Path+"/mcp")
		}
		for _, d := range documents {
			want := `{ "resource" : "` + here + `", "authorization_servers":["https://login.example"]}`
			if _, got := get(d); got != want {
				t.Errorf("document: got %s, want %s", got, want)
			}
		}
		f.stop()
		found := false
		for _, tape := range f.all() {
			for _, one := range tape.streams {
				if !strings.Contains(one.request.Target, "oauth-protected-resource") {
					continue
				}
				found = true
				if sent := one.sent[wire.AgentToClient].String(); !strings.Contains(sent, upstream) {
					t.Errorf("the tape says that the server sent %s", sent)
				}
				if got := one.received[wire.AgentToClient].String(); !strings.Contains(got, here) {
					t.Errorf("the tape says that the client got %s", got)
				}
			}
		}
		if !found {
			t.Error("the document is on no tape")
		}
	}
	pass := start(t, upstream+"/mcp", func(r *relay.Relay) { r.KeepOAuth = true })
	if res, _ := get(pass.url); !strings.Contains(res.Header.Get("Www-Authenticate"), upstream) {
		t.Errorf("with KeepOAuth: %v", res.Header)
	}
	if _, got := get(pass.Address.String() + "/.well-known/oauth-protected-resource/mcp"); !strings.Contains(got, upstream) {
		t.Errorf("with KeepOAuth: %s", got)
	}
}

// TestEndpoint: MCP of 2024 tells the client where to send its messages, in the first
// event, however that comes.
func TestEndpoint(t *testing.T) {
	tests := []struct{ name, event, want string }{ // ORIGIN, HERE and PATH stand for what they say
		{"path", "event: endpoint\ndata: /messages?id=1\n\n", "event: endpoint\ndata: PATH/messages?id=1\n\n"},
		{"absolute", "event: endpoint\r\ndata: ORIGIN/messages\r\n\r\n", "event: endpoint\r\ndata: HERE/messages\r\n\r\n"},
		{"relative", ": hello\n\nevent:endpoint\ndata:messages\n\n", ": hello\n\nevent:endpoint\ndata:messages\n\n"},
		{"elsewhere", "data: https://other.example/\nevent: endpoint\n\n", "data: https://other.example/\nevent: endpoint\n\n"},
		{"none", "data: {}\n\nevent: endpoint\ndata: /x\n\n", "data: {}\n\nevent: endpoint\ndata: /x\n\n"},
		{"cut off", "event: endpoint\ndata: /x\n", "event: endpoint\ndata: /x\n"},
	}
	for _, tt := range tests {
		for _, step := range []int{1, 1000} {
			t.Run(tt.name, func(t *testing.T) {
				s := server(t, func(w http.ResponseWriter, in *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					event := strings.ReplaceAll(tt.event, "ORIGIN", "http://"+in.Host)
					for len(event) > 0 {
						n := min(step, len(event))
						io.WriteString(w, event[:n])
						w.(http.Flusher).Flush()
						event = event[n:]
					}
				})
				f, here := startNested(t, s.URL+"/sse", nil)
				base := strings.TrimSuffix(here, "/sse")
				u, _ := url.Parse(base)
				want := strings.NewReplacer("PATH", u.Path, "HERE", base).Replace(tt.want)
				in, _ := http.NewRequest(http.MethodGet, here, nil)
				in.Header.Set("Accept", "text/event-stream")
				res, err := http.DefaultClient.Do(in)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				if got, err := io.ReadAll(res.Body); string(got) != want || err != nil {
					t.Errorf("got %q, %v; want %q", got, err, want)
				}
				one := f.tape(0).stream(1)
				if sent := one.sent[1].String(); sent != strings.ReplaceAll(tt.event, "ORIGIN", s.URL) || one.received[1].String() != want {
					t.Errorf("the tape has %q, %q", sent, one.received[1].String())
				}
			})
		}
	}
}

// TestSecretPath: whoever does not know the path gets nothing, and the server is not
// asked.
func TestSecretPath(t *testing.T) {
	asked := ""
	s := server(t, func(w http.ResponseWriter, in *http.Request) { asked += in.URL.RequestURI() + " " })
	f, here := startNested(t, s.URL+"/a%2Fb/mcp?key=1", nil)
	u, _ := url.Parse(here)
	secret := strings.Split(u.EscapedPath(), "/")[1]
	if len(secret) != len("abcdefgh-")+26 || !strings.HasPrefix(secret, "abcdefgh-") {
		t.Errorf("secret %s", secret)
	}
	for path, status := range map[string]int{
		"":                                   404,
		"/":                                  404,
		"/mcp":                               404,
		"/abcdefgh":                          404,
		"/" + secret[:len(secret)-1]:         404,
		"/x/" + secret:                       404,
		"/.well-known/" + secret:             404,
		"/.well-known/x/" + secret + "/mcp":  200,
		"/" + secret:                         200,
		"/" + secret + "/a%2Fb/mcp?key=1&x;": 200,
	} {
		res, err := http.Get("http://" + u.Host + path)
		if err != nil {
			t.Fatal(err)
		}
		if body, _ := io.ReadAll(res.Body); res.StatusCode != status || len(body) > 0 {
			t.Errorf("%s: %d %q, want %d", path, res.StatusCode, body, status)
		}
		res.Body.Close()
	}
	for _, target := range []string{"/.well-known/x/mcp ", "/ ", "/a%2Fb/mcp?key=1&x; "} {
		if !strings.Contains(asked, target) {
			t.Errorf("the server was asked %q, want %q", asked, target)
		}
	}
	if strings.Contains(asked, secret) || strings.Count(asked, " ") != 3 {
		t.Errorf("the server was asked %q", asked)
	}
	for _, tape := range f.all() {
		if strings.Contains(tape.String(), "404") || strings.Contains(tape.facts.Upstream, "key") {
			t.Errorf("on a tape %+v:\n%s", tape.facts, tape)
		}
	}
}
