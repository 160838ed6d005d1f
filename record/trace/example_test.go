package trace_test

import (
	"fmt"
	"os"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// frameOf makes a frame as a tape has it.
func frameOf(tracker *dialect.Tracker, seq uint64, dir wire.Direction, text string) dialect.Frame {
	f := wire.Frame{Seq: seq, At: time.Duration(seq) * time.Second, Dir: dir, Raw: []byte(text)}
	e := wire.Scan(f.Raw)
	f.Kind = e.Kind
	annotation, _ := tracker.Observe(&f, e)
	return dialect.Frame{Frame: f, Annotation: annotation}
}

// What begins and ends with each frame, and how long it took.
func ExampleTrace_Events() {
	tracker := dialect.NewTracker(dialect.ACP)
	var t trace.Trace
	for i, line := range []struct {
		dir  wire.Direction
		text string
	}{
		{wire.ClientToAgent, `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}}`},
		{wire.AgentToClient, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Read"}}}`},
		{wire.AgentToClient, `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"}}}`},
		{wire.AgentToClient, `{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}`},
	} {
		f := frameOf(tracker, uint64(i+1), line.dir, line.text)
		t.Add(&f)
		for _, e := range t.Events() {
			if e.Phase == trace.Ended {
				fmt.Println(e.Kind, e.End, e.Reason, e.At-e.Began)
			}
		}
	}
	t.End()
	for _, e := range t.Events() {
		fmt.Println(e.Kind, e.End)
	}
	// Output:
	// tool call failed failed 1s
	// turn completed end_turn 3s
	// call completed  3s
	// session still open
	// connection still open
}

// A conversation as text, in its merged state.
func ExampleWriteText() {
	tracker := dialect.NewTracker(dialect.ACP)
	var t trace.Trace
	for i, text := range []string{"one ", "message ", "in three chunks"} {
		f := frameOf(tracker, uint64(i+1), wire.AgentToClient,
			`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`+text+`"}}}}`)
		t.Add(&f)
	}
	if err := trace.WriteText(os.Stdout, &t.Sessions[0].Conversation, trace.Text{}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// agent  +1.000s
	//   one message in three chunks
}
