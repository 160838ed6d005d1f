package trace

import (
	"cmp"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Change is a new value of the session's mode, model or another option. Names are the
// agent's, or ids where it gave none.
type Change struct {
	What string `json:"what"`
	From string `json:"from"`
	To   string `json:"to"`
}

// String returns the change in words, such as `mode: Plan → Code`.
func (c *Change) String() string { return c.What + ": " + c.From + " → " + c.To }

// maxNamed limits the modes and models whose names are kept.
const maxNamed = 64

// namesOf returns the names of modes or models that the agent offers, by id.
func namesOf(f *frame, list wire.Value, id string) map[string]string {
	names := map[string]string{}
	for one := range elements(list) {
		if len(names) < maxNamed {
			name := ""
			f.setString(&name, one.Get("name"))
			names[strings.Clone(one.Get(id).Text())] = name
		}
	}
	return names
}

// change calls do, which may change a setting of the session, and adds the resulting Change to
// the conversation.
func (c *Conversation) change(f *frame, do func()) {
	before := c.State
	do()
	if f.trace.Brief || c.history.repeated {
		return
	}
	now := &c.State
	for _, one := range []struct {
		what, from, to string
		names          map[string]string
	}{{"mode", before.Mode, now.Mode, now.modes}, {"model", before.Model, now.Model, now.models}} {
		if one.from != "" {
			c.addChange(f, Change{one.what, cmp.Or(one.names[one.from], one.from), cmp.Or(one.names[one.to], one.to)})
		}
	}
	for option := range elements(wire.ValueOf(now.Config)) {
		id := option.Get("id").Text()
		for old := range elements(wire.ValueOf(before.Config)) {
			if id != "" && old.Get("id").Text() == id {
				c.addChange(f, Change{cmp.Or(option.Get("name").Text(), id), valueName(old), valueName(option)})
				break
			}
		}
	}
}

// addChange adds a change to the conversation, unless nothing changed or an earlier frame has
// reported it.
func (c *Conversation) addChange(f *frame, change Change) {
	if change.From == change.To {
		return
	}
	if n := len(c.Entities); n > 0 {
		if last := c.Entities[n-1].Change; last != nil && strings.EqualFold(last.What, change.What) && last.To == change.To {
			return
		}
	}
	// What the agent says around it may be one message, so nothing else ends here.
	c.Entities = append(c.Entities, &Entity{Span: begin(f), Turn: c.turns.current, section: c.turns.section, Change: &change})
}

// valueName returns the name of an option's value, or the value.
func valueName(option wire.Value) string {
	value := option.Get("currentValue")
	for one := range elements(option.Get("options")) {
		for of := range elements(one.Get("options")) { // a group
			if of.Get("value").Text() == value.Text() {
				return strings.Clone(cmp.Or(of.Get("name").Text(), value.Text()))
			}
		}
		if one.Get("value").Text() == value.Text() {
			return strings.Clone(cmp.Or(one.Get("name").Text(), value.Text()))
		}
	}
	return strings.Clone(value.String())
}

// sets reports whether a response may change a setting that the client asked to change.
func sets(method string) bool {
	return dialect.RoleOf(dialect.ACP, method).Is(dialect.SetsMode | dialect.SetsModel | dialect.SetsOption)
}
