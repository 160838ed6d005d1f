package redact_test

import (
	"testing"

	"github.com/acptap/acptap/record/redact"
)

func TestRedactField(t *testing.T) {
	for _, tt := range []struct{ method, path, value, want string }{
		{"session/new", "mcpServers[0].env[1].value", `"v"`, `"[redacted]"`},
		{"session/new", "mcpServers.0.env.1.name", `"A"`, `"A"`},
		{"session/new", "mcpServers", `[{"headers":{"a":"b"}}]`, `[{"headers":{"a":"[redacted]"}}]`},
		{"session/new", "mcpServers[0].args[1]", `"k1"`, `"[redacted]"`},
		{"session/new", "mcpServers[0].args[0]", `"--api-key"`, `"--api-key"`},
		{"session/new", "mcpServers[0].args", `["--api-key","k1"]`, `["--api-key","[redacted]"]`},
		{"session/new", "cwd", `"/w"`, `"/w"`},
		{"authenticate", "methodId", `"m"`, `"m"`},
		{"authenticate", "key", ` "k"`, ` "[redacted]"`},
		{"tools/call", "arguments.apiKey", `"a"`, `"[redacted]"`},
		{"tools/call", "arguments.max_tokens", `5`, `5`},
		{"session/prompt", "prompt[0].text", `"use ` + openaiKey + `"`, `"use sk-[redacted]"`},
		{"session/prompt", "prompt[0].text", `no JSON: ` + openaiKey, `no JSON: sk-[redacted]`},
		{"tools/call", "arguments.passwords[1]", `"a"`, `"[redacted]"`},
		{"tools/call", "arguments.cookies[0].domain", `"h"`, `"h"`},
		{"tools/call", "arguments.fields[0].value", `"a"`, `"[redacted]"`},
		{"tools/call", "arguments.command", `"mysql --password abc"`, `"mysql --password [redacted]"`},
		{"x", "", `{"password":"p"}`, `{"password":"[redacted]"}`},
	} {
		if got := string(redact.Field(tt.method, tt.path, []byte(tt.value))); got != tt.want {
			t.Errorf("%s of %s, %s: got %s, want %s", tt.path, tt.method, tt.value, got, tt.want)
		}
	}
}
