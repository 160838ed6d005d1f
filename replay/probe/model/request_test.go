package model

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
)

// TestChoose holds the call that is made of a script's against the tools of agents.
func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		tools, what, argument string
		want                  string // empty: there is none
	}{
		{`[{"name":"KillShell","input_schema":{"type":"object","properties":{"shell_id":{}}}},{"name":"Bash","input_schema":{"type":"object","properties":{"command":{"type":"string"},"description":{"type":"string"}},"required":["command"]}}]`, "shell", "ls -l", `Bash {"command":"ls -l"}`},
		{`[{"type":"function","name":"shell","parameters":{"type":"object","properties":{"command":{"type":"array","items":{"type":"string"}}}}}]`, "shell", "ls", `shell {"command":["sh","-c","ls"]}`},
		{`[{"type":"function","function":{"name":"execute_command","parameters":{"type":"object","properties":{"command":{"type":"string"},"requires_approval":{"type":"boolean"},"timeout":{"type":["integer","null"],"minimum":5},"how":{"enum":["fast","slow"]}},"required":["command","requires_approval","timeout","how"]}}}]`, "shell", "ls", `execute_command {"command":"ls","how":"fast","requires_approval":true,"timeout":5}`},
		{`[{"functionDeclarations":[{"name":"read_file","parametersJsonSchema":{"type":"object","properties":{"file_path":{"type":"string"}}}}]}]`, "read", "/a", `read_file {"file_path":"/a"}`},
		{`[{"function_declarations":[{"name":"read_many","parameters":{"type":"OBJECT","properties":{"paths":{"type":"ARRAY"}}}}]}]`, "read", "/a", ``},
		{`[{"name":"run_commands","input_schema":{"properties":{"commands":{"type":"array","items":{"type":"string"}}}}}]`, "shell", "ls", `run_commands {"commands":["ls"]}`},
		{`[{"name":"read_files","input_schema":{"properties":{"files":{"type":"array","items":{"type":"object","properties":{"path":{},"mode":{"type":"string"}},"required":["path","mode"]}}}}}]`, "read", "/a", `read_files {"files":[{"mode":"ok","path":"/a"}]}`},
		{`[{"name":"exec_command","parameters":{"properties":{"cmd":{"type":"string"},"yield_time_ms":{"type":"number"}}}}]`, "shell", "ls", `exec_command {"cmd":"ls","yield_time_ms":30000}`},
		{`[{"name":"developer__shell","parameters":{"properties":{"command":{"type":"string"}}}}]`, "shell", "ls", `developer__shell {"command":"ls"}`},
		{`[{"name":"write","parameters":{"properties":{"path":{"type":"string"},"content":{"type":"string"}}}}]`, "write", "/a", `write {"content":"acptap\n","path":"/a"}`},
		{`[{"name":"web_fetch","parameters":{"properties":{"prompt":{"type":"string"}}}}]`, "fetch", "http://a", `web_fetch {"prompt":"http://a"}`},
		{`[{"name":"mcp__acptap-echo__acptap_echo","parameters":{}}]`, "mcp", `acptap_echo {"text":"a"}`, `mcp__acptap-echo__acptap_echo {"text":"a"}`},
		{`[{"type":"namespace","name":"mcp__e","tools":[{"type":"function","name":"acptap_echo","parameters":{}}]}]`, "mcp", `acptap_echo`, `mcp__e/acptap_echo {}`},
		{`[{"type":"web_search_20250305","name":"bash"}]`, "shell", "ls", ``},
		{`[{"name":"Read","input_schema":{"properties":{"file_path":{}}}}]`, "shell", "ls", ``},
	} {
		c, ok := choose(tools(wire.ValueOf(tt.tools)), tt.what, tt.argument)
		got := c.name + " " + c.args
		if c.space != "" {
			got = c.space + "/" + got
		}
		if !ok {
			got = ""
		}
		if got != tt.want {
			t.Errorf("%s %s: got %s, want %s", tt.what, tt.tools, got, tt.want)
		}
	}
}

// FuzzAsk: whatever an agent asks, what comes back is JSON, in one piece or as events.
func FuzzAsk(f *testing.F) {
	for _, e := range endpoints {
		for _, turn := range []string{"text a\x00b", "slow 0", "call shell ls", "call mcp a {\"b\":1}", "fail 503"} {
			f.Add("/v1/models/m"+e.suffix, `{"stream":true,"model":"m","tools":[{"name":"bash","input_schema":{"type":"object","properties":{"command":{"type":"string"}}}}]}`, turn)
			f.Add("/v1"+e.suffix, `{"model":"m","tools":[{"name":"x","tools":[{"name":"a","parameters":{}}]}],"tool_choice":{"type":"tool"},"response_format":{"json_schema":{"schema":{"type":"object","required":["a"]}}}}`, turn)
		}
	}
	f.Fuzz(func(t *testing.T, path, body, turn string) {
		words := strings.Fields(turn)
		if len(words) < 2 || !utf8.ValidString(turn) {
			return
		}
		switch words[0] {
		case "fail":
			words[1] = "500"
		case "slow":
			words[1] = "0"
		case "text", "call":
		default:
			return
		}
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.URL.Path = path
		w := httptest.NewRecorder()
		s := &server{model: &Model{}, turns: [][]string{words}}
		s.ServeHTTP(w, r)
		answer := w.Body.String()
		switch w.Header().Get("Content-Type") {
		case "application/json":
			if !json.Valid([]byte(answer)) {
				t.Errorf("%q %q: %q is not JSON", path, body, answer)
			}
		case "text/event-stream":
			for line := range strings.Lines(answer) {
				data, ok := strings.CutPrefix(line, "data: ")
				if ok && strings.TrimSpace(data) != "[DONE]" && !json.Valid([]byte(data)) {
					t.Errorf("%q %q: %q is not JSON", path, body, line)
				}
			}
		}
	})
}
