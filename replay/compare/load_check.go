package compare

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

// A LoadCheck is a load, or a resume with history, that the agent served itself, together
// with what its replay lacks compared to the earlier live recording.
type LoadCheck struct {
	Tape    string `json:"tape"`
	Request uint64 `json:"request"` // Seq
	Method  string `json:"method"`
	Session string `json:"session"`
	Live    int    `json:"live"` // number of messages, tool calls and plans recorded live
	Losses  []Loss `json:"losses"`
}

// A Loss is a message, tool call or plan that a replay does not reproduce.
type Loss struct {
	How    string   `json:"how"`              // missing, changed or doubled
	What   string   `json:"what"`             // user, agent, thought, tool or plan
	Text   string   `json:"text"`             // its first line, or its title
	Fields []string `json:"fields,omitempty"` // if changed: the fields that differ
}

// CheckLoads compares each load on a session's last tape with what was recorded live
// before it. The tapes must be in order.
func CheckLoads(tapes []*record.Tape, session string) ([]LoadCheck, error) {
	last := tapes[len(tapes)-1]
	var found []LoadCheck
	replays := map[uint64]bool{} // by Seq, whether a request to the agent asks for a replay
	for f, err := range last.Frames(1) {
		switch {
		case err != nil:
			return nil, err
		case f.Session != session, !f.Does(dialect.Restores):
		case f.Dir == wire.ClientToAgent && f.AtAgent():
			replays[f.Seq] = f.Does(dialect.Loads) || wire.ValueAt(f.Raw, "params.replayFrom").IsObject()
		case f.Dir == wire.AgentToClient && f.AtAgent() && f.Events.Has(dialect.SessionOpened) && replays[f.Request]:
			found = append(found, LoadCheck{Tape: last.ID(), Request: f.Request, Method: f.Method, Session: session})
		}
	}
	for i := range found {
		if err := found[i].run(tapes); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// run counts the live items and finds the losses.
func (c *LoadCheck) run(tapes []*record.Tape) error {
	var live trace.Trace
	replayed := trace.Trace{Side: trace.AgentSide}
	for i, tape := range tapes {
		info, err := tape.Info()
		if err != nil {
			return err
		}
		live.Next(info.Connection)
		replayed.Next(info.Connection)
		loading := false
		for f, err := range tape.Frames(1) {
			if err != nil {
				return err
			}
			if i == len(tapes)-1 && f.Seq >= c.Request {
				loading = true
			}
			if loading && f.Does(dialect.Prompts) && f.Session == c.Session {
				break // the replay lasts until here, answered or not
			}
			if loading {
				replayed.Add(&f)
			} else {
				live.Add(&f)
			}
		}
	}
	before := items(&live, c.Session)
	c.Live = len(before)
	c.Losses = losses(before, items(&replayed, c.Session))
	return nil
}

// An item is a message, tool call or plan with its compared fields.
type item struct {
	what   string
	id     string            // empty: it has none, or shares it with another item
	text   string            // for Loss.Text
	fields map[string]string // JSON or text
}

func (a item) same(b item) bool { return a.what == b.what && len(a.differs(b)) == 0 }

// differs returns the names of the fields that are not the same.
func (a item) differs(b item) []string {
	var names []string
	for _, name := range []string{"text", "attachments", "title", "kind", "status", "content", "locations", "rawInput", "rawOutput", "entries"} {
		if a.fields[name] != b.fields[name] {
			names = append(names, name)
		}
	}
	return names
}

// items returns what a load of a session must replay; of plans, only the last.
func items(t *trace.Trace, session string) []item {
	var list []item
	var plan *item
	for _, s := range t.Sessions {
		if s.ID != session {
			continue
		}
		for _, e := range s.Conversation.Entities {
			switch {
			case e.Message != nil:
				if one := messageItem(e.Message); one.text != "" || one.fields["attachments"] != "" {
					list = append(list, one)
				}
			case e.ToolCall != nil:
				list = append(list, toolItem(e.ToolCall))
			case e.Plan != nil && !e.Plan.Removed:
				plan = &item{what: "plan", fields: map[string]string{"entries": wire.ValueAt(e.Plan.Raw, "entries").Raw()}}
			}
		}
	}
	if plan != nil {
		list = append(list, *plan)
	}
	return unnamed(list)
}

// unnamed removes ids that several items of a kind share.
func unnamed(list []item) []item {
	type kindID struct{ what, id string }
	having := map[kindID]int{}
	for _, a := range list {
		having[kindID{a.what, a.id}]++
	}
	for i, a := range list {
		if having[kindID{a.what, a.id}] > 1 {
			list[i].id = ""
		}
	}
	return list
}

func messageItem(m *trace.Message) item {
	var attachments strings.Builder
	for _, b := range m.Blocks.All() {
		if wire.ValueAt(b, "type").Text() != "text" {
			attachments.Write(b)
		}
	}
	text := m.Text()
	return item{what: string(m.Role), id: m.MessageID, text: firstLine(text), fields: map[string]string{"text": text, "attachments": attachments.String()}}
}

func toolItem(t *trace.ToolCall) item {
	var content []json.RawMessage
	for _, c := range t.Content {
		if wire.ValueAt(c, "type").Text() == "terminal" {
			c = json.RawMessage(`{"type":"terminal"}`) // its id differs from run to run
		}
		content = append(content, c)
	}
	return item{what: "tool", id: t.ID, text: firstLine(cmp.Or(t.Title, t.Name, t.ID)), fields: map[string]string{
		"title": t.Title, "kind": t.Kind, "status": t.Status, "content": joined(content),
		"locations": joined(t.Locations), "rawInput": string(t.RawInput), "rawOutput": string(t.RawOutput),
	}}
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	for i := range line {
		if i >= 80 {
			return line[:i] + "…"
		}
	}
	return line
}

func joined(list []json.RawMessage) string {
	var b strings.Builder
	for _, v := range list {
		b.Write(v)
		b.WriteByte('\n')
	}
	return b.String()
}

// losses compares items. It first matches equal items, in order. Among the rest, an item
// that resembles one in the replay, or does the same thing, has changed, and any other is
// missing. An item that only the replay has is no loss unless it appears twice: the agent
// may know more than was recorded.
func losses(live, replayed []item) []Loss {
	lost := []Loss{}
	taken := make([]bool, len(replayed))
	match := func(fits func(b item) bool) int {
		for i, b := range replayed {
			if !taken[i] && fits(b) {
				taken[i] = true
				return i
			}
		}
		return -1
	}
	var rest []item
	for _, a := range live {
		if match(a.same) < 0 {
			rest = append(rest, a)
		}
	}
	changed := make(map[int]item) // by index in rest
	for _, alike := range []func(a, b item) bool{item.resembles, item.doesSame} {
		for i, a := range rest {
			if _, found := changed[i]; found {
				continue
			}
			if k := match(func(b item) bool { return alike(a, b) }); k >= 0 {
				changed[i] = replayed[k]
			}
		}
	}
	for i, a := range rest {
		if b, found := changed[i]; found {
			lost = append(lost, Loss{How: "changed", What: a.what, Text: a.text, Fields: a.differs(b)})
		} else {
			lost = append(lost, Loss{How: "missing", What: a.what, Text: a.text})
		}
	}
	for i, b := range replayed {
		if !taken[i] && slices.ContainsFunc(live, b.same) {
			lost = append(lost, Loss{How: "doubled", What: b.what, Text: b.text})
		}
	}
	return lost
}

// resembles reports whether b may be a changed a: same id or title, or one text begins
// like the other. All plans resemble each other.
func (a item) resembles(b item) bool {
	switch {
	case a.what != b.what:
		return false
	case a.what == "plan", a.id != "" && a.id == b.id:
		return true
	case a.what == "tool":
		return a.fields["title"] == b.fields["title"]
	}
	x, y := a.fields["text"], b.fields["text"]
	return x != "" && y != "" && (strings.HasPrefix(x, y) || strings.HasPrefix(y, x))
}

// doesSame reports whether a and b are tool calls of one kind with the same input. Some
// agents give a replayed call a new id and another title.
func (a item) doesSame(b item) bool {
	input := a.fields["rawInput"]
	return a.what == "tool" && b.what == "tool" && input != "" && input == b.fields["rawInput"] && a.fields["kind"] == b.fields["kind"]
}

// String returns the loss as one line.
func (l Loss) String() string {
	s := fmt.Sprintf("%s %s", l.How, l.What)
	if l.Text != "" {
		s += fmt.Sprintf(" %q", l.Text)
	}
	if len(l.Fields) > 0 {
		s += ": " + strings.Join(l.Fields, ", ")
	}
	return s
}
