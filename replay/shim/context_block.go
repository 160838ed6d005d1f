package shim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

const transcriptScheme = "acptap://session/"

// A contextBlock gives the history of a session to an agent that has just made the
// session. It is added to the content blocks of the first prompt. The client does not see
// it.
type contextBlock struct {
	uri   string
	text  string
	block []byte // JSON
	state contextState
}

type contextState uint8

const (
	pending  contextState = iota // it goes with the next prompt
	sent                         // it went with a prompt that the agent has not reacted to
	received                     // the agent has it
)

// newContextBlock returns nil if the history has nothing to tell.
func newContextBlock(id string, past *history, embedded bool) *contextBlock {
	text := transcript(past)
	if text == "" {
		return nil
	}
	h := &contextBlock{uri: transcriptScheme + id + "/transcript", text: text}
	if embedded {
		r := members(nil).text("uri", h.uri).text("mimeType", "text/markdown").text("text", text)
		h.block = members(nil).text("type", "resource").add("resource", r.object()).object()
	} else {
		h.block = members(nil).text("type", "text").text("text", text).object()
	}
	return h
}

// attach adds the block to the front of a prompt. If the prompt begins with a slash
// command, which agents look for at the beginning, it adds the block at the end.
func (h *contextBlock) attach(m message) message {
	prompt := m.param("prompt")
	if !prompt.IsArray() {
		return m
	}
	h.state = sent
	list := []json.RawMessage{h.block}
	if blocks := strings.TrimSpace(strings.TrimSuffix(prompt.Raw()[1:], "]")); blocks != "" {
		list = append(list, json.RawMessage(blocks))
	}
	if command(prompt) {
		slices.Reverse(list)
	}
	return m.patched("params.prompt", array(list))
}

// command reports whether the first text of a prompt is a slash command.
func command(prompt wire.Value) (yes bool) {
	prompt.ForEach(func(_, b wire.Value) bool {
		if b.Get("type").Text() != "text" {
			return true
		}
		yes = strings.HasPrefix(b.Get("text").Text(), "/")
		return false
	})
	return yes
}

// answered notes the agent's answer to the prompt that carried the block. If that failed
// before the agent did anything, the block goes with the next prompt.
func (h *contextBlock) answered(success bool) {
	switch {
	case success && h.state != pending:
		h.state = received
	case h.state == sent:
		h.state = pending
	}
}

// strip removes the block from an update that repeats the prompt. It returns false if m
// has nothing else in it.
func (h *contextBlock) strip(m *message, variant string) bool {
	if h.state == pending {
		return true
	}
	switch variant {
	case "user_message_chunk":
		rest, repeated := h.rest(m.param("update.content"))
		switch {
		case !repeated:
		case rest == "":
			return false
		default:
			*m = m.patched("params.update.content.text", quote(rest))
		}
	case "user_message":
		i := -1
		m.param("update.content").ForEach(func(_, block wire.Value) bool {
			i++
			at := fmt.Sprintf("params.update.content.%d", i)
			rest, repeated := h.rest(block)
			switch {
			case !repeated:
			case rest == "":
				*m = m.without(at)
			default:
				*m = m.patched(at+".text", quote(rest))
			}
			return !repeated
		})
	default:
		if u, ok := dialect.LookupUpdate(variant); ok && dialect.UserMessage < u.Entity && u.Entity <= dialect.Compaction {
			h.state = received // it works on the prompt
		}
	}
	return true
}

// rest reports whether a block repeats the context, and returns what else is in
// it: some agents put all text of a prompt together.
func (h *contextBlock) rest(block wire.Value) (string, bool) {
	if block.Get("resource.uri").Text() == h.uri {
		return "", true
	}
	before, after, found := strings.Cut(block.Get("text").Text(), h.text)
	return before + after, found
}
