package demo

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

// A reload is the result of loading the session from a restarted agent.
type reload struct {
	updates int           // in the history sent to the client
	took    time.Duration // from the load request to its answer
	record  int           // bytes of history given to the agent
	after   *trace.Conversation
}

// reloadSession starts proxy and agent again, loads the session and continues it.
func reloadSession(ctx context.Context, store *record.Store) (reload, error) {
	var p player
	tape, err := p.record(ctx, store, script("reload-client"), []string{"--sessions"}, []string{"--again"})
	if err != nil {
		return reload{}, err
	}
	return readReload(tape)
}

// readReload reads the result of the load from its tape.
func readReload(tape *record.Tape) (reload, error) {
	var r reload
	var requested time.Duration
	for f, err := range tape.Frames(1) {
		switch {
		case err != nil:
			return r, err
		case f.Method == "session/load" && f.Dir == wire.ClientToAgent:
			requested = f.At
		case f.Method == "session/load":
			r.took = f.At - requested
		case f.Method == "session/update" && f.Origin == wire.Injected:
			r.updates++
		case f.Method == "session/prompt" && f.Dir == wire.ClientToAgent && f.Origin == wire.Rewritten:
			r.record = len(wire.ValueAt(f.Raw, "params.prompt.0.text").Text())
		}
	}
	var err error
	r.after, err = conversationOf(tape)
	return r, err
}

// check returns an error unless the client got back as many messages, tool calls and
// plans as before. (The terminal no longer exists; its output is part of its tool call.)
func (r reload) check(before *trace.Conversation) error {
	count := func(c *trace.Conversation) (n [3]int) {
		for _, e := range c.Entities {
			switch {
			case e.Turn > 0 && c == r.after: // not loaded
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
	if got, want := count(r.after), count(before); got != want || r.record == 0 {
		return fmt.Errorf("of %v messages, tool calls and plans, %v were loaded", want, got)
	}
	return nil
}

func (r reload) writeText(w io.Writer, form trace.Text) error {
	if _, err := fmt.Fprintf(w, `
Then the proxy and the agent were started again, now with --sessions. The agent
remembers nothing, but the client can load the session: acptap sent all of the
above from the tape, in %d updates and %d ms. With the next prompt the agent gets
a record of that conversation, %d bytes that the client does not see.

`, r.updates, r.took.Milliseconds(), r.record); err != nil {
		return err
	}
	next := *r.after
	next.Entities = slices.DeleteFunc(slices.Clone(r.after.Entities), func(e *trace.Entity) bool { return e.Turn == 0 })
	return trace.WriteText(w, &next, form)
}
