package main

import (
	"encoding/json"
	"fmt"
)

// A toolCall is a call of an MCP server's tool, as an agent is about to make it.
type toolCall struct {
	n            int // from 1, in the agent's life
	server, tool string
	arguments    map[string]any
}

// A toolShape is how an agent lets its client know of a call: each shows one thing by
// which it can be told that a tool call of ACP is that call of MCP. Nothing else in the
// tool call tells server, tool, arguments or text.
type toolShape struct {
	id     func(c toolCall) string         // toolCallId; nil: call_N
	title  func(c toolCall) string         // nil: "Working"
	fields func(c toolCall) map[string]any // further members of the tool call
	meta   func(id string) map[string]any  // _meta of the MCP request
	ask    func(c toolCall) string         // title of the tool call in a request for permission; nil: none is made
	text   func(text string) string        // content of the tool call; nil: it has none
	hidden bool                            // no tool call is reported
}

// toolShapes are the shapes that agents were seen to use, by the name that the flag
// -shape of toolAgent takes.
var toolShapes = map[string]toolShape{
	// By id: the MCP request tells the tool call's.
	"id-claude": {meta: func(id string) map[string]any { return map[string]any{"claudecode/toolUseId": id} }},
	"id-codex":  {meta: func(id string) map[string]any { return map[string]any{"callId": id} }},

	// By rawInput, which has server and tool.
	"input": {fields: func(c toolCall) map[string]any {
		return map[string]any{"rawInput": map[string]any{"server": c.server, "tool": c.tool, "arguments": c.arguments}}
	}},

	// By name.
	"name-claude":      {fields: func(c toolCall) map[string]any { return map[string]any{"name": double(c)} }},
	"title-claude":     {title: double},
	"meta-claude":      {fields: func(c toolCall) map[string]any { return meta("claudeCode", map[string]any{"toolName": double(c)}) }},
	"meta-qwen":        {fields: qwen},
	"title-opencode":   {title: func(c toolCall) string { return c.server + "_" + c.tool }},
	"title-codex":      {title: func(c toolCall) string { return "mcp." + c.server + "." + c.tool }},
	"title-codex-rust": {title: func(c toolCall) string { return "Tool: " + c.server + "/" + c.tool }},
	"title-gemini":     {title: func(c toolCall) string { return fmt.Sprintf("%s (%s MCP Server)", c.tool, c.server) }},
	"id-gemini":        {id: func(c toolCall) string { return fmt.Sprintf("mcp_%s_%s__%d", c.server, c.tool, c.n) }},

	// By arguments.
	"arguments": {fields: func(c toolCall) map[string]any { return map[string]any{"rawInput": c.arguments} }},
	"arguments-inner": {fields: func(c toolCall) map[string]any {
		return map[string]any{"rawInput": map[string]any{"arguments": c.arguments}}
	}},
	"permission": {ask: func(c toolCall) string { return marshal(c.arguments) }},

	// By text.
	"text":        {text: func(text string) string { return text }},
	"text-gemini": {text: func(text string) string { return "<untrusted_context>\n" + text + "\n</untrusted_context>" }},

	// By the tool's name alone, or by nothing but the time.
	"tool": {id: func(c toolCall) string { return fmt.Sprintf("%s-%d", c.tool, 1_700_000_000_000+c.n) }},
	"none": {},

	"hidden": {hidden: true},
}

func double(c toolCall) string { return "mcp__" + c.server + "__" + c.tool }

func qwen(c toolCall) map[string]any {
	return map[string]any{"_meta": map[string]any{"toolName": double(c), "serverId": c.server}}
}

func meta(key string, value any) map[string]any {
	return map[string]any{"_meta": map[string]any{key: value}}
}

// marshal cannot fail: its argument was made here, or decoded.
func marshal(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
