package frametext

import (
	"sync"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// mcpPhrases summarize the methods of the Model Context Protocol that ACP does
// not have, in all revisions, and of the proposals for sessions.
var mcpPhrases = sync.OnceValue(func() map[string]phrases {
	return map[string]phrases{
		"server/discover":         {result: discovery},
		"notifications/cancelled": {call: cancelledRequest},
		"notifications/progress":  {call: progress},

		"tools/list":                      {at("cursor"), under("tools", counted("tool", "tools", at("name")))},
		"tools/call":                      {invocation, toolResult},
		"resources/list":                  {at("cursor"), under("resources", counted("resource", "resources", resourceName))},
		"resources/templates/list":        {at("cursor"), under("resourceTemplates", counted("template", "templates", resourceName))},
		"resources/read":                  {at("uri"), resourceContents},
		"resources/subscribe":             {call: at("uri")},
		"resources/unsubscribe":           {call: at("uri")},
		"notifications/resources/updated": {call: at("uri", "title")},
		"prompts/list":                    {at("cursor"), under("prompts", counted("prompt", "prompts", at("name")))},
		"prompts/get":                     {invocation, promptMessages},
		"completion/complete":             {completion, under("completion.values", counted("value", "values", Value))},
		"logging/setLevel":                {call: at("level")},
		"notifications/message":           {call: at("level", "logger", "data")},

		"sampling/createMessage":             {sampling, sampled},
		"roots/list":                         {result: under("roots", counted("root", "roots", at("uri")))},
		"notifications/elicitation/complete": {call: at("elicitationId")},

		"subscriptions/listen":                     {call: under("notifications", names)},
		"notifications/subscriptions/acknowledged": {call: under("notifications", names)},

		"tasks/get":                  {at("taskId"), task},
		"tasks/result":               {at("taskId"), toolResult},
		"tasks/list":                 {at("cursor"), under("tasks", counted("task", "tasks", task))},
		"notifications/tasks/status": {call: task},

		"session/create":  {result: createdSession},
		"sessions/delete": {call: statedSession},
		"terminate":       {call: statedSession},
	}
})

func discovery(v wire.Value) string {
	return termtext.Dotted(
		termtext.Spaced(first(v, "serverInfo.name", meta+"serverInfo.name"), first(v, "serverInfo.version", meta+"serverInfo.version")),
		counted("version", "versions", Value)(v.Get("supportedVersions")),
		offeredNames(v.Get("capabilities"), sideKey{dialect.MCPModern, dialect.AgentSide}))
}

func progress(v wire.Value) string {
	done := Value(v.Get("progress"))
	if total := Value(v.Get("total")); total != "" {
		done += " of " + total
	}
	return termtext.Dotted(done, Value(v.Get("message")), termtext.Labelled("token", Value(v.Get("progressToken"))))
}

// invocation tells what is called, and its arguments.
func invocation(v wire.Value) string {
	text := Value(v.Get("name"))
	if args := v.Get("arguments"); !empty(args) {
		text = termtext.Spaced(text, Value(args))
	}
	return text
}

func toolResult(v wire.Value) string {
	if asked := inputAsked(v); asked != "" {
		return asked
	}
	if id := v.Get("task.taskId"); id.Exists() {
		return termtext.Labelled("task", task(v.Get("task")))
	}
	text := ""
	if content := v.Get("content"); content.IsArray() {
		text = blocks(content)
	}
	if text == "" {
		text = Value(v.Get("structuredContent"))
	}
	switch failed := v.Get("isError").IsTrue(); {
	case failed && text == "":
		return "tool failed"
	case failed:
		return termtext.Spaced("tool failed:", text)
	}
	return text
}

// inputAsked tells what a result of revision 2026-07-28 asks for before the call
// can go on.
func inputAsked(v wire.Value) string {
	if v.Get("resultType").Text() != "input_required" {
		return ""
	}
	return termtext.Spaced("input required:", names(v.Get("inputRequests")))
}

func resourceName(v wire.Value) string { return first(v, "name", "uri", "uriTemplate") }

func resourceContents(v wire.Value) string {
	if asked := inputAsked(v); asked != "" {
		return asked
	}
	contents := v.Get("contents")
	c := contents.Get("0")
	text := sized(c.Get("text"))
	if blob := c.Get("blob"); blob.Exists() {
		text = "[" + termtext.Spaced(Value(c.Get("mimeType")), termtext.ByteSize(int64(len(blob.Text()))/4*3)) + "]"
	}
	if more := contents.Get("1"); more.Exists() {
		return termtext.Dotted(counted("part", "parts", at("uri"))(contents), text)
	}
	return text
}

func promptMessages(v wire.Value) string {
	if asked := inputAsked(v); asked != "" {
		return asked
	}
	return termtext.Dotted(Value(v.Get("description")), blocks(v.Get("messages.0.content")))
}

func completion(v wire.Value) string {
	return termtext.Dotted(first(v, "ref.name", "ref.uri"), Value(v.Get("argument.name"))+" = "+Value(v.Get("argument.value")))
}

// sampling tells what the model is asked: the last message.
func sampling(v wire.Value) string {
	var last wire.Value
	if messages := v.Get("messages"); messages.IsArray() {
		messages.ForEach(func(_, m wire.Value) bool { last = m; return true })
	}
	return blocks(last.Get("content"))
}

func sampled(v wire.Value) string {
	return termtext.Dotted(Value(v.Get("model")), Value(v.Get("stopReason")), blocks(v.Get("content")))
}

func task(v wire.Value) string {
	return termtext.Dotted(Value(v.Get("taskId")), Value(v.Get("status")), Value(v.Get("statusMessage")))
}

// createdSession tells the id of a session, as SEP-1364 or as the data-layer
// draft returns it.
func createdSession(v wire.Value) string {
	return termtext.Dotted(termtext.Labelled("session", first(v, "sessionId", "session.sessionId")), termtext.Labelled("expires", Value(v.Get("session.expiresAt"))))
}

func statedSession(v wire.Value) string {
	return first(v, "sessionId", `_meta.io\.modelcontextprotocol/session.sessionId`)
}
