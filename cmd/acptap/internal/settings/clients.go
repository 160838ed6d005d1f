package settings

// Clients returns the table of clients. If a client has moved its settings, look at the
// source of its row.
func Clients() []*Client {
	zedFiles := zedFiles()
	return []*Client{
		{
			Name: "zed", Title: "Zed, agents",
			user:     zedFiles,
			lists:    [][]string{{"agent_servers"}},
			forms:    []form{program},
			fields:   `"type": "custom"`,
			registry: true,
			next:     "start a new thread with the agent in Zed",
			// Paths: crates/paths/src/paths.rs; built-in and registry agents:
			// crates/project/src/agent_server_store.rs of github.com/zed-industries/zed
			source: "https://zed.dev/docs/ai/external-agents#add-custom-agents",
		},
		{
			Name: "zed-mcp", Title: "Zed, MCP servers",
			user:    zedFiles,
			project: []string{".zed/settings.json"},
			lists:   [][]string{{"context_servers"}},
			forms:   []form{nested, program},
			next:    "turn the server off and on in Zed's agent settings",
			source:  "https://zed.dev/docs/ai/mcp#bring-your-own-context-server",
		},
		{
			Name: "jetbrains", Title: "JetBrains IDEs, agents",
			user:   []place{{"", "~/.jetbrains/acp.json"}},
			lists:  [][]string{{"agent_servers"}},
			forms:  []form{program},
			next:   "start a new chat with the agent in the IDE",
			source: "https://www.jetbrains.com/help/ai-assistant/acp.html",
		},
		{
			Name: "vscode", Title: "VS Code, agents of ACP extensions",
			user:    codeFiles("settings.json"),
			project: []string{".vscode/settings.json"},
			// The first is one member with a dot in its name.
			lists: [][]string{{"acp.agents"}, {"agent_servers"}},
			forms: []form{program},
			next:  "disconnect the agent in VS Code, and connect it again",
			// and https://github.com/strato-space/acp-plugin#agent-configuration
			source: "https://marketplace.visualstudio.com/items?itemName=formulahendry.acp-client",
		},
		{
			Name: "vscode-mcp", Title: "VS Code, MCP servers",
			user:    codeFiles("mcp.json"),
			project: []string{".vscode/mcp.json"},
			lists:   [][]string{{"servers"}},
			forms:   []form{program},
			fields:  `"type": "stdio"`,
			next:    "restart the server in VS Code (MCP: List Servers)",
			source:  "https://code.visualstudio.com/docs/copilot/reference/mcp-configuration",
		},
		{
			Name: "acpx", Title: "acpx, agents",
			user:        []place{{"", "~/.acpx/config.json"}},
			project:     []string{".acpxrc.json"},
			projectHere: true,
			lists:       [][]string{{"agents"}},
			forms:       []form{argv, commandLine, program},
			next:        "run acpx",
			note:        "acpx files its sessions by command, so behind acptap the agent starts with none",
			// dist/cli.js of npm acpx 0.19.1: parseAgentEntry, splitCommandLine
			source: "https://www.npmjs.com/package/acpx",
		},
		{
			Name: "claude-desktop", Title: "Claude Desktop, MCP servers",
			user:   []place{{"", "APPDATA/Claude/claude_desktop_config.json"}},
			lists:  [][]string{{"mcpServers"}},
			forms:  []form{program},
			next:   "quit Claude Desktop, and start it again",
			source: "https://modelcontextprotocol.io/docs/develop/connect-local-servers",
		},
		{
			Name: "claude-code", Title: "Claude Code, MCP servers",
			project: []string{".mcp.json"},
			state:   place{"", "~/.claude.json"},
			lists:   [][]string{{"mcpServers"}},
			forms:   []form{program},
			next:    "start Claude Code again",
			source:  "https://code.claude.com/docs/en/mcp",
		},
		{
			Name: "cursor", Title: "Cursor, MCP servers",
			user:    []place{{"", "~/.cursor/mcp.json"}},
			project: []string{".cursor/mcp.json"},
			lists:   [][]string{{"mcpServers"}},
			forms:   []form{program},
			next:    "turn the server off and on in Cursor's settings",
			source:  "https://cursor.com/docs/mcp",
		},
		{
			Name: "windsurf", Title: "Windsurf, MCP servers",
			user:   []place{{"", "~/.codeium/windsurf/mcp_config.json"}},
			lists:  [][]string{{"mcpServers"}},
			forms:  []form{program},
			next:   "refresh the servers in Windsurf",
			source: "https://docs.windsurf.com/windsurf/cascade/mcp",
		},
		{
			Name: "copilot", Title: "Copilot CLI, MCP servers",
			user:   []place{{"", "$COPILOT_HOME/mcp-config.json"}, {"", "~/.copilot/mcp-config.json"}},
			lists:  [][]string{{"mcpServers"}},
			forms:  []form{program},
			fields: `"type": "local", "tools": ["*"]`,
			next:   "start Copilot CLI again",
			source: "https://code.visualstudio.com/docs/agents/reference/mcp-configuration",
		},
		{
			Name: "opencode", Title: "opencode, MCP servers",
			user: []place{
				{"", "$OPENCODE_CONFIG"},
				{"", "CONFIG/opencode/opencode.jsonc"}, {"", "CONFIG/opencode/opencode.json"}, {"", "CONFIG/opencode/config.json"},
			},
			project: []string{"opencode.jsonc", "opencode.json", ".opencode/opencode.jsonc", ".opencode/opencode.json"},
			lists:   [][]string{{"mcp", "servers"}, {"mcp"}}, // the first since opencode 2
			forms:   []form{commandList},
			fields:  `"type": "local"`,
			next:    "start opencode again",
			source:  "https://opencode.ai/docs/mcp-servers",
		},
		{Name: "nvim", Title: "Neovim: CodeCompanion, avante", paste: lua},
		{Name: "emacs", Title: "Emacs: agent-shell", paste: lisp},
		{Name: "codex", Title: "Codex CLI, MCP servers", paste: toml},
	}
}

// zedFiles returns the paths of Zed's settings. The Flathub build sets
// FLATPAK_XDG_CONFIG_HOME for itself, but not for shells outside.
func zedFiles() []place {
	return []place{
		{"linux", "$FLATPAK_XDG_CONFIG_HOME/zed/settings.json"},
		{"linux", "CONFIG/zed/settings.json"},
		{"linux", "~/.var/app/dev.zed.Zed/config/zed/settings.json"},
		{"darwin", "~/.config/zed/settings.json"},
		{"windows", "APPDATA/Zed/settings.json"},
	}
}

// codeFiles returns the paths of a user's file for all builds of VS Code.
func codeFiles(name string) (list []place) {
	for _, build := range []string{"Code", "Code - Insiders", "VSCodium"} {
		list = append(list, place{"", "APPDATA/" + build + "/User/" + name})
	}
	return append(list, place{"linux", "~/.var/app/com.visualstudio.code/config/Code/User/" + name})
}
