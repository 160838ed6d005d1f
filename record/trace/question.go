package trace

import (
	"encoding/json"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Question is a form or a page for the user (an elicitation), and the answer.
type Question struct {
	Request  uint64          `json:"request"`           // Seq of the question
	Response uint64          `json:"response,omitzero"` // Seq of the answer; 0 if there is none yet
	Message  string          `json:"message"`
	Mode     string          `json:"mode,omitzero"` // form or url
	URL      string          `json:"url,omitzero"`
	Action   string          `json:"action,omitzero"` // accept, decline, cancel, or another word used by the client; failed for an error; empty: not answered
	Content  json.RawMessage `json:"content,omitempty"`
	Error    string          `json:"error,omitzero"`
	Visited  bool            `json:"completed,omitzero"` // the agent said that the user is done with the page
}

// question applies a question.
func (c *Conversation) question(f *frame) *Entity {
	params, q := f.params(), &Question{Request: f.Seq}
	f.setString(&q.Message, params.Get("message"))
	f.setString(&q.Mode, params.Get("mode"))
	f.setString(&q.URL, params.Get("url"))
	if call := c.byID[f.key("tool", params.Get("toolCallId").Text())]; call != nil {
		f.above = call
	}
	c.growing = nil
	return c.addAs(f, "question", params.Get("elicitationId").Text(), &Entity{Question: q})
}

// visited records that the user has finished with the page of a question.
func (t *Trace) visited(f *frame) {
	id := f.params().Get("elicitationId").Text()
	for _, s := range t.Sessions {
		if e := s.Conversation.byID[f.key("question", id)]; e != nil && id != "" {
			e.Question.Visited = true
			s.Conversation.touch(f, e)
		}
	}
}

func (q *Question) answer(f *frame) {
	q.Response = f.Seq
	if f.Failed {
		q.Action = "failed"
		f.setString(&q.Error, f.env.Error.Get("message"))
		return
	}
	f.setString(&q.Action, f.result().Get("action"))
	f.setRaw(&q.Content, f.result().Get("content"))
}

// Answer describes the answer to the question, such as "accepted: beds = 2".
func (q *Question) Answer() string {
	switch {
	case q.Response == 0:
		return "no answer"
	case q.Action == "failed":
		return termtext.Labelled("failed:", oneLine(q.Error))
	}
	text := AnswerWord(q.Action)
	if q.Visited {
		text += ", done"
	}
	var values []string
	wire.ValueOf(q.Content).ForEach(func(name, v wire.Value) bool {
		values = append(values, oneLine(name.Text()+" = "+v.String()))
		return true
	})
	if len(values) > 0 {
		text += ": " + strings.Join(values, ", ")
	}
	return text
}

// AnswerWord returns what the action in an answer to an elicitation means.
func AnswerWord(action string) string {
	switch action {
	case "accept":
		return "accepted"
	case "decline":
		return "declined"
	case "cancel":
		return "cancelled"
	}
	return oneLine(action)
}

func (p *printer) question(e *Entity) {
	q, look := e.Question, termtext.Permission
	if q.Action == "failed" {
		look = termtext.Failure
	}
	p.head(e, termtext.Permission, join("question ·", q.Message))
	p.body(indent, termtext.Dim, q.URL)
	p.body(indent, look, "→ "+q.Answer())
}
