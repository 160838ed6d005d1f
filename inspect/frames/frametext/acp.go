package frametext

import (
	"cmp"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// introduction summarizes what a side says about itself in initialize: the version, its
// name, its capabilities.
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

func tokens(v wire.Value) string {
	if !v.IsNumber() {
		return ""
	}
	return termtext.Grouped(v.Int()) + " tokens"
}

// servers returns the names of MCP servers, if there are any.
func servers(list wire.Value) string {
	if empty(list) {
		return ""
	}
	return counted("MCP server", at("name"))(list)
}

// config returns the current values of config options.
func config(options wire.Value) string {
	return strings.Join(each(options, func(o wire.Value) string {
		return first(o, "configId", "id") + " = " + Value(o.Get("currentValue"))
	}), ", ")
}

func configChoice(v wire.Value) string {
	value := v.Get("value")
	if value.IsObject() { // version 2: {type, value}
		value = value.Get("value")
	}
	return first(v, "configId", "id") + " = " + Value(value)
}

// permission returns what a question about permission is about, and the options.
func permission(v wire.Value, tool filter.Tool) string {
	what := cmp.Or(first(v, "toolCall.title", "title", "subject.toolCall.title", "subject.command"), termtext.Piece(tool.Title),
		first(v, "toolCall.toolCallId", "subject.toolCall.toolCallId"))
	return termtext.Dotted(what, strings.Join(each(v.Get("options"), at("name", "optionId")), " / "))
}

// choice returns what a question about permission was about, and the answer, such as
// `go test → Allow once`.
func choice(v wire.Value, tool filter.Tool) string {
	answer := Value(v.Get("outcome.outcome"))
	if id := v.Get("outcome.optionId").Text(); id != "" {
		answer = termtext.Spaced(answer, termtext.Piece(id))
		if i := slices.IndexFunc(tool.Options, func(o filter.Option) bool { return o.ID == id }); i >= 0 && tool.Options[i].Name != "" {
			answer = termtext.Piece(tool.Options[i].Name)
		}
	}
	if title := termtext.Piece(tool.Title); title != "" && answer != "" {
		return title + " → " + answer
	}
	return answer
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

// sized returns the size of a text and its beginning.
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
	line := append([]string{Value(v.Get("command"))}, each(v.Get("args"), Value)...)
	return termtext.Dotted(termtext.Spaced(line...), Value(v.Get("cwd")))
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
