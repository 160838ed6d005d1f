package frametext

import (
	"strings"
	"sync"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// acpPhrases summarize the methods of the Agent Client Protocol in all its
// dialects; session/update has updatePhrases. What stands in both
// protocols is here. The tables of phrases are made at first use: every proxy would
// pay for them at its start.
var acpPhrases = sync.OnceValue(func() map[string]phrases {
	return map[string]phrases{
		"initialize":   {introduction, introduction},
		"authenticate": {call: at("methodId")},

		"session/new":               {setup, standing},
		"session/load":              {setup, standing},
		"session/list":              {at("cwd", "cursor"), under("sessions", counted("session", "sessions", sessionName))},
		"session/delete":            {call: at("sessionId")},
		"session/close":             {call: at("sessionId")},
		"session/prompt":            {under("prompt", blocks), promptResult},
		"session/cancel":            {call: at("sessionId")},
		"session/set_mode":          {call: at("modeId")},
		"session/set_model":         {call: at("modelId")},
		"session/set_config_option": {configChoice, under("configOptions", config)},

		"providers/list":    {result: under("providers", counted("provider", "providers", at("providerId")))},
		"providers/set":     {call: at("providerId", "apiType", "baseUrl")},
		"providers/disable": {call: at("providerId")},

		"nes/start":          {at("workspaceUri"), at("sessionId")},
		"nes/suggest":        {placeInText, under("suggestions", counted("suggestion", "suggestions", at("kind")))},
		"nes/accept":         {call: at("id")},
		"nes/reject":         {call: at("id", "reason")},
		"nes/close":          {call: at("sessionId")},
		"document/didOpen":   {call: at("uri", "languageId")},
		"document/didChange": {call: placeInText},
		"document/didClose":  {call: at("uri")},
		"document/didSave":   {call: at("uri")},
		"document/didFocus":  {call: placeInText},

		"session/request_permission": {permission, choice},
		"fs/read_text_file":          {readFile, fileContent},
		"fs/write_text_file":         {writtenFile, nil},
		"terminal/create":            {command, at("terminalId")},
		"terminal/output":            {at("terminalId"), terminalOutput},
		"terminal/wait_for_exit":     {at("terminalId"), exitStatus},
		"terminal/kill":              {call: at("terminalId")},
		"terminal/release":           {call: at("terminalId")},

		"elicitation/create":   {at("message", "url"), at("action", "content")},
		"elicitation/complete": {call: at("elicitationId")},
		"mcp/connect":          {at("serverId"), at("connectionId")},
		"mcp/disconnect":       {call: at("connectionId")},
		"$/cancel_request":     {call: cancelledRequest},
	}
})

// introduction tells what a side says of itself in initialize: the version, its
// name, what it can do.
func introduction(v wire.Value) string {
	var who, can string
	for _, key := range [...]string{"info", "agentInfo", "clientInfo", "serverInfo"} {
		if i := v.Get(key); i.IsObject() {
			who = termtext.Spaced(Value(i.Get("name")), Value(i.Get("version")))
			break
		}
	}
	for _, key := range [...]string{"capabilities", "agentCapabilities", "clientCapabilities"} {
		if can = offeredNames(v.Get(key), speakers(key, v.Get("protocolVersion"))...); can != "" {
			break
		}
	}
	return termtext.Dotted(termtext.Labelled("protocol", Value(v.Get("protocolVersion"))), who, can)
}

func setup(v wire.Value) string {
	var servers string
	if list := v.Get("mcpServers"); !empty(list) {
		servers = counted("MCP server", "MCP servers", at("name"))(list)
	}
	return termtext.Dotted(Value(v.Get("sessionId")), Value(v.Get("cwd")), termtext.Labelled("replay from", Value(v.Get("replayFrom"))), servers)
}

// standing tells how a session stands when it has been set up.
func standing(v wire.Value) string {
	return termtext.Dotted(
		termtext.Labelled("session", Value(v.Get("sessionId"))),
		termtext.Labelled("mode", Value(v.Get("modes.currentModeId"))),
		termtext.Labelled("model", Value(v.Get("models.currentModelId"))),
		config(v.Get("configOptions")))
}

func sessionName(v wire.Value) string { return first(v, "title", "sessionId") }

// promptResult tells how a turn ended or, in version 2, that it begins.
func promptResult(v wire.Value) string {
	return termtext.Dotted(Value(v.Get("stopReason")), termtext.Labelled("message", Value(v.Get("messageId"))), tokens(v.Get("usage.totalTokens")))
}

func tokens(v wire.Value) string {
	if !v.IsNumber() {
		return ""
	}
	return termtext.Grouped(v.Int()) + " tokens"
}

// config tells the current values of config options.
func config(options wire.Value) string {
	var parts []string
	if options.IsArray() {
		options.ForEach(func(_, o wire.Value) bool {
			parts = append(parts, first(o, "configId", "id")+" = "+Value(o.Get("currentValue")))
			return len(parts) < maxListed
		})
	}
	return strings.Join(parts, ", ")
}

func configChoice(v wire.Value) string {
	value := v.Get("value")
	if value.IsObject() { // version 2: {type, value}
		value = value.Get("value")
	}
	return first(v, "configId", "id") + " = " + Value(value)
}

func permission(v wire.Value) string {
	what := first(v, "toolCall.title", "title", "subject.toolCall.title", "subject.command", "toolCall.toolCallId", "subject.toolCall.toolCallId")
	var options []string
	if list := v.Get("options"); list.IsArray() {
		list.ForEach(func(_, o wire.Value) bool {
			options = append(options, first(o, "name", "optionId"))
			return len(options) < maxListed
		})
	}
	return termtext.Dotted(what, strings.Join(options, " / "))
}

func choice(v wire.Value) string {
	return termtext.Spaced(Value(v.Get("outcome.outcome")), Value(v.Get("outcome.optionId")))
}

func readFile(v wire.Value) string {
	text := Value(v.Get("path"))
	if line := Value(v.Get("line")); line != "" {
		text += ":" + line
	}
	if limit := Value(v.Get("limit")); limit != "" {
		text += " · at most " + limit + " lines"
	}
	return text
}

func fileContent(v wire.Value) string { return sized(v.Get("content")) }

func writtenFile(v wire.Value) string {
	return termtext.Dotted(Value(v.Get("path")), sized(v.Get("content")))
}

// sized tells the size of a text and how it begins.
func sized(v wire.Value) string {
	if !v.IsString() {
		return Value(v)
	}
	return termtext.Dotted(termtext.ByteSize(int64(len(v.Text()))), termtext.Piece(v.Text()))
}

func placeInText(v wire.Value) string {
	text := Value(v.Get("uri"))
	if line := v.Get("position.line"); line.IsNumber() {
		text += ":" + Value(line)
	}
	return termtext.Dotted(text, termtext.Labelled("version", Value(v.Get("version"))))
}

func command(v wire.Value) string {
	parts := []string{Value(v.Get("command"))}
	if args := v.Get("args"); args.IsArray() {
		args.ForEach(func(_, arg wire.Value) bool {
			parts = append(parts, Value(arg))
			return len(parts) <= maxListed
		})
	}
	return termtext.Dotted(termtext.Spaced(parts...), Value(v.Get("cwd")))
}

func terminalOutput(v wire.Value) string {
	var cut string
	if v.Get("truncated").IsTrue() {
		cut = "truncated"
	}
	return termtext.Dotted(exitStatus(v.Get("exitStatus")), cut, Value(v.Get("output")))
}

func exitStatus(v wire.Value) string {
	if signal := Value(v.Get("signal")); signal != "" {
		return "signal " + signal
	}
	return termtext.Labelled("exit", Value(v.Get("exitCode")))
}

func cancelledRequest(v wire.Value) string {
	return termtext.Dotted(termtext.Labelled("request", v.Get("requestId").Raw()), Value(v.Get("reason")))
}
