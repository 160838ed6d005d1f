package spans

import (
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// A call is an open call with the details of its request.
type call struct {
	trace     TraceID // of its span; set only with Logs
	from      Ref     // the span that its traceparent names
	foreign   bool
	stream    uint64            // HTTP stream that its request came on; 0: none
	own       *clientCall       // its span, if it is the client's call of an MCP server
	within    *clientCall       // the client's call on whose behalf the MCP server asks; nil: unknown
	asks      *trace.Permission // the requested permission, or nil
	tool      *trace.Entity     // the tool call that the permission is for, or nil
	version   string            // of JSON-RPC, as sent
	prompt    string            // named by prompts/get (MCP)
	path      string            // of the file, with Content
	uri       string            // of the resource (MCP), with Content
	arguments string            // of the tool (MCP), with Content
}

// A clientCall is the span of a client's call. ended is zero while the call is open.
type clientCall struct {
	Ref
	ended time.Time
}

// call handles an event of a call. A prompt is a turn, not a call.
func (b *Builder) call(e *trace.Event, s *session) {
	if s != nil && dialect.Does(e.Method, dialect.Prompts) && e.Dir == wire.ClientToAgent {
		if e.Phase == trace.Began {
			_, params := b.request(e.Entry)
			s.prompt = traceparent(params)
		}
		return
	}
	switch e.Phase {
	case trace.Began:
		c := b.asked(e)
		if b.calls[placeOf(e)] = c; b.Logs {
			c.trace = b.traceOfCall(e, s, c)
		}
	case trace.Ended:
		c := b.calls[placeOf(e)]
		delete(b.calls, placeOf(e))
		if c.within != nil {
			span := b.answered(e, c)
			span.under(c.within.Ref)
			span.endsBy(c.within.ended)
			b.complete(span)
			return
		}
		span := b.answered(e, c)
		if c.own != nil {
			c.own.ended = span.End
		}
		b.finish(span, e, s, c.tool, e.Dir == wire.AgentToClient)
	}
}

// traceOfCall returns the trace of the span of a call.
func (b *Builder) traceOfCall(e *trace.Event, s *session, c *call) TraceID {
	switch {
	case c.foreign:
		return c.from.Trace
	case c.within != nil:
		return c.within.Trace
	}
	return b.traceOf(e, s)
}

// asked records the details of a call's request that its span needs.
func (b *Builder) asked(e *trace.Event) *call {
	c := new(call)
	whole, params := b.request(e.Entry)
	if from := traceparent(params); from != nil {
		c.from, c.foreign = *from, true
	}
	if b.now().Protocol == dialect.MCP {
		b.relate(e, c)
	}
	c.version = clip(wire.ValueAt(whole, "jsonrpc").Text(), maxName)
	if dialect.Does(e.Method, dialect.GetsPrompt) {
		c.prompt = clip(params.Get("name").Text(), maxName)
	}
	if b.Content {
		c.path = clip(params.Get("path").Text(), maxValue)
		c.uri = clip(params.Get("uri").Text(), maxValue)
		if dialect.Does(e.Method, dialect.CallsTool) {
			c.arguments = clip(params.Get("arguments").Raw(), maxValue)
		}
	}
	return c
}

// traceparent returns the span that a request's traceparent names, or nil.
func traceparent(params wire.JSON) *Ref {
	if from, ok := parseTraceparent(params.Get("_meta.traceparent").Text()); ok {
		return &from
	}
	return nil
}

// permission records the permission that a call asks for.
func (b *Builder) permission(e *trace.Event) {
	if c := b.calls[placeOf(e)]; c != nil {
		c.asks, c.tool = e.Permission, e.ToolCall
	}
}

// answered builds the span of a call.
func (b *Builder) answered(e *trace.Event, c *call) Span {
	s := b.begin(Call, e, e.Call.Name())
	if s.Remote = c.foreign; c.foreign {
		s.Trace, s.Parent = c.from.Trace, c.from.ID
	}
	s.text(requestID, wire.ValueOf(e.ID).String())
	if b.now().Protocol == dialect.MCP {
		b.mcp(&s, e, c)
	} else {
		s.text(rpcSystem, "jsonrpc")
		s.text(rpcMethod, e.Method)
		s.text(jsonrpcVersion, c.version)
		s.text(conversation, e.SessionID)
	}
	if e.Cancelled {
		s.attr(withdrawn, true)
	}
	if p := c.asks; p != nil {
		s.text(permissionOutcome, p.Outcome)
		for _, o := range p.Options {
			if o.ID == p.Chosen && p.Outcome == "selected" {
				s.text(permissionKind, o.Kind)
				break
			}
		}
	}
	if c.path != "" {
		s.attr(filePath, c.path)
	}
	if e.End == trace.Failed {
		s.text(rpcStatus, e.Reason)
	}
	b.fail(&s, e)
	if b.Content {
		s.explain(b.answer(e).Error)
	}
	return s
}

// finish adds a span to its turn or trace. tool is the tool call known to contain it, or nil.
// byAgent means that its time may place it in a tool call.
func (b *Builder) finish(span Span, e *trace.Event, s *session, tool *trace.Entity, byAgent bool) {
	if s != nil && e.InTurn > 0 {
		if t := s.open[e.InTurn]; t != nil {
			t.children = append(t.children, child{Span: span, last: e.Seq, tool: tool, byAgent: byAgent})
			return
		}
		if to, ok := s.turns[e.InTurn]; ok {
			span.under(to)
			span.endsBy(s.ended[e.InTurn])
			b.complete(span)
			return
		}
	}
	span.under(b.above(e))
	b.complete(span)
}

// above returns the parent of a call that is in no turn of the tape.
func (b *Builder) above(e *trace.Event) Ref {
	if b.tape.Above != nil && e.Kind == trace.CallEvent {
		if of, ok := b.tape.Above(e.First, e.ID); ok {
			return of
		}
	}
	return connectionRef(b.tape.ID)
}
