package trace

import (
	"cmp"
	"encoding/base64"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Terminal is a command and its output. In version 1 the client runs it, and only the output
// that the agent requested is known. In version 2 the agent runs and describes it.
type Terminal struct {
	ID        string   `json:"terminalId"`
	Command   string   `json:"command,omitzero"`
	Args      []string `json:"args,omitempty"` // version 1
	Cwd       string   `json:"cwd,omitzero"`
	Output    []byte   `json:"output"`
	Truncated bool     `json:"truncated,omitzero"`   // version 1: the beginning of the output is missing
	Exit      *Exit    `json:"exitStatus,omitempty"` // nil: it runs, or the agent did not ask for its end
	Released  bool     `json:"released,omitzero"`    // version 1: the agent no longer uses it
}

// An Exit is how a command ended.
type Exit struct {
	Code   *int64 `json:"exitCode,omitempty"` // nil if a signal ended it
	Signal string `json:"signal,omitempty"`
}

// Terminal returns the terminal that a tool call refers to by id, or nil. A client may reuse
// an id; the last terminal that had it while the call was running counts.
func (c *Conversation) Terminal(call *Entity, id string) *Terminal {
	key := entityKey{call.Run, "terminal", id}
	e := c.byID[key]
	if e == nil {
		return nil
	}
	if gone := c.earlier[key]; len(gone) > 0 && e.First > call.Last {
		i, _ := slices.BinarySearchFunc(gone, call.Last, func(e *Entity, last uint64) int { return cmp.Compare(e.First, last+1) })
		e = gone[max(i-1, 0)]
	}
	return e.Terminal
}

// OwnTerminals returns the terminals that belong to a tool call's content and are shown with
// it.
func (c *Conversation) OwnTerminals() map[*Terminal]bool {
	own := map[*Terminal]bool{}
	if !slices.ContainsFunc(c.Entities, func(e *Entity) bool { return e.Terminal != nil }) {
		return own
	}
	for _, e := range c.Entities {
		if e.ToolCall == nil {
			continue
		}
		for _, item := range e.ToolCall.Content {
			if v := wire.JSON(item).Value(); v.Get("type").Text() == "terminal" {
				if t := c.Terminal(e, v.Get("terminalId").Text()); t != nil {
					own[t] = true
				}
			}
		}
	}
	return own
}

func (c *Conversation) terminal(f *frame, id string) *Terminal {
	e := c.find(f, "terminal", id)
	if e == nil {
		return c.newTerminal(f, id)
	}
	return e.Terminal
}

func (c *Conversation) newTerminal(f *frame, id string) *Terminal {
	key := entityKey{f.run, "terminal", strings.Clone(id)}
	if old := c.byID[key]; old != nil {
		if c.earlier == nil {
			c.earlier = make(map[entityKey][]*Entity)
		}
		c.earlier[key] = append(c.earlier[key], old)
	}
	return c.addAs(f, key.kind, key.id, &Entity{Terminal: &Terminal{ID: key.id}}).Terminal
}

// terminalAnswer applies the client's answer to a terminal method of version 1.
func (c *Conversation) terminalAnswer(f *frame, w *pendingCall) {
	if f.trace.Brief {
		c.Changed = nil
		return
	}
	result := f.result()
	switch role := dialect.RoleOf(dialect.ACP, w.Method); {
	case role.Is(dialect.StartsCommand):
		t := c.newTerminal(f, result.Get("terminalId").Text())
		t.Command, t.Cwd = w.param("command"), w.param("cwd")
		for arg := range elements(wire.JSON(w.params).Get("args")) {
			t.Args = append(t.Args, strings.Clone(arg.Text()))
		}
	case role.Is(dialect.ReadsOutput):
		t := c.terminal(f, w.param("terminalId"))
		t.Output = []byte(result.Get("output").Text())
		t.Truncated = result.Get("truncated").Bool()
		t.exited(f, result.Get("exitStatus"))
	case role.Is(dialect.AwaitsExit):
		c.terminal(f, w.param("terminalId")).exited(f, result)
	case role.Is(dialect.ReleasesTerminal):
		c.terminal(f, w.param("terminalId")).Released = true
	}
}

func (t *Terminal) exited(f *frame, status wire.Value) {
	if !status.IsObject() {
		return
	}
	t.Exit = new(Exit)
	if code := status.Get("exitCode"); code.IsNumber() {
		n := code.Int()
		t.Exit.Code = &n
	}
	f.setString(&t.Exit.Signal, status.Get("signal"))
}

// terminalUpdate applies a terminal_update (version 2).
func (c *Conversation) terminalUpdate(f *frame, u wire.Value) {
	if f.trace.Brief {
		c.Changed = nil
		return
	}
	t := c.terminal(f, u.Get("terminalId").Text())
	f.setString(&t.Command, u.Get("command"))
	f.setString(&t.Cwd, u.Get("cwd"))
	switch output := u.Get("output"); {
	case output.IsObject():
		t.Output = decode(nil, output.Get("data").Text())
	case f.cleared(output):
		t.Output = nil
	}
	switch status := u.Get("exitStatus"); {
	case f.cleared(status):
		t.Exit = nil
	default:
		t.exited(f, status)
	}
}

// terminalOutput applies a terminal_output_chunk (version 2).
func (c *Conversation) terminalOutput(f *frame, u wire.Value) {
	if f.trace.Brief {
		c.Changed = nil
		return
	}
	t := c.terminal(f, u.Get("terminalId").Text())
	t.Output = decode(t.Output, u.Get("data").Text())
}

// decode appends the bytes of base64 text, with or without padding. It stops at the
// first character that is not base64.
func decode(dst []byte, text string) []byte {
	text = strings.TrimRight(text, "=")
	dst, _ = base64.RawStdEncoding.AppendDecode(dst, []byte(text))
	return dst
}
