package spans

import (
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

// A Metric is a histogram of something that can be measured from spans.
type Metric struct {
	Name   string
	Unit   string    // in UCUM
	About  string    // what is measured
	Bounds []float64 // of buckets, ascending; a bucket includes its upper bound
}

// Bounds from the conventions, for gen_ai.invoke_agent.duration, gen_ai.execute_tool.duration,
// mcp.client.operation.duration and gen_ai.client.token.usage. Our own metrics use the bounds
// of the most similar one.
var (
	agentBounds = []float64{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6}
	toolBounds  = []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	mcpBounds   = []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
	tokenBounds = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

// Metrics lists all metrics.
var Metrics = []*Metric{
	{agentDuration, "s", "Duration of a turn, from the prompt to its end.", agentBounds},
	{toolDuration, "s", "Duration of a tool call of the agent.", toolBounds},
	{mcpDuration, "s", "Duration of a request of MCP, as its sender sees it.", mcpBounds},
	{timeToFirstOutput, "s", "Time from the prompt to the first message, thought, tool call, plan or request.", toolBounds},
	{permissionWait, "s", "Time that the agent waited for a permission.", agentBounds},
	{turnTokens, "{token}", "Tokens that the agent reports for a turn.", tokenBounds},
}

// A measurement is a number for a histogram.
type measurement struct {
	metric string
	value  float64
	attrs  []Attr
}

// measure returns the measurements of a span. The duration of something still open at the
// end of the tape is unknown, unless the agent's death ended it.
func (s *Span) measure() (all []measurement) {
	timed := !s.untimed && (s.Error != "" || s.value(stillOpen) == nil)
	took := func(metric string, attrs ...string) {
		if timed {
			all = append(all, measurement{metric, termtext.Seconds(s.End.Sub(s.Start)).Float(), s.pick(attrs)})
		}
	}
	switch {
	case s.Kind == Turn:
		took(agentDuration, agentName, requestModel, errorType)
		about := s.pick([]string{agentName, requestModel})
		if first, ok := s.value(timeToFirstChunk).(float64); ok {
			all = append(all, measurement{timeToFirstOutput, first, about})
		}
		for _, t := range []struct{ attr, name string }{
			{inputTokens, "input"}, {outputTokens, "output"}, {reasoningTokens, "reasoning"}, {cacheReadTokens, "cache_read"}, {cacheWriteTokens, "cache_write"},
		} {
			if n, ok := s.value(t.attr).(int64); ok {
				all = append(all, measurement{turnTokens, float64(n), append(slices.Clip(about), Attr{tokenType, t.name})})
			}
		}
	case s.Kind == ToolCall:
		took(toolDuration, toolName, toolKind, agentName, errorType)
	case s.value(mcpMethod) != nil:
		took(mcpDuration, mcpMethod, operation, toolName, promptName, mcpProtocol, networkTransport, networkProtocol, jsonrpcVersion, rpcStatus, errorType)
	case s.asksPermission():
		took(permissionWait, permissionOutcome, permissionKind, errorType)
	}
	return all
}

// asksPermission reports whether s is a call that asks the user for a permission.
func (s *Span) asksPermission() bool {
	method, _ := s.value(rpcMethod).(string)
	return dialect.Does(method, dialect.AsksPermission)
}

// value returns the value of an attribute, or nil if there is none.
func (s *Span) value(name string) any {
	for _, a := range s.Attrs {
		if a.Name == name {
			return a.Value
		}
	}
	return nil
}

// pick returns the attributes of a span with the given names, in the order of names.
func (s *Span) pick(names []string) (list []Attr) {
	for _, name := range names {
		if v := s.value(name); v != nil {
			list = append(list, Attr{name, v})
		}
	}
	return list
}
