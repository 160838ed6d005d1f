package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// session writes a session: its turns, messages, tool calls and other calls, in the
// order of the tape.
func (o *Outliner) session(n int, s *trace.Session) {
	o.from(s.Spans[0].Run, s.Spans[0].First)
	o.line(0, fmt.Sprintf("session %d", n))
	if s.Connection.Protocol == dialect.MCP {
		o.calls(func(c *trace.Call) bool { return c.Session == s.ID })
		o.told(scope{session: s.ID})
		return
	}
	var said []*trace.Message // adjacent ones of one role, not yet written
	var saidAt Position
	write := func(depth int) {
		o.at = saidAt
		var blocks []json.RawMessage
		for _, m := range said {
			blocks = append(blocks, m.Blocks.All()...)
		}
		o.blocks(depth+1, blocks)
		if o.once {
			for _, m := range said {
				m.Blocks = trace.Blocks{}
			}
		}
	}
	depth := 1
	for _, h := range o.happenings(s) {
		m := h.message
		if said != nil && (m == nil || m.Role != said[0].Role) {
			write(depth)
			said = nil
		}
		o.from(h.run, h.seq)
		switch {
		case m != nil:
			if said == nil {
				o.line(depth, string(m.Role))
				saidAt = o.at
			}
			said = append(said, m)
		case h.turn != nil && h.ends:
			depth = 1
			o.line(depth, fmt.Sprintf("turn %d: %s", h.turn.Number, endOf(h.turn)))
		case h.turn != nil:
			o.line(depth, fmt.Sprintf("turn %d", h.turn.Number))
			depth = 2
		case h.call != nil:
			o.call(depth, h.call)
		default:
			o.entity(depth, h.entity)
			if t := h.entity.ToolCall; t != nil && o.once {
				*t = trace.ToolCall{}
			}
		}
	}
	if said != nil {
		write(depth)
	}
	// A component of a proxy chain passes messages on before or after its own: the order
	// is random.
	o.calls(func(c *trace.Call) bool { return c.Session == s.ID && dialect.Wraps(c.Method) })
	o.told(scope{session: s.ID})
	if o.level == Content {
		last := s.Spans[len(s.Spans)-1]
		o.from(last.Run, last.Last)
		o.state(s.Conversation.State)
	}
}

// A happening is something at one point in a session. One of its pointers is set.
type happening struct {
	run     int
	seq     uint64
	turn    *trace.Turn
	ends    bool // it is the turn's end
	call    *trace.Call
	message *trace.Message
	entity  *trace.Entity
}

func (o *Outliner) happenings(s *trace.Session) []happening {
	var list []happening
	for _, t := range s.Conversation.Turns {
		list = append(list, happening{run: t.Run, seq: t.Prompt, turn: t})
	}
	for _, c := range o.trace.Calls {
		if c.Session == s.ID && !shownOtherwise(c.Method) && !dialect.Wraps(c.Method) && !(o.side.AsNew && dialect.RoleOf(dialect.ACP, c.Method).Is(dialect.Opens)) {
			list = append(list, happening{run: c.Run, seq: c.Request, call: c})
		}
	}
	for _, e := range s.Conversation.Entities {
		switch m := e.Message; {
		case o.side.AsNew && e.Replayed:
		case m == nil:
			list = append(list, happening{run: e.Run, seq: e.First, entity: e})
		case !m.Blocks.Empty():
			list = append(list, happening{run: e.Run, seq: e.First, message: m})
		}
	}
	for _, t := range s.Conversation.Turns {
		end := t.End
		if t.Open() {
			end = t.Last
		}
		list = append(list, happening{run: t.Run, seq: end, turn: t, ends: true})
	}
	slices.SortStableFunc(list, func(a, b happening) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.seq, b.seq))
	})
	return list
}

// shownOtherwise reports whether the outline shows the calls of a method as turns,
// permissions or terminals. How often an agent polls a terminal depends on its speed.
func shownOtherwise(method string) bool {
	return dialect.Does(method, dialect.Prompts|dialect.AsksPermission|dialect.UsesTerminal)
}

// endOf describes how a turn ended. An error's text may change with each run, its code
// does not.
func endOf(t *trace.Turn) string {
	end := t.Outcome.String()
	switch {
	case t.Error != nil:
		end = t.Outcome.How.String() + " " + wire.ValueAt(t.Error, "code").Raw()
	case t.Outcome.How == dialect.OutOfTokens:
		end += " (" + t.StopReason + ")"
	}
	if t.Cancelled && t.Outcome.How != dialect.Cancelled {
		end += ", cancelled by the client"
	}
	return end
}

// entity writes an entity that is not a message.
func (o *Outliner) entity(depth int, e *trace.Entity) {
	switch {
	case e.ToolCall != nil:
		o.toolCall(depth, e.ToolCall)
	case e.Plan != nil:
		o.line(depth, "plan")
		o.fields(depth+1, e.Plan.Raw)
	case e.Terminal != nil:
		o.terminal(depth, e.Terminal)
	case e.Compaction != nil:
		o.line(depth, strings.TrimSpace("compaction "+e.Compaction.Status))
		o.blocks(depth+1, e.Compaction.Summary.All())
	case e.Permission != nil:
		o.line(depth, "permission")
		if o.level == Content {
			o.text(depth+1, strings.Join([]string{e.Permission.Title, e.Permission.Description, e.Permission.Command}, "\n"))
		}
		o.permission(depth+1, e.Permission)
	case e.Subagent != nil:
		o.line(depth, "subagent: "+e.Subagent.Outcome().How.String())
	case e.Notice != nil:
		o.line(depth, strings.TrimSpace("notice "+e.Notice.Severity))
		if o.level == Content {
			o.text(depth+1, e.Notice.Title+"\n"+e.Notice.Description)
		}
	case e.Other != nil:
		o.line(depth, strings.TrimSpace("update "+e.Other.Update))
		o.fields(depth+1, e.Other.Raw)
	}
}

func (o *Outliner) toolCall(depth int, t *trace.ToolCall) {
	kind := cmp.Or(t.Kind, "other")
	o.line(depth, fmt.Sprintf("tool call, %s: %s", kind, cmp.Or(t.Status, "pending")))
	depth++
	if o.level == Content {
		o.text(depth, t.Title)
		for _, l := range t.Locations {
			o.fields(depth, l)
		}
		if t.RawInput != nil {
			o.fields(depth, []byte(`{"rawInput":`+string(t.RawInput)+`}`))
		}
	}
	call := o.at
	for _, p := range t.Permissions {
		o.at.Seq = p.Request // on the tape of the tool call
		o.permission(depth, p)
	}
	o.at = call
	if o.level != Content {
		return
	}
	for _, raw := range t.Content {
		item := wire.ValueOf(raw)
		switch item.Get("type").Text() {
		case "content":
			o.blocks(depth, []json.RawMessage{json.RawMessage(item.Get("content").Raw())})
		case "diff":
			if item.Get("newText").Exists() {
				o.line(depth, "diff of "+item.Get("path").Text())
				seed := maphash.MakeSeed()
				before, after := sheetOf(seed, split(item.Get("oldText").Text())), sheetOf(seed, split(item.Get("newText").Text()))
				for _, h := range hunks(before, after) {
					for l := range h.Lines {
						o.line(depth, "| "+string(l.Op)+l.Text)
					}
				}
				continue
			}
			o.fields(depth, raw)
		default:
			o.fields(depth, raw)
		}
	}
	if len(t.Content) == 0 && t.RawOutput != nil {
		o.fields(depth, []byte(`{"rawOutput":`+string(t.RawOutput)+`}`))
	}
}

// permission writes how a permission was answered. Of the chosen option it writes only
// the kind: agents make up ids and names.
func (o *Outliner) permission(depth int, p *trace.Permission) {
	answer := cmp.Or(p.Outcome, "not answered")
	for _, option := range p.Options {
		if option.ID == p.Chosen && p.Outcome == "selected" {
			answer = option.Kind
		}
	}
	o.line(depth, "permission: "+answer)
}

func (o *Outliner) terminal(depth int, t *trace.Terminal) {
	end := ""
	switch x := t.Exit; {
	case x == nil:
	case x.Signal != "":
		end = ": signal " + x.Signal
	case x.Code != nil:
		end = fmt.Sprintf(": exit %d", *x.Code)
	}
	o.line(depth, "terminal"+end)
	if o.level == Content {
		o.text(depth+1, strings.Join(append([]string{"$ " + t.Command}, t.Args...), " "))
		o.text(depth+1, string(t.Output))
	}
}

// blocks writes the relevant content blocks. It joins adjacent texts.
func (o *Outliner) blocks(depth int, blocks []json.RawMessage) {
	if o.level != Content {
		return
	}
	list, err := json.Marshal(blocks)
	if err != nil {
		return // a block was cut off
	}
	for _, f := range dialect.MatchFields(dialect.Prompt, []byte(`{"prompt":`+string(list)+`}`)) {
		var text string
		if strings.HasSuffix(f.Path, ".text") && json.Unmarshal([]byte(f.Value), &text) == nil {
			o.text(depth, text)
			continue
		}
		_, f.Path, _ = strings.Cut(f.Path, "].") // without prompt[0]
		o.field(depth, "", f)
	}
}

// fields writes the values of an update, except those known to change with each run.
func (o *Outliner) fields(depth int, value json.RawMessage) {
	if o.level != Content {
		return
	}
	for _, f := range rpc.Lasting(dialect.MatchFields("", value)) {
		o.field(depth, "", f)
	}
}

// state writes the title, mode and model that the session ends with.
func (o *Outliner) state(s trace.State) {
	for _, v := range []struct{ name, value string }{{"title", s.Title}, {"mode", s.Mode}, {"model", s.Model}} {
		if v.value != "" {
			o.line(1, v.name+": "+strings.ReplaceAll(v.value, "\n", " "))
		}
	}
}
