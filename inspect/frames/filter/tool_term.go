package filter

import (
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Tool is a tool call: its toolCallId and title in ACP. In MCP it has no id, and the
// title is the tool's name.
type Tool struct {
	ID, Title string
	Options   []Option // of a question about permission
}

// An Option is an answer that a question offers.
type Option struct{ ID, Name string }

// maxOptions limits the options kept of a question, and maxOption the bytes of each.
const (
	maxOptions = 16
	maxOption  = 256
)

// toolTerm tests a frame's tool call.
func toolTerm(w written, _ string) (test, string) {
	id, problem := patternOf(w, prefixes)
	title, _ := patternOf(w, contains)
	has := func(t Tool) bool { return t.ID != "" && id.match(t.ID) || t.Title != "" && title.match(t.Title) }
	return test{reads: ofBytes | ofPast, ask: func(s *Subject) verdict {
		switch {
		case has(s.Tool):
			return yes
		case !AboutTool(s.Frame):
			return no
		}
		return s.messages(func(i int, message []byte) bool {
			method := s.Method
			if s.Kind == wire.Batch {
				if i >= len(s.Entries) || !callsTool(s.Entries[i].Method) {
					return false
				}
				method = s.Entries[i].Method
			}
			return has(toolIn(method, message))
		})
	}}, problem
}

// ToolOf returns what a frame says about the tool call that it names, or zero. Responses
// name none, and a batch may name several.
func ToolOf(f *dialect.Frame) Tool {
	if f.Raw == nil || f.Kind == wire.Batch || !AboutTool(f) {
		return Tool{}
	}
	return toolIn(f.Method, f.Raw)
}

// ToolsOf returns the tool calls that a batch names, in order.
func ToolsOf(f *dialect.Frame) (tools []Tool) {
	if f.Kind != wire.Batch || !AboutTool(f) {
		return nil
	}
	wire.Entries(f.Raw, func(i int, entry []byte) bool {
		if i < len(f.Entries) && callsTool(f.Entries[i].Method) {
			tools = append(tools, toolIn(f.Entries[i].Method, entry))
		}
		return i < len(f.Entries)
	})
	return tools
}

// AboutTool reports whether a frame is about a tool call, without reading the bytes. All
// such frames except responses say which call it is.
func AboutTool(f *dialect.Frame) bool {
	switch f.Kind {
	case wire.Request, wire.Response:
		return callsTool(f.Method)
	case wire.Notification:
		u, ok := dialect.LookupUpdate(f.Update)
		return ok && u.Entity == dialect.ToolCall
	case wire.Batch:
		return slices.ContainsFunc(f.Entries, func(e dialect.Annotation) bool { return callsTool(e.Method) })
	}
	return false
}

func callsTool(method string) bool {
	return dialect.Does(method, dialect.AsksPermission|dialect.CallsTool)
}

// toolIn returns what a message says about the tool call that it names.
func toolIn(method string, message []byte) Tool {
	switch role := dialect.RoleOf(dialect.AnyProtocol, method); {
	case role.Is(dialect.CallsTool):
		return Tool{Title: wire.ValueAt(message, "params.name").Text()}
	case role.Is(dialect.AsksPermission):
		params := wire.ValueAt(message, "params")
		call := params.Get("toolCall")
		if !call.Exists() { // version 2: the subject is a tool call, or a command that may belong to one
			call = params.Get("subject")
			if whole := call.Get("toolCall"); whole.Exists() {
				call = whole
			}
		}
		return Tool{call.Get("toolCallId").Text(), call.Get("title").Text(), options(params.Get("options"))}
	}
	update := wire.Get(message, "params", "update")
	return Tool{ID: wire.Text(wire.Get(update, "toolCallId")), Title: wire.Text(wire.Get(update, "title"))}
}

// options returns copies of the options of a question.
func options(list wire.Value) (options []Option) {
	if !list.IsArray() {
		return nil
	}
	list.ForEach(func(_, o wire.Value) bool {
		id, name := o.Get("optionId").Text(), o.Get("name").Text()
		if len(id) <= maxOption && len(name) <= maxOption {
			options = append(options, Option{strings.Clone(id), strings.Clone(name)})
		}
		return len(options) < maxOptions
	})
	return options
}
