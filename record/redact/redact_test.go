package redact_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/redact"
	"github.com/acptap/acptap/record/testdata/memtest"
)

// Fake secrets. They are assembled here, otherwise scanners of repositories would take them
// for real ones.
var (
	anthropicKey = "sk-" + "ant-api03-" + strings.Repeat("aB3-", 8)
	openaiKey    = "sk-" + strings.Repeat("aB3d", 8)
	githubToken  = "ghp_" + strings.Repeat("aB3d", 9)
	stripeKey    = "sk_" + "live_" + strings.Repeat("aB3d", 6)
	notionToken  = "ntn" + "_" + strings.Repeat("aB3d", 11)
	jwt          = "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0In0." + strings.Repeat("x", 20)
	pem          = "-----BEGIN RSA PRIVATE KEY-----\n" + strings.Repeat("MIIEpAIBAAKCAQEA\n", 3) + "-----END RSA PRIVATE KEY-----"
)

var redactTests = []struct{ name, frame, want string }{
	{
		"servers of a session, as ACP has them",
		`{"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"a","command":"/bin/a","args":["--api-key","k1","--port","80"],"env":[{"name":"A","value":"v1"},{"name":"B","value":""}]},{"type":"http","name":"b","url":"https://b/s/Zm9vYmFyNDI3YmF6/mcp","headers":[{"name":"X-Any","value":"h1"}]}]}}`,
		`{"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"a","command":"/bin/a","args":["--api-key","[redacted]","--port","80"],"env":[{"name":"A","value":"[redacted]"},{"name":"B","value":""}]},{"type":"http","name":"b","url":"https://b/s/[redacted]/mcp","headers":[{"name":"X-Any","value":"[redacted]"}]}]}}`,
	},
	{
		"servers of a session, as the agent got them: behind acptap",
		`{"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"a","command":"/usr/bin/acptap","args":["proxy","--store","/s","--parent","20260102T150405000-aaaaaa/kdjfhgas/a","--name","a","--","mysql","-psesame","--api-key","k1"],"env":[{"name":"A","value":"v1"}]},{"type":"http","name":"b","url":"http://127.0.0.1:41234/kdjfhgas-mzxw6ytboi5dcnrqgezdgnbvgy/mcp?x=1","headers":[{"name":"X-Any","value":"h1"}]}]}}`,
		`{"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[{"name":"a","command":"/usr/bin/acptap","args":["proxy","--store","/s","--parent","20260102T150405000-aaaaaa/kdjfhgas/a","--name","a","--","mysql","-p[redacted]","--api-key","[redacted]"],"env":[{"name":"A","value":"[redacted]"}]},{"type":"http","name":"b","url":"http://127.0.0.1:41234/kdjfhgas-[redacted]/mcp?x=1","headers":[{"name":"X-Any","value":"[redacted]"}]}]}}`,
	},
	{
		"such a URL in what an agent says, and others on this machine",
		`{"id":1,"method":"_x","params":{"text":"GET http://127.0.0.1:41234/kdjfhgas-mzxw6ytboi5dcnrqgezdgnbvgy/mcp failed","next":"http://127.0.0.1:41234/kdjfhgas-short/mcp http://127.0.0.1:8080/feature-branch"}}`,
		`{"id":1,"method":"_x","params":{"text":"GET http://127.0.0.1:41234/kdjfhgas-[redacted]/mcp failed","next":"http://127.0.0.1:41234/kdjfhgas-short/mcp http://127.0.0.1:8080/feature-branch"}}`,
	},
	{
		"headers and variables as objects",
		`{"id":1,"method":"providers/set","params":{"providerId":"p","headers":{"a":"b","n":7,"deep":{"x":["y",true,null]}},"env":{"K":"v"}}}`,
		`{"id":1,"method":"providers/set","params":{"providerId":"p","headers":{"a":"[redacted]","n":"[redacted]","deep":{"x":["[redacted]",true,null]}},"env":{"K":"[redacted]"}}}`,
	},
	{
		"headers and variables as lists of text",
		`{"id":1,"method":"_x","params":{"env":["A=1","B"],"http_headers":["Cookie: a=b; c=d",["X","y"]]}}`,
		`{"id":1,"method":"_x","params":{"env":["A=[redacted]","B"],"http_headers":["Cookie: [redacted]",["[redacted]","[redacted]"]]}}`,
	},
	{
		"JetBrains' proxies in initialize",
		`{"id":1,"method":"initialize","params":{"_meta":{"proxyConfig":{"proxies":[{"proxy":{"url":"http://127.0.0.1:50000","headers":{"proxy_key":"x"}}}]}}}}`,
		`{"id":1,"method":"initialize","params":{"_meta":{"proxyConfig":{"proxies":[{"proxy":{"url":"http://127.0.0.1:50000","headers":{"proxy_key":"[redacted]"}}}]}}}}`,
	},
	{
		"login",
		`{"id":1,"method":"authenticate","params":{"methodId":"m","key":"k","pin":-1.5e3,"on":true,"_meta":{"more":["a"]}}}`,
		`{"id":1,"method":"authenticate","params":{"methodId":"m","key":"[redacted]","pin":"[redacted]","on":true,"_meta":{"more":["[redacted]"]}}}`,
	},
	{
		"login with its method last, in a batch, wrapped twice",
		`[{"id":1,"params":{"params":{"params":{"methodId":"m","k":"v"},"method":"auth/login"},"method":"proxy/successor"},"method":"_proxy/successor"},{"id":2,"method":"x","params":{"k":"v"}}]`,
		`[{"id":1,"params":{"params":{"params":{"methodId":"m","k":"[redacted]"},"method":"auth/login"},"method":"proxy/successor"},"method":"_proxy/successor"},{"id":2,"method":"x","params":{"k":"v"}}]`,
	},
	{
		"login with params by position",
		`{"id":1,"method":"authenticate","params":["m","k"]}`,
		`{"id":1,"method":"authenticate","params":["[redacted]","[redacted]"]}`,
	},
	{
		"members by name",
		`{"id":1,"method":"tools/call","params":{"arguments":{"apiKey":"a","API_KEY":"b","github-token":"c","Password":"d","clientSecret":"e","max_tokens":5,"tokens":"f","keyboard":"g"}}}`,
		`{"id":1,"method":"tools/call","params":{"arguments":{"apiKey":"[redacted]","API_KEY":"[redacted]","github-token":"[redacted]","Password":"[redacted]","clientSecret":"[redacted]","max_tokens":5,"tokens":"f","keyboard":"g"}}}`,
	},
	{
		"names with escapes",
		`{"id":1,"method":"x","params":{"api\u004bey":"a","h\u0065aders":{"b":"c"}}}`,
		`{"id":1,"method":"x","params":{"api\u004bey":"[redacted]","h\u0065aders":{"b":"[redacted]"}}}`,
	},
	{
		"schemas have members of those names",
		`{"id":1,"result":{"tools":[{"name":"f","inputSchema":{"type":"object","properties":{"env":{"type":"object","description":"d"},"headers":{"type":"array"},"password":{"type":"string"}}}}]}}`,
		"",
	},
	{
		"tokens of requests and cursors are no secrets",
		`{"id":1,"method":"tools/call","params":{"name":"f","_meta":{"progressToken":"p-1"},"nextPageToken":"x","cursor":"eyJvZmZzZXQiOjEwMCwic29ydCI6Im5hbWUiLCJ4IjoxfQ"}}`,
		"",
	},
	{
		"ids stay, whatever they look like",
		`{"id":"` + openaiKey + `","method":"session/prompt","params":{"sessionId":"` + jwt + `","toolCallId":"` + githubToken + `"}}`,
		"",
	},
	{
		"nothing changes but the strings with secrets",
		` { "id" : 1.0 , "method":"x","params":{ "a":"\u00e9\/" ,"token":"k","b":[ 1e5 ,{} , [ ]]} } `,
		` { "id" : 1.0 , "method":"x","params":{ "a":"\u00e9\/" ,"token":"[redacted]","b":[ 1e5 ,{} , [ ]]} } `,
	},
	{
		"tokens in text",
		prompt("use " + anthropicKey + ", " + openaiKey + "; or " + githubToken + "\nand " + jwt),
		prompt("use sk-ant-[redacted], sk-[redacted]; or ghp_[redacted]\nand eyJ[redacted]"),
	},
	{
		"tokens of tools in text",
		prompt("with " + stripeKey + ", not sk_live_example or " + notionToken + "x; lin_api_key, tvly-docs"),
		prompt("with sk_live_[redacted], not sk_live_example or ntn_[redacted]; lin_api_key, tvly-docs"),
	},
	{
		"a token behind an escape, and behind one in JSON within text",
		prompt("a\n" + githubToken + ` {"b":"c\n` + githubToken + `"}`),
		prompt("a\nghp_[redacted]" + ` {"b":"c\nghp_[redacted]"}`),
	},
	{"a key in PEM", prompt(pem), prompt("-----BEGIN RSA PRIVATE KEY-----[redacted]-----END RSA PRIVATE KEY-----")},
	{
		"bearer",
		prompt("Authorization: Bearer abcdefgh12345678ijkl and bearer certificates-and-more"),
		prompt("Authorization: Bearer [redacted] and bearer certificates-and-more"),
	},
	{
		"URLs",
		prompt("https://user:p4ss@host/a?b=c&tavilyApiKey=tvly12345678&d=e and ssh://git@host/x:1@2"),
		prompt("https://user:[redacted]@host/a?b=c&tavilyApiKey=[redacted]&d=e and ssh://git@host/x:1@2"),
	},
	{
		"variables and JSON in text",
		prompt("DB_PASSWORD=hunter2hunter2\nexport A_TOKEN='abc12345678' \"apiKey\": \"abc12345678\", authorization: Basic dXNlcjpwYXNzMQ=="),
		prompt("DB_PASSWORD=[redacted]\nexport A_TOKEN='[redacted]' \"apiKey\": \"[redacted]\", authorization: Basic [redacted]"),
	},
	{
		"code is no secret",
		prompt("token = next(tokens); password: string; apiKey=${API_KEY_1} secret=process.env.X; f(password=password) sk-learn-styles-and-more token=<your token 1>"),
		"",
	},
	{
		"arguments",
		`{"id":1,"method":"terminal/create","params":{"command":"docker","args":["-e","A_TOKEN=x","-H","Cookie: a=b; c=d","--header=Authorization: Basic eDp5","--secret=s","--token","-t","https://u:p@h","bash","curl -H 'x-api-key: k' u"]}}`,
		`{"id":1,"method":"terminal/create","params":{"command":"docker","args":["-e","A_TOKEN=[redacted]","-H","Cookie: [redacted]","--header=Authorization: Basic [redacted]","--secret=[redacted]","--token","[redacted]","https://u:[redacted]@h","bash","curl -H 'x-api-key: [redacted]' u"]}}`,
	},
	{
		"an error",
		`{"id":1,"error":{"code":-32000,"message":"bad key ` + openaiKey + `","data":{"headers":{"a":"b"}}}}`,
		`{"id":1,"error":{"code":-32000,"message":"bad key sk-[redacted]","data":{"headers":{"a":"[redacted]"}}}}`,
	},
}

// prompt returns a prompt with that text.
func prompt(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return `{"id":1,"method":"session/prompt","params":{"prompt":[{"type":"text","text":` + string(q) + `}]}}`
}

func TestRedact(t *testing.T) {
	for _, tt := range redactTests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if want == "" {
				want = tt.frame
			}
			got := string(redacted(wire.ClientToAgent, []byte(tt.frame)))
			if got != want {
				t.Errorf("%s\ngot  %s\nwant %s", tt.frame, got, want)
			}
			if again := string(redacted(wire.ClientToAgent, []byte(got))); again != got {
				t.Errorf("redacted again:\n%s\nwas %s", again, got)
			}
		})
	}
}

func TestRedactLines(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"text", "key " + openaiKey + " \xff", "key sk-[redacted] \xff"},
		{"a time in brackets", "[12:00:00] Authorization: Bearer abcdefgh12345678", "[12:00:00] Authorization: Bearer [redacted]"},
		{"a log of JSON", `{"level":30,"headers":{"a":"b"},"password":"x"}`, `{"level":30,"headers":{"a":"[redacted]"},"password":"[redacted]"}`},
		{"JSON in no UTF-8", "{\"method\":\"x\",\"params\":[\"\xe0\\n" + openaiKey + "\"]}", "{\"method\":\"x\",\"params\":[\"\xe0\\nsk-[redacted]\"]}"},
		{"nested too deeply", strings.Repeat("[", 20000) + openaiKey, strings.Repeat("[", 20000) + "sk-[redacted]"},
		{"nothing", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, dir := range []wire.Direction{wire.AgentStderr, wire.AgentToClient} {
				if got := string(redacted(dir, []byte(tt.line))); got != tt.want {
					t.Errorf("%v: got %.200q, want %.200q", dir, got, tt.want)
				}
			}
		})
	}
}

// redacted returns a line without its secrets.
func redacted(dir wire.Direction, raw []byte) []byte {
	kind := wire.Stderr
	if dir != wire.AgentStderr {
		kind = wire.Scan(raw).Kind
	}
	return redact.Frame(kind, raw)
}

// FuzzRedact takes any line, and any text as a secret.
func FuzzRedact(f *testing.F) {
	for _, tt := range redactTests {
		f.Add([]byte(tt.frame), anthropicKey)
	}
	f.Add([]byte(`[[{"env":[[],{}]`), `"\`)
	for _, marked := range slices.Concat(secretFrames, openFrames, classParams()) {
		params, _ := secretsIn(marked)
		f.Add([]byte(framed(params)), "a")
	}
	for _, marked := range slices.Concat(secretTexts, openTexts, classTexts()) {
		text, _ := secretsIn(marked)
		f.Add([]byte(prompt(text)), "a")
		if !strings.Contains(text, "\n") {
			f.Add([]byte(text), "a")
		}
	}
	f.Fuzz(func(t *testing.T, line []byte, secret string) {
		if bytes.ContainsAny(line, "\r\n") || len(line) > wire.MaxChecked/2 {
			return
		}
		was := wire.Scan(line)
		var out []byte
		memtest.Bound(t, func() { out = bytes.Clone(redacted(wire.ClientToAgent, line)) })
		now := wire.Scan(out)
		if was.Kind == wire.Invalid && now.Kind != wire.Invalid {
			return // what made it junk was in a secret
		}
		if was.Kind != now.Kind || !bytes.Equal(was.ID, now.ID) || !bytes.Equal(was.Method, now.Method) {
			t.Errorf("%q is redacted to %q", line, out)
		}
		isJSON := json.Valid(line) && utf8.Valid(line) // RFC 8259, section 8.1
		if isJSON && !json.Valid(out) || len(out) > 16*len(line)+64 {
			t.Errorf("%q is redacted to %d bytes, %q", line, len(out), out)
		}
		if field := redact.Field("x", "a.b[0]", line); isJSON && !json.Valid(field) {
			t.Errorf("%q as a field is redacted to %q", line, field)
		}
		if again := redacted(wire.ClientToAgent, out); !bytes.Equal(again, out) {
			t.Errorf("%q is redacted to %q, and that to %q", line, out, again)
		}

		q, err := json.Marshal(secret)
		if err != nil || secret == "" {
			return
		}
		frame := fmt.Sprintf(`{"id":1,"method":"auth/login","params":{"methodId":"m","a":%s,"headers":[{"name":"n","value":%s}],"env":{"a":%[1]s}}}`, q, q)
		want := `{"id":1,"method":"auth/login","params":{"methodId":"m","a":"[redacted]","headers":[{"name":"[redacted]","value":"[redacted]"}],"env":{"a":"[redacted]"}}}`
		if got := redacted(wire.ClientToAgent, []byte(frame)); string(got) != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func BenchmarkRedact(b *testing.B) {
	text := strings.Repeat("A chunk of prose, with a word or two of code: x := f(y). ", 4)
	for _, bb := range []struct{ name, frame string }{
		{"chunk", `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"sess-1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}}}}`},
		{"image", `{"id":1,"method":"session/prompt","params":{"prompt":[{"type":"image","data":"` + strings.Repeat("aB3+", 200<<10/4) + `"}]}}`},
		{"setup", redactTests[0].frame},
	} {
		b.Run(bb.name, func(b *testing.B) {
			raw := []byte(bb.frame)
			kind := wire.Scan(raw).Kind
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				redact.Frame(kind, raw)
			}
		})
	}
}

// The lines of long base64 are joined without copying the joined part again: otherwise a file
// of a few MiB in a frame would take minutes.
func TestRedactLongBase64(t *testing.T) {
	text := strings.Repeat(strings.Repeat("A", 64)+"\n", 1<<14)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	redact.Text(text)
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 100*uint64(len(text)) {
		t.Errorf("allocated %d bytes for a text of %d", got, len(text))
	}
}
