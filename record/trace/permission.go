package trace

import (
	"slices"
	"strings"
	"time"
)

// A Permission is a request for the user's permission, with the answer.
type Permission struct {
	Request     uint64        `json:"request"`           // Seq of the session/request_permission
	Response    uint64        `json:"response,omitzero"` // Seq of the answer; 0 if there is none yet
	Asked       time.Duration `json:"asked"`
	Answered    time.Duration `json:"answered,omitzero"`
	Title       string        `json:"title,omitzero"`       // version 2
	Description string        `json:"description,omitzero"` // version 2
	Command     string        `json:"command,omitzero"`     // version 2: a command that is not a tool call
	Options     []Option      `json:"options"`
	Outcome     string        `json:"outcome,omitzero"` // selected, cancelled, or another word used by the client; failed for an error; empty: not answered
	Chosen      string        `json:"chosen,omitzero"`  // the option's id
}

// An Option is one of the offered answers.
type Option struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Kind string `json:"kind"` // allow_once, allow_always, reject_once, reject_always
}

// Choice returns the name of the chosen option, or its id, or the outcome.
func (p *Permission) Choice() string {
	if p.Chosen == "" {
		return p.Outcome
	}
	for _, o := range p.Options {
		if o.ID == p.Chosen && o.Name != "" {
			return o.Name
		}
	}
	return p.Chosen
}

// Refused reports whether the user has rejected what the agent asked for.
func (p *Permission) Refused() bool {
	return p.Outcome == "selected" && slices.ContainsFunc(p.Options, func(o Option) bool {
		return o.ID == p.Chosen && strings.HasPrefix(o.Kind, "reject_")
	})
}

// Permissions returns the permissions of entities by the Seq of the request.
func Permissions(entities []*Entity) map[uint64]*Permission {
	all := map[uint64]*Permission{}
	for _, e := range entities {
		if e.ToolCall != nil {
			for _, p := range e.ToolCall.Permissions {
				all[p.Request] = p
			}
		}
		if e.Permission != nil {
			all[e.Permission.Request] = e.Permission
		}
	}
	return all
}

// ask applies a session/request_permission. The request carries a patch of a tool call,
// and in version 1 it is often the first frame about that call. An agent never asks for a
// call that has ended, so a patch with the id of such a call begins a new one. call is
// nil if the permission is for something other than a tool call.
func (c *Conversation) ask(f *frame) (p *Permission, call *Entity) {
	params := f.params()
	p = &Permission{Request: f.Seq, Asked: f.At}
	f.setString(&p.Title, params.Get("title"))
	f.setString(&p.Description, params.Get("description"))
	f.setString(&p.Command, params.Get("subject.command"))
	for option := range elements(params.Get("options")) {
		var o Option
		f.setString(&o.ID, option.Get("optionId"))
		f.setString(&o.Name, option.Get("name"))
		f.setString(&o.Kind, option.Get("kind"))
		p.Options = append(p.Options, o)
	}
	var another func(e *Entity) bool
	if !f.nullClears() {
		another = c.isOver
	}
	call = c.patchToolCall(f, params.Get("toolCall"), another) // version 1, early 2
	if call == nil {
		call = c.patchToolCall(f, params.Get("subject.toolCall"), nil)
	}
	if call == nil {
		call = c.find(f, "tool", params.Get("subject.toolCallId").Text())
	}
	if call == nil {
		c.growing = nil
		c.add(f, &Entity{Permission: p})
		return p, nil
	}
	c.prepared(f, call)
	if !f.trace.Brief {
		call.ToolCall.Permissions = append(call.ToolCall.Permissions, p)
	}
	return p, call
}

func (p *Permission) answer(f *frame) {
	p.Response, p.Answered = f.Seq, f.At
	if f.Failed {
		p.Outcome = "failed"
		return
	}
	outcome := f.result().Get("outcome")
	f.setString(&p.Outcome, outcome.Get("outcome"))
	f.setString(&p.Chosen, outcome.Get("optionId"))
}
