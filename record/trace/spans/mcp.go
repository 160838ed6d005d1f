package spans

import (
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// relate finds the client's call on whose behalf a server sends a request: the call on whose
// stream the request came, or the only open one, as in nested.Tape.
func (b *Builder) relate(e *trace.Event, c *call) {
	c.stream = b.frame.Stream
	switch {
	case e.Dir == wire.AgentToClient:
		c.within = b.asksFor(c.stream)
	case nested.IsUse(e.Method):
		c.own = &clientCall{Ref: Ref{b.above(e).Trace, spanID(b.tape.ID, Call, e.First, e.Entry)}}
		if c.foreign {
			c.own.Trace = c.from.Trace
		}
	}
}

// asksFor returns the client's call that a request on a stream belongs to, or nil if unknown.
func (b *Builder) asksFor(stream uint64) *clientCall {
	var all, same []*clientCall
	for _, c := range b.calls {
		if c.own == nil {
			continue
		}
		all = append(all, c.own)
		if stream != 0 && c.stream == stream {
			same = append(same, c.own)
		}
	}
	if same == nil {
		same = all
	}
	if len(same) != 1 {
		return nil
	}
	return same[0]
}

// mcp adds the attributes that the Model Context Protocol conventions require. They
// replace those of RPC.
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
	if result := b.answer(e).Result.Value(); result.Exists() {
		s.attr(toolResult, clip(result.Raw(), maxValue))
	}
}
