package settings_test

import (
	"fmt"
	"strings"
)

// A sample is settings with one entry, called x, that acptap can stand before.
type sample struct {
	name, client, text string
}

// samples returns settings as people and programs write them.
func samples() []sample {
	crlf := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	const zed = `// Zed settings
//
// For information on how to configure Zed, see the Zed
// documentation: https://zed.dev/docs/configuring-zed
{
  "ui_font_size": 16, // px
  "theme": { "mode": "system", "light": "One Light", "dark": "One Dark", },
  /* agents */
  "agent_servers": {
    // mine
    "x": {
      "type": "custom", // since 0.200
      "command": "claude-agent-acp", /* the program */
      "args": [
        // first
        "--verbose", // second
        "--model", "opus",
      ],
      "env": { "TOKEN": "a//b", },
    },
  },
}
`
	list := []sample{
		{"comments everywhere", "zed", zed},
		{"comments everywhere, CRLF", "zed", crlf(zed)},
		{"byte order mark", "zed", "\uFEFF" + zed},
		{"byte order mark and CRLF", "zed", "\uFEFF" + crlf(zed)},
		{"tabs", "zed", strings.ReplaceAll(zed, "  ", "\t")},
		{"a comment at the end, without a line break", "zed", strings.TrimSuffix(zed, "\n") + " // end"},
		{"a block comment around an old entry", "zed", `{"agent_servers": {/* "x": {"command": "old"}, */ "x": {"command": "new"}}}`},
		{"one line", "zed", `{"agent_servers":{"x":{"command":"a","args":["b"]}}}`},
		{"one line, blanks", "zed", ` { "agent_servers" : { "x" : { "command" : "a" , "args" : [ "b" ] } } } `},
		{"no arguments", "zed", "{\n  \"agent_servers\": {\n    \"x\": {\n      \"command\": \"a\"\n    }\n  }\n}\n"},
		{"no arguments, one line", "zed", `{"agent_servers": {"x": {"command": "a"}}}`},
		{"no arguments, trailing comma", "zed", "{\"agent_servers\": {\"x\": {\n\t\"command\": \"a\",\n}}}"},
		{"no arguments, a comment behind the command", "zed", "{\"agent_servers\": {\"x\": {\n\t\"command\": \"a\" // why\n\t, \"env\": {}}}}"},
		{"an empty list", "zed", `{"agent_servers": {"x": {"command": "a", "args": []}}}`},
		{"a comment in an empty list", "zed", "{\"agent_servers\": {\"x\": {\"command\": \"a\", \"args\": [\n // none\n ]}}}"},
		{"a block comment in an empty list", "zed", `{"agent_servers": {"x": {"command": "a", "args": [ /* none */ ]}}}`},
		{"arguments are null", "zed", `{"agent_servers": {"x": {"command": "a", "args": null, "env": {}}}}`},
		{"arguments before the command", "zed", `{"agent_servers": {"x": {"args": ["b", "c"], "env": {}, "command": "a"}}}`},
		{"trailing commas", "zed", `{"agent_servers": {"x": {"command": "a", "args": ["b",],},},}`},
		{"the member twice", "zed", `{"agent_servers": {"x": {"command": "old", "args": ["1"], "command": "a", "args": ["2"]}}}`},
		{"the entry twice", "zed", `{"agent_servers": {"x": {"command": "old"}, "y": {"command": "z"}, "x": {"command": "a"}}}`},
		{"the list twice", "zed", `{"agent_servers": {"x": {"command": "old"}}, "agent_servers": {"x": {"command": "a"}}}`},
		{"escapes in names", "zed", `{"agent\u005fservers": {"\u0078": {"comm\u0061nd": "a\u0062", "\u0061rgs": ["\u00fc"]}}}`},
		{"escapes in the command", "zed", `{"agent_servers": {"x": {"command": "C:\\Program Files\\a.exe", "args": ["\"\\\u2028"]}}}`},
		{"unicode", "zed", `{"agent_servers": {"x": {"command": "エージェント", "args": ["—", "🙂"]}}}`},
		{"a home directory", "zed", `{"agent_servers": {"x": {"command": "~/bin/agent", "args": ["~/x"]}}}`},
		{"an argument that is --", "zed", `{"agent_servers": {"x": {"command": "docker", "args": ["run", "--", "agent", "--", "acp"]}}}`},
		{"old Zed server", "zed-mcp", "{\n  \"context_servers\": {\n    \"x\": {\n      \"command\": {\n        \"path\": \"a\",\n        \"args\": [\"b\"], // c\n        \"env\": null\n      },\n      \"settings\": {}\n    }\n  }\n}"},
		{"old Zed server without arguments", "zed-mcp", `{"context_servers": {"x": {"command": {"path": "a"}}}}`},
		{"new Zed server", "zed-mcp", `{"context_servers": {"x": {"source": "custom", "command": "a", "args": ["b"], "env": {}}}}`},
		{"JetBrains", "jetbrains", `{"default_mcp_settings":{"use_idea_mcp":true},"agent_servers":{"x":{"command":"/opt/a","args":["acp"],"env":{"K":"V"},"use_idea_mcp":true}}}`},
		{"a dot in the name of a member", "vscode", "{\n\t\"editor.fontSize\": 14,\n\t\"acp.agents\": {\n\t\t\"x\": { \"command\": \"npx\", \"args\": [\"a@latest\", \"--acp\"] }\n\t},\n}\n"},
		{"Zed's format in VS Code", "vscode", `{"agent_servers": {"x": {"command": "a"}}}`},
		{"inputs", "vscode-mcp", "{\n\t\"inputs\": [{\"id\": \"key\", \"type\": \"promptString\"}],\n\t\"servers\": {\n\t\t\"x\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"npx\",\n\t\t\t\"args\": [\"-y\", \"server\", \"${input:key}\"],\n\t\t\t\"envFile\": \"${workspaceFolder}/.env\"\n\t\t}\n\t}\n}"},
		{"acpx argv", "acpx", "{\n  \"agents\": {\n    \"x\": {\n      \"argv\": [\n        \"a\",\n        \"b\"\n      ]\n    }\n  }\n}\n"},
		{"acpx argv, one word", "acpx", `{"agents":{"x":{"argv":["a"]}}}`},
		{"acpx command and args", "acpx", `{"agents": {"x": {"command": "a", "args": ["b c"]}}}`},
		{"acpx command line", "acpx", `{"agents": {"x": {"command": "npx -y 'a b' \"c\\\"d\" \\u0065"}}}`},
		{"Claude Desktop", "claude-desktop", "{\n  \"globalShortcut\": \"\",\n  \"mcpServers\": {\n    \"x\": {\n      \"command\": \"npx\",\n      \"args\": [\n        \"-y\",\n        \"@modelcontextprotocol/server-filesystem\",\n        \"/Users/me/Desktop\"\n      ]\n    }\n  }\n}"},
		{"Copilot", "copilot", `{"mcpServers": {"x": {"type": "local", "command": "a", "args": [], "tools": ["*"], "env": {}}}}`},
		{"opencode", "opencode", "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"mcp\": {\n    \"x\": {\n      \"type\": \"local\",\n      \"command\": [\"npx\", \"-y\", \"a\"], // b\n      \"enabled\": true,\n    },\n  },\n}\n"},
		{"opencode 2", "opencode", `{"mcp": {"timeout": 5, "servers": {"x": {"type": "local", "command": ["a"]}}}}`},
		{"an opencode server called servers beside", "opencode", `{"mcp": {"servers": {"type": "local", "command": ["s"]}, "x": {"type": "local", "command": ["a"]}}}`},
		{"many entries", "cursor", `{"mcpServers": {"u": {"url": "https://example.com/mcp"}, "x": {"command": "a", "args": ["b"]}, "w": {"command": "a", "args": ["b"]}}}`},
	}
	var big strings.Builder
	big.WriteString("{\n  \"mcpServers\": {\n")
	for i := 0; big.Len() < 1<<20; i++ {
		fmt.Fprintf(&big, "    // number %d\n    \"server-%d\": {\"command\": \"a\", \"args\": [\"b\"], \"env\": {\"N\": \"%d\"}},\n", i, i, i)
	}
	big.WriteString("    \"x\": {\"command\": \"a\", \"args\": [\"b\"]},\n  },\n}\n")
	return append(list, sample{"a mebibyte", "claude-code", big.String()})
}
