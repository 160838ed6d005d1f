package spans

import (
	"github.com/acptap/acptap/record/trace"
)

// mcp adds what the conventions of the Model Context Protocol ask for. They are there to
// be followed instead of those of RPC.
func (b *Builder) mcp(s *Span, e *trace.Event, c *call) {
	s.text(mcpMethod, e.Method)
	s.text(mcpProtocol, b.now().Version)
	s.text(mcpSession, e.SessionID)
	b.network(s)
	if c.version != "2.0" {
		s.text(jsonrpcVersion, c.version)
	}
	if c.prompt != "" {
		s.Name = clip(e.Method+" "+c.prompt, maxName)
		s.text(promptName, c.prompt)
	}
	s.text(mcpResource, c.uri)
	if e.Call.Tool == "" {
		return
	}
	s.Name = clip(e.Method+" "+e.Call.Tool, maxName)
	s.text(operation, "execute_tool")
	s.text(toolName, e.Call.Tool)
	if !b.Content {
		return
	}
	if c.arguments != "" {
		s.attr(toolArguments, c.arguments)
	}
	if result := b.answer(e); result.Exists() {
		s.attr(toolResult, clip(result.Raw, maxValue))
	}
}
