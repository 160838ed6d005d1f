package drive

import (
	"fmt"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A tool call counts once, and one with the id of a call that is over counts too.
func TestLandmarkOfCalls(t *testing.T) {
	tracker := dialect.NewTracker(dialect.AnyProtocol)
	var p progress
	see := func(dir wire.Direction, text string) {
		f := wire.Frame{Dir: dir, Raw: []byte(text)}
		e := wire.Scan(f.Raw)
		f.Kind = e.Kind
		about, _ := tracker.Observe(&f, e)
		p.observe(&dialect.Frame{Frame: f, Annotation: about}, e)
	}
	see(wire.ClientToAgent, `{"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}`)
	see(wire.AgentToClient, `{"id":0,"result":{"protocolVersion":1}}`)
	see(wire.ClientToAgent, `{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`)
	for i, tt := range []struct {
		update string
		calls  int // that have begun then
	}{
		{`"sessionUpdate":"tool_call","toolCallId":"a"`, 1},
		{`"sessionUpdate":"tool_call","toolCallId":"a"`, 1},
		{`"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed"`, 1},
		{`"sessionUpdate":"tool_call_update","toolCallId":"a","content":[]`, 1},
		{`"sessionUpdate":"tool_call","toolCallId":"a","status":"failed"`, 2},
		{`"sessionUpdate":"tool_call_update","toolCallId":"b"`, 3},
		{`"sessionUpdate":"tool_call","toolCallId":"a"`, 4},
	} {
		see(wire.AgentToClient, fmt.Sprintf(`{"method":"session/update","params":{"sessionId":"s","update":{%s}}}`, tt.update))
		if want := (checkpoint{callBegan, tt.calls}); p.checkpoint() != want || !p.reached(want) || p.reached(checkpoint{callBegan, tt.calls + 1}) {
			t.Errorf("behind update %d: got %+v, want %+v", i+1, p.checkpoint(), want)
		}
	}
}
