package spans

import (
	"encoding/json"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// said adds the messages of a turn, in the form of the conventions.
func (s *Span) said(c *trace.Conversation, t *trace.Turn) {
	in, out := said{Role: "user"}, said{Role: "assistant"}
	for _, e := range entities(c, t) {
		switch {
		case e.Message == nil || e.Replayed:
		case e.Message.Role == trace.User:
			in.add("text", e.Message)
		case e.Message.Role == trace.Agent:
			out.add("text", e.Message)
		default:
			out.add("reasoning", e.Message)
		}
	}
	s.messages(inputMessages, in)
	s.messages(outputMessages, out)
}

// entities returns the entities that began in a turn, in order. The turn has just ended, so
// they are among the last of the conversation.
func entities(c *trace.Conversation, t *trace.Turn) []*trace.Entity {
	from := len(c.Entities)
	for from > 0 && c.Entities[from-1].Run == t.Run && c.Entities[from-1].Last >= t.First {
		from--
	}
	var list []*trace.Entity
	for _, e := range c.Entities[from:] {
		if e.Turn == t.Number {
			list = append(list, e)
		}
	}
	return list
}

// said is a message of one side, in the form of gen_ai.input.messages or
// gen_ai.output.messages.
type said struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

type part struct {
	Type    string `json:"type"`
	Content string `json:"content"`
}

func (s *said) add(kind string, m *trace.Message) {
	if text := m.Text(); text != "" {
		s.Parts = append(s.Parts, part{kind, text})
	}
}

// messages adds a message as JSON, with as much of its text as fits.
func (s *Span) messages(name string, m said) {
	if len(m.Parts) == 0 {
		return
	}
	for most := maxValue; ; most /= 2 {
		text, err := json.Marshal([]said{m.within(most)})
		if err == nil && len(text) <= maxValue || most == 0 {
			s.attr(name, string(text))
			return
		}
	}
}

// within returns a message with its text limited to the given number of bytes.
func (s said) within(most int) said {
	parts := s.Parts
	s.Parts = nil
	for _, p := range parts {
		p.Content = clip(p.Content, most)
		if most -= len(p.Content); p.Content != "" {
			s.Parts = append(s.Parts, p)
		}
		if most <= 0 {
			break
		}
	}
	return s
}

// did adds the input and the output of a tool call.
func (s *Span) did(c *trace.ToolCall) {
	value := func(name, text string) {
		if text != "" {
			s.attr(name, clip(text, maxValue))
		}
	}
	value(toolTitle, c.Title)
	var paths []string
	size := 0
	for _, l := range c.Locations {
		path := wire.ValueAt(l, "path").Text()
		if size += len(path); path == "" || size > maxValue {
			continue
		}
		paths = append(paths, clip(path, maxValue))
	}
	if paths != nil {
		s.attr(toolPaths, paths)
	}
	value(toolArguments, string(c.RawInput))
	if c.RawOutput != nil {
		value(toolResult, string(c.RawOutput))
	} else if len(c.Content) > 0 {
		text, _ := json.Marshal(c.Content)
		value(toolResult, string(text))
	}
}
