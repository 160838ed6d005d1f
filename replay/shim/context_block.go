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

// A contextBlock gives an agent the history of a session that it has just opened as a new
// one. It is a content block added to the first prompt, hidden from the client.
type contextBlock struct {
	uri   string
	text  string
	block []byte // JSON
	state contextState
}

type contextState uint8

const (
	pending  contextState = iota // to be sent with the next prompt
	sent                         // sent with a prompt that the agent has not yet reacted to
	received                     // the agent has it
)

// newContextBlock returns nil if the history is empty.
func newContextBlock(id string, past *history, embedded bool) *contextBlock {
	text := transcript(past)
	if text == "" {
		return nil
	}
	c := &contextBlock{uri: transcriptScheme + id + "/transcript", text: text}
	if embedded {
		r := members(nil).text("uri", c.uri).text("mimeType", "text/markdown").text("text", text)
		c.block = members(nil).text("type", "resource").add("resource", r.object()).object()
	} else {
		c.block = members(nil).text("type", "text").text("text", text).object()
	}
	return c
}

// attach adds the block at the front of a prompt, or at the end if the prompt begins with
// a slash command: agents expect a command at the beginning.
func (c *contextBlock) attach(m message) message {
	prompt := m.param("prompt")
	if !prompt.IsArray() {
		return m
	}
	c.state = sent
	list := []json.RawMessage{c.block}
	if blocks := strings.TrimSpace(strings.TrimSuffix(prompt.Raw()[1:], "]")); blocks != "" {
		list = append(list, json.RawMessage(blocks))
	}
	if isCommand(prompt) {
		slices.Reverse(list)
	}
	return m.patched("params.prompt", array(list))
}

// isCommand reports whether the first text of a prompt is a slash command.
func isCommand(prompt wire.Value) (yes bool) {
	prompt.ForEach(func(_, b wire.Value) bool {
		if b.Get("type").Text() != "text" {
			return true
		}
		yes = strings.HasPrefix(b.Get("text").Text(), "/")
		return false
	})
	return yes
}

// answered notes the agent's answer to the prompt with the block. If the prompt failed
// before the agent did anything, the next prompt gets the block.
func (c *contextBlock) answered(success bool) {
	switch {
	case success && c.state != pending:
		c.state = received
	case c.state == sent:
		c.state = pending
	}
}

// strip removes the block from an update that repeats the prompt. It returns false if
// that leaves nothing in m.
func (c *contextBlock) strip(m *message, variant string) bool {
	if c.state == pending {
		return true
	}
	switch variant {
	case "user_message_chunk":
		rest, repeated := c.rest(m.param("update.content"))
		switch {
		case !repeated:
		case rest == "":
			return false
		default:
			*m = m.patched("params.update.content.text", wire.Quote(rest))
		}
	case "user_message":
		i := -1
		m.param("update.content").ForEach(func(_, block wire.Value) bool {
			i++
			at := fmt.Sprintf("params.update.content.%d", i)
			rest, repeated := c.rest(block)
			switch {
			case !repeated:
			case rest == "":
				*m = m.without(at)
			default:
				*m = m.patched(at+".text", wire.Quote(rest))
			}
			return !repeated
		})
	default:
		if u, ok := dialect.LookupUpdate(variant); ok && dialect.UserMessage < u.Entity && u.Entity <= dialect.Compaction {
			c.state = received // it is working on the prompt
		}
	}
	return true
}

// rest reports whether a block of an update repeats the context, and returns the text
// after it: some agents join all text of a prompt.
func (c *contextBlock) rest(block wire.Value) (string, bool) {
	if block.Get("resource.uri").Text() == c.uri {
		return "", true
	}
	before, after, found := strings.Cut(block.Get("text").Text(), c.text)
	return before + after, found
}
