package shim

import (
	"encoding/json"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// sameDialect reports whether the whole part was recorded in the dialect of the connection.
// Otherwise the recorded updates cannot be sent.
func (r *renderer) sameDialect() bool {
	return !slices.ContainsFunc(r.part.epochs, func(e epoch) bool { return e.connection.Dialect != r.dialect })
}

// An entityKey identifies an entity of a part by its first frame. It is the same in every
// trace of the part.
type entityKey struct {
	run   int
	first uint64
}

func keyOf(e *trace.Entity) entityKey { return entityKey{e.Run, e.First} }

// recorded yields the part's updates one by one as recorded, but with shown ids. Like
// merged, it leaves out repetitions of the history and of prompts, and returns false as
// soon as yield does. At the end it closes unfinished tool calls.
func (r *renderer) recorded(yield func([]byte) bool) bool {
	final := map[entityKey]*trace.Entity{}
	for e := range r.part.entities() {
		final[keyOf(e)] = e
	}
	cut := r.part.cutOff()
	var t trace.Trace
	for run, epoch := range r.part.epochs {
		t.Next(epoch.connection)
		for f := range epoch.frames(r.part.id) {
			t.Add(f)
			now := touched(&t, run, f)
			if now == nil || final[keyOf(now)] == nil {
				continue
			}
			e := final[keyOf(now)]
			r.enter(e)
			if !yieldAll(r.replayed(f, now, e), cut[e] && f.Seq == e.Last, yield) {
				return false
			}
		}
	}
	for e := range r.part.entities() {
		if c := e.ToolCall; c != nil {
			r.enter(e)
			status := r.status(e.Run, c.Status)
			if status != c.Status && !yield(newUpdate("tool_call_update").text("toolCallId", r.entityIDs[e]).text("status", status).object()) {
				return false
			}
		}
	}
	return true
}

// touched returns the entity that a frame changed, or nil.
func touched(t *trace.Trace, run int, f *dialect.Frame) *trace.Entity {
	for _, s := range slices.Backward(t.Sessions) {
		if e := s.Conversation.Changed; e != nil && e.Run == run && e.Last == f.Seq {
			return e
		}
	}
	return nil
}

// replayed makes the updates that replay a frame. now is the entity that the frame
// changed, in its state just after the frame; e is the same entity in its final state.
func (r *renderer) replayed(f *dialect.Frame, now, e *trace.Entity) [][]byte {
	switch u := wire.ValueAt(f.Raw, "params.update"); {
	case f.Does(dialect.Prompts):
		if v2(r.source) && e.Message.MessageID != "" {
			return nil // the agent has repeated the prompt in an update
		}
		return r.message(e.Message, r.entityIDs[e])
	case e.Message != nil:
		if !v2(r.source) && e.First != f.Seq && e.Message.Role == trace.User && r.isPrompt(e) {
			return nil // an echo
		}
		return [][]byte{set([]byte(u.Raw()), "messageId", wire.Quote(r.entityIDs[e]))}
	case e.ToolCall != nil:
		return r.toolUpdate(f, e)
	case e.Plan != nil && e.Plan.Removed:
		return nil
	case e.Terminal != nil:
		delete(r.terminals, r.terminalID(e, e.Terminal.ID))
		return r.terminal(nil, e, e.Terminal.ID)
	}
	return r.entity(now)
}

// isPrompt reports whether a message is the client's prompt rather than an update from
// the agent.
func (r *renderer) isPrompt(e *trace.Entity) bool {
	return e.Turn > 0 && r.part.Turns[e.Turn-1].Prompt == e.First && r.part.Turns[e.Turn-1].Run == e.Run
}

// toolUpdate makes an update of a tool call from a recorded update, or from a permission
// request that changes the tool call.
func (r *renderer) toolUpdate(f *dialect.Frame, e *trace.Entity) (list [][]byte) {
	patch := wire.ValueAt(f.Raw, "params.update")
	for _, path := range []string{"params.toolCall", "params.subject.toolCall"} {
		if !patch.Exists() {
			patch = wire.ValueAt(f.Raw, path)
		}
	}
	if !patch.IsObject() {
		return nil
	}
	variant := patch.Get("sessionUpdate").Text()
	if variant == "" {
		variant = "tool_call_update"
	}
	if r.chunked() && f.Seq == e.First {
		variant = "tool_call"
	}
	u := newUpdate(variant)
	titled := false
	patch.ForEach(func(key, v wire.Value) bool {
		value := []byte(v.Raw())
		switch key.Text() {
		case "sessionUpdate":
			return true
		case "toolCallId":
			value = wire.Quote(r.entityIDs[e])
		case "title":
			if titled = v.Text() != ""; !titled && variant == "tool_call" {
				return true
			}
		case "content":
			var items []json.RawMessage
			for _, item := range v.Array() {
				if item.Get("type").Text() == "terminal" && r.dialect == dialect.ACPv2 {
					list = r.terminal(list, e, item.Get("terminalId").Text())
				}
				items = append(items, r.content(e, json.RawMessage(item.Raw())))
			}
			switch {
			case v.IsArray():
				value = array(items)
			case v.IsObject():
				value = items[0]
			}
		}
		u = u.add(key.Text(), value)
		return true
	})
	if variant == "tool_call" && !titled {
		u = u.text("title", title(e.ToolCall))
	}
	return append(list, u.object())
}
