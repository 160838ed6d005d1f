package shim

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/acptap/acptap/proxy/dialect"
)

const transcriptScheme = "acptap://session/"

// A handover is how a session's history gets to an agent that has only just made
// the session: as one more block of the first prompt. The client does not see
// it.
type handover struct {
	uri   string
	text  string
	block []byte // JSON
	state handoverState
}

type handoverState uint8

const (
	armed handoverState = iota // goes with the next prompt
	given                      // went with a prompt that the agent has not taken notice of
	known                      // the agent has it
)

// newHandover returns nil if there is nothing to hand over.
func newHandover(id string, past *history, embedded bool) *handover {
	text := transcript(past)
	if text == "" {
		return nil
	}
	h := &handover{uri: transcriptScheme + id + "/transcript", text: text}
	if embedded {
		r := members(nil).text("uri", h.uri).text("mimeType", "text/markdown").text("text", text)
		h.block = members(nil).text("type", "resource").add("resource", r.object()).object()
	} else {
		h.block = members(nil).text("type", "text").text("text", text).object()
	}
	return h
}

// give adds the block to a prompt: in front, but behind a slash command, which
// agents look for at the beginning.
func (h *handover) give(m message) message {
	prompt := m.param("prompt")
	if !prompt.IsArray() {
		return m
	}
	h.state = given
	list := []json.RawMessage{h.block}
	if blocks := strings.TrimSpace(strings.TrimSuffix(prompt.Raw[1:], "]")); blocks != "" {
		list = append(list, json.RawMessage(blocks))
	}
	if command(prompt) {
		slices.Reverse(list)
	}
	return m.patched("params.prompt", array(list))
}

// command reports whether the first text of a prompt is a slash command.
func command(prompt gjson.Result) (yes bool) {
	prompt.ForEach(func(_, b gjson.Result) bool {
		if b.Get("type").Str != "text" {
			return true
		}
		yes = strings.HasPrefix(b.Get("text").Str, "/")
		return false
	})
	return yes
}

// taken notes the agent's answer to the prompt that carried the block. A prompt
// that failed before the agent did anything has to be sent again.
func (h *handover) taken(success bool) {
	switch {
	case success && h.state != armed:
		h.state = known
	case h.state == given:
		h.state = armed
	}
}

// conceal takes the block out of what the agent repeats of the prompt. It
// returns false if there is nothing else in m.
func (h *handover) conceal(m *message, variant string) bool {
	if h.state == armed {
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
		m.param("update.content").ForEach(func(_, block gjson.Result) bool {
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
			h.state = known // it works on the prompt
		}
	}
	return true
}

// rest reports whether a block repeats the context, and returns what else is in
// it: some agents put all text of a prompt together.
func (h *handover) rest(block gjson.Result) (string, bool) {
	if block.Get("resource.uri").Str == h.uri {
		return "", true
	}
	before, after, found := strings.Cut(block.Get("text").Str, h.text)
	return before + after, found
}
