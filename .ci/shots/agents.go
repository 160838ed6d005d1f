package main

import (
	"fmt"
	"strings"
)

// What Claude Agent, Codex and Gemini CLI send was taken from recordings of them.

// startClaude sets up a connection and a session with Claude Agent in Zed.
func (t *tape) startClaude(version string) {
	t.initialize(0.9, object{
		"protocolVersion": 1,
		"agentCapabilities": object{
			"_meta":               object{"claudeCode": object{"promptQueueing": true}},
			"promptCapabilities":  object{"image": true, "embeddedContext": true},
			"mcpCapabilities":     object{"http": true, "sse": true},
			"loadSession":         true,
			"sessionCapabilities": object{"fork": object{}, "list": object{}, "resume": object{}, "close": object{}},
		},
		"agentInfo":   object{"name": "@agentclientprotocol/claude-agent-acp", "title": "Claude Agent", "version": version},
		"authMethods": []object{{"id": "claude-login", "name": "Log in with Claude", "description": "Run `claude /login` in the terminal"}},
	})
	t.newSession(1.1, nil, object{
		"modes": object{"currentModeId": "default", "availableModes": []object{
			{"id": "default", "name": "Always ask", "description": "Asks before each edit and command"},
			{"id": "acceptEdits", "name": "Accept edits", "description": "Edits without asking"},
			{"id": "plan", "name": "Plan mode", "description": "Reads, and changes nothing"},
		}},
		"models": object{"currentModelId": "default", "availableModels": []object{
			{"modelId": "default", "name": "Default (recommended)"}, {"modelId": "opus", "name": "Opus"}, {"modelId": "haiku", "name": "Haiku"},
		}},
	})
	t.commands()
}

func (t *tape) initialize(after float64, result object) {
	id := t.ask("initialize", object{
		"protocolVersion": 1,
		"clientCapabilities": object{
			"fs": object{"readTextFile": true, "writeTextFile": true}, "terminal": true,
			"elicitation": object{"form": object{}, "url": object{}},
			"_meta":       object{"terminal_output": true, "terminal-auth": true},
		},
		"clientInfo": object{"name": "zed", "title": "Zed", "version": "0.225.0"},
	})
	t.answer(id, after, result)
	t.wait(0.02)
}

func (t *tape) newSession(after float64, servers []object, result object) {
	if servers == nil {
		servers = []object{}
	}
	t.session = uuid(t.number)
	result["sessionId"] = t.session
	id := t.ask("session/new", object{"cwd": "/home/ann/ledger", "mcpServers": servers})
	t.answer(id, after, result)
	t.wait(0.03)
}

func (t *tape) commands() {
	t.update("available_commands_update", object{"availableCommands": []object{
		{"name": "compact", "description": "Clear the conversation but keep a summary of it", "input": object{"hint": "what to keep"}},
		{"name": "init", "description": "Write a CLAUDE.md about this code base"},
		{"name": "review", "description": "Review a pull request", "input": object{"hint": "number"}},
		{"name": "security-review", "description": "Review the pending changes for security"},
	}})
	t.wait(3.4)
}

// startCodex sets up a connection and a session with Codex.
func (t *tape) startCodex() {
	t.initialize(0.31, object{
		"protocolVersion":   1,
		"agentCapabilities": object{"loadSession": true, "promptCapabilities": object{"image": true, "embeddedContext": true}, "mcpCapabilities": object{"http": true}},
		"agentInfo":         object{"name": "codex-acp", "title": "Codex", "version": "0.44.1"},
		"authMethods":       []object{{"id": "chatgpt", "name": "Log in with ChatGPT"}, {"id": "openai-api-key", "name": "Use OPENAI_API_KEY"}},
	})
	t.newSession(0.6, nil, object{"modes": object{"currentModeId": "auto", "availableModes": []object{
		{"id": "read-only", "name": "Read Only"}, {"id": "auto", "name": "Default"}, {"id": "full-access", "name": "Full Access"},
	}}})
	t.wait(2)
}

// startGemini sets up a connection and a session with Gemini CLI, which does not say who it is.
func (t *tape) startGemini() {
	t.initialize(1.4, object{
		"protocolVersion":   1,
		"agentCapabilities": object{"loadSession": true, "promptCapabilities": object{"image": true, "audio": true, "embeddedContext": true}},
		"authMethods":       []object{{"id": "oauth-personal", "name": "Log in with Google", "description": nil}},
	})
	t.newSession(0.8, nil, object{})
	t.wait(2)
}

// A call is a tool call in the words of Claude Agent.
type call struct {
	tool  string // its name, such as Bash
	kind  string
	title string
	path  string
	line  int
	input object

	diff   [2]string // old and new text
	output string
	image  object // a content block
	took   float64
	failed bool

	asks    float64 // seconds until the user answers; 0: no permission is needed
	rejects bool
}

// do sends the frames of a tool call from its announcement to its end.
func (t *tape) do(c call) {
	id := t.announce(c)
	if c.asks > 0 && !t.permit(id, c) {
		t.end(id, c, "failed", "The user doesn't want to proceed with this tool use. The tool use was rejected.")
		return
	}
	t.wait(c.took)
	status := "completed"
	if c.failed {
		status = "failed"
	}
	t.end(id, c, status, c.output)
}

// announce sends the first frames of a tool call, and returns its id.
func (t *tape) announce(c call) string {
	id := fmt.Sprintf("toolu_01%s", strings.ToUpper(strings.ReplaceAll(uuid(1000*t.number+t.seq), "-", ""))[:22])
	announced := object{
		"_meta":      object{"claudeCode": object{"toolName": c.tool}},
		"toolCallId": id, "title": c.title, "kind": c.kind, "status": "pending", "rawInput": c.input, "content": []object{},
	}
	if c.path != "" {
		place := object{"path": c.path}
		if c.line > 0 {
			place["line"] = c.line
		}
		announced["locations"] = []object{place}
	}
	if c.diff != [2]string{} {
		announced["content"] = []object{c.change()}
	}
	t.update("tool_call", announced)
	t.wait(0.012)
	return id
}

func (c call) change() object {
	return object{"type": "diff", "path": c.path, "oldText": c.diff[0], "newText": c.diff[1]}
}

// permit asks the user, and returns whether the call may go on.
func (t *tape) permit(id string, c call) bool {
	chosen := "allow"
	if c.rejects {
		chosen = "reject"
	}
	t.askClient("session/request_permission", object{
		"sessionId": t.session,
		"toolCall":  object{"toolCallId": id, "title": c.title, "kind": c.kind, "rawInput": c.input},
		"options": []object{
			{"kind": "allow_always", "name": "Always Allow", "optionId": "allow_always"},
			{"kind": "allow_once", "name": "Allow", "optionId": "allow"},
			{"kind": "reject_once", "name": "Reject", "optionId": "reject"},
		},
	}, c.asks, object{"outcome": object{"outcome": "selected", "optionId": chosen}})
	return !c.rejects
}

func (t *tape) end(id string, c call, status, output string) {
	var content []object
	if c.diff != [2]string{} && status == "completed" {
		content = append(content, c.change())
	}
	if c.image != nil {
		content = append(content, object{"type": "content", "content": c.image})
	}
	if output != "" {
		text := "```\n" + output + "\n```"
		if c.tool == "Bash" {
			text = "```console\n" + output + "\n```"
		}
		content = append(content, object{"type": "content", "content": textBlock(text)})
	}
	t.update("tool_call_update", object{
		"_meta":      object{"claudeCode": object{"toolName": c.tool}},
		"toolCallId": id, "status": status, "content": content, "rawOutput": output,
	})
	t.wait(0.05)
}

func bash(command, output string, took float64) call {
	return call{tool: "Bash", kind: "execute", title: "`" + command + "`", input: object{"command": command, "description": "Run it"}, output: output, took: took}
}

func read(path string, from, lines int, text string) call {
	title := "Read " + path
	if from > 1 {
		title += fmt.Sprintf(" (%d - %d)", from, from+lines-1)
	}
	return call{tool: "Read", kind: "read", title: title, path: "/home/ann/ledger/" + path, line: from, input: object{"file_path": "/home/ann/ledger/" + path, "offset": from, "limit": lines}, output: text, took: 0.03}
}

func grep(pattern, path, output string) call {
	return call{tool: "Grep", kind: "search", title: "grep -n \"" + pattern + "\" " + path, path: "/home/ann/ledger/" + path, input: object{"pattern": pattern, "path": path, "output_mode": "content", "-n": true}, output: output, took: 0.14}
}

func edit(path string, line int, before, after string) call {
	return call{tool: "Edit", kind: "edit", title: "Edit `/home/ann/ledger/" + path + "`", path: "/home/ann/ledger/" + path, line: line, input: object{"file_path": "/home/ann/ledger/" + path, "old_string": before, "new_string": after}, diff: [2]string{before, after}, took: 0.08}
}
