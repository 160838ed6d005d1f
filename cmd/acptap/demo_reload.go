package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

// demoReload is what is said when the client loads the session from an agent that
// was started again, and goes on with it; once as the client sees it, and once as
// the agent does: it has another session, and one block more in the prompt.
func demoReload() (client, agent []demoStep) {
	const question = "Where are we?"
	answer := func(s demoSide) demoStep {
		return s.streams("agent_message_chunk", "I have only just been started. Your prompt came with a record, though: Mean is mended and tested, and you have stopped me on the way to a generic one.")
	}
	c, a, stderr := demoSides(demoSession)
	load := c.request(1, "session/load", `{"sessionId":"`+demoSession+`",`+demoSetup[1:])
	loaded := a.result(1, `{}`)
	loaded.history = true
	client = []demoStep{
		stderr.says(demoReady),
		c.request(0, "initialize", demoEditor), a.result(0, demoCapabilities),
		load, loaded,
		c.prompt(2, question), answer(a), a.result(2, `{"stopReason":"end_turn"}`),
	}
	const other = "sess-demo-2"
	c, a, stderr = demoSides(other)
	agent = []demoStep{
		stderr.says(demoReady),
		c.request(0, "initialize", demoEditor), a.result(0, demoCapabilities),
		c.request(1, "session/new", demoSetup), a.result(1, `{"sessionId":"`+other+`"}`),
		c.asks(2, "session/prompt", `"prompt":[{"type":"text","text":"the record"},{"type":"text","text":"`+question+`"}]`),
		answer(a), a.result(2, `{"stopReason":"end_turn"}`),
	}
	return client, agent
}

// A demoLoad is what came of loading the session of the demo.
type demoLoad struct {
	updates int           // that made up the history
	took    time.Duration // from the request to the answer
	record  int           // bytes that the agent was told of it
	after   *trace.Conversation
}

// reloadDemo starts proxy and agent again, loads the session and goes on with it.
func reloadDemo(ctx context.Context, store *record.Store) (demoLoad, error) {
	acptap, err := os.Executable()
	if err != nil {
		return demoLoad{}, err
	}
	script, _ := demoReload()
	p := demoPlayer{seen: func(wire.Direction, []byte) {}}
	pid, err := p.runClient(ctx, script, acptap, "proxy", "--sessions", "--name", "demo", "--store", store.Dir(), "--", acptap, "demo-agent", "--again")
	if err != nil {
		return demoLoad{}, err
	}
	tape, err := demoTape(store, pid)
	if err != nil {
		return demoLoad{}, err
	}
	return readDemoLoad(tape)
}

// readDemoLoad finds on a tape what came of the load.
func readDemoLoad(tape *record.Tape) (demoLoad, error) {
	var l demoLoad
	var asked time.Duration
	for f, err := range tape.Frames(1) {
		switch {
		case err != nil:
			return l, err
		case f.Method == "session/load" && f.Dir == wire.ClientToAgent:
			asked = f.At
		case f.Method == "session/load":
			l.took = f.At - asked
		case f.Method == "session/update" && f.Origin == wire.Injected:
			l.updates++
		case f.Method == "session/prompt" && f.Dir == wire.ClientToAgent && f.Origin == wire.Rewritten:
			l.record = len(gjson.GetBytes(f.Raw, "params.prompt.0.text").Str)
		}
	}
	var err error
	l.after, err = demoConversation(tape)
	return l, err
}

// same fails unless the client got back what it had had: as many messages, tool
// calls and plans. (Of the terminal that is gone its output stands in the call.)
func (l demoLoad) same(before *trace.Conversation) error {
	kinds := func(c *trace.Conversation) (n [3]int) {
		for _, e := range c.Entities {
			switch {
			case e.Turn > 0 && c == l.after: // not loaded
			case e.Message != nil:
				n[0]++
			case e.ToolCall != nil:
				n[1]++
			case e.Plan != nil:
				n[2]++
			}
		}
		return n
	}
	if got, want := kinds(l.after), kinds(before); got != want || l.record == 0 {
		return fmt.Errorf("demo: of %v messages, tool calls and plans, %v were loaded", want, got)
	}
	return nil
}

// tell shows it.
func (l demoLoad) tell(w io.Writer, form trace.Text) error {
	if _, err := fmt.Fprintf(w, `
Then proxy and agent were started again, now with --sessions. The agent remembers
nothing, but the client loads the session: all of the above, in %d updates and %d ms,
comes from the tape. With the next prompt the agent is told of it, in %d bytes that
the client does not see.

`, l.updates, l.took.Milliseconds(), l.record); err != nil {
		return err
	}
	next := *l.after
	next.Entities = slices.DeleteFunc(slices.Clone(l.after.Entities), func(e *trace.Entity) bool { return e.Turn == 0 })
	return trace.WriteText(w, &next, form)
}
