package drive

import (
	"fmt"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// offers are the modes, models and config options that the agent offers in a session.
type offers struct {
	modes  []choice
	models []choice
	config []choice
}

// A choice is one mode, model or config option, or a value of a config option.
type choice struct {
	id, name, category string
	values             []choice // of a config option
}

// answered notes what a response of the agent offers.
func (o *offers) answered(e wire.Envelope) {
	result := e.Result.Value()
	if list := result.Get("modes.availableModes"); list.IsArray() {
		o.modes = choices(list, "id")
	}
	if list := result.Get("models.availableModels"); list.IsArray() {
		o.models = choices(list, "modelId")
	}
	if list := result.Get("configOptions"); list.IsArray() {
		o.config = choices(list, "id")
	}
}

// updated notes what an update of the agent offers.
func (o *offers) updated(e wire.Envelope) {
	update := e.Params.Get("update")
	if list := update.Get("configOptions"); list.IsArray() && update.Get("sessionUpdate").Text() == "config_option_update" {
		o.config = choices(list, "id")
	}
}

// choices reads a list of choices. Their id is under key, or under configId as in version
// 2. The values of a config option may be in groups.
func choices(list wire.Value, key string) []choice {
	var all []choice
	for _, v := range list.Array() {
		if group := v.Get("options"); key == "value" && group.IsArray() {
			all = append(all, choices(group, key)...)
			continue
		}
		c := choice{id: v.Get(key).String(), name: v.Get("name").Text(), category: v.Get("category").Text()}
		if id := v.Get("configId"); id.Exists() {
			c.id = id.Text()
		}
		if options := v.Get("options"); options.IsArray() {
			c.values = choices(options, "value")
		}
		all = append(all, c)
	}
	return all
}

// translate returns a message with the live id of its choice. missing names the choice if
// the live agent offers no counterpart; otherwise it is empty.
func (then offers) translate(method string, message []byte, now offers) (translated []byte, missing string) {
	choose := func(path string, then, now []choice) (was, is *choice) {
		keys := strings.Split(path, ".")
		id := wire.ValueOf(wire.Get(message, keys...)).Text()
		was, is = counterpart(id, then, now)
		switch {
		case len(then) == 0 && len(now) == 0 || missing != "":
		case is == nil:
			missing = fmt.Sprintf("%s %q", path[len("params."):], id)
		case is.id != id:
			message = wire.Set(message, wire.Quote(is.id), keys...)
		}
		return was, is
	}
	switch role := dialect.RoleOf(dialect.ACP, method); {
	case role.Is(dialect.SetsMode):
		choose("params.modeId", then.modes, now.modes)
	case role.Is(dialect.SetsModel):
		choose("params.modelId", then.models, now.models)
	case role.Is(dialect.SetsOption):
		was, is := choose("params.configId", then.config, now.config)
		if was != nil && is != nil && len(was.values) > 0 {
			choose("params.value", was.values, is.values)
		}
	}
	return message, missing
}

// counterpart returns the recorded choice with an id and its live counterpart: the choice
// with the same id, otherwise the only one with the same name, otherwise the only one in
// the same category.
func counterpart(id string, then, now []choice) (was, is *choice) {
	for i := range then {
		if then[i].id == id {
			was = &then[i]
		}
	}
	for i := range now {
		if now[i].id == id {
			return was, &now[i]
		}
	}
	if was == nil {
		return nil, nil
	}
	if is = only(now, func(c *choice) bool { return c.name != "" && c.name == was.name }); is == nil {
		is = only(now, func(c *choice) bool { return c.category != "" && c.category == was.category })
	}
	return was, is
}

// only returns the only element that fits, or nil if none or several fit.
func only[T any](list []T, fits func(*T) bool) *T {
	var found *T
	for i := range list {
		if !fits(&list[i]) {
			continue
		}
		if found != nil {
			return nil
		}
		found = &list[i]
	}
	return found
}
