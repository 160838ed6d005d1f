package frametext

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

func discovery(v wire.Value) string {
	return termtext.Dotted(
		termtext.Spaced(first(v, "serverInfo.name", meta+"serverInfo.name"), first(v, "serverInfo.version", meta+"serverInfo.version")),
		counted("version", Value)(v.Get("supportedVersions")),
		offeredNames(v.Get("capabilities"), sideKey{dialect.MCPModern, dialect.AgentSide}))
}

func progress(v wire.Value) string {
	done := Value(v.Get("progress"))
	if total := Value(v.Get("total")); total != "" {
		done += " of " + total
	}
	return termtext.Dotted(done, Value(v.Get("message")), termtext.Labelled("token", Value(v.Get("progressToken"))))
}

// invocation returns the name of what is called, and its arguments.
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

// inputAsked returns what a result of revision 2026-07-28 requests before the call can
// continue.
func inputAsked(v wire.Value) string {
	if v.Get("resultType").Text() != "input_required" {
		return ""
	}
	return termtext.Spaced("input required:", names(v.Get("inputRequests")))
}

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
		return termtext.Dotted(counted("part", at("uri"))(contents), text)
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

// sampling returns what the model is asked, which is the last message.
func sampling(v wire.Value) string {
	var last wire.Value
	if messages := v.Get("messages"); messages.IsArray() {
		messages.ForEach(func(_, m wire.Value) bool { last = m; return true })
	}
	return blocks(last.Get("content"))
}

func task(v wire.Value) string {
	return termtext.Dotted(Value(v.Get("taskId")), Value(v.Get("status")), Value(v.Get("statusMessage")))
}
