package shim

import (
	"bytes"
	"errors"
	"slices"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

// followSetting notes a change of mode, model or option that the client asks for.
func (s *Shim) followSetting(c *session, m message) {
	if m.env.ID == nil || !m.does(dialect.Sets) {
		return
	}
	params := bytes.Clone(m.env.Params)
	s.expect(m.env.ID, &call{answered: func(m message, out []wire.Frame) []wire.Frame {
		if m.env.Error == nil {
			c.noteSetting(params, m.env.Result)
		}
		return append(out, m.Frame)
	}})
}

// noteSetting notes that the agent has changed a mode, a model or an option. params are
// those of the request that asked for it.
func (c *session) noteSetting(params, result []byte) {
	c.setSetting("modes.currentModeId", wire.ValueAt(params, "modeId"))
	c.setSetting("models.currentModelId", wire.ValueAt(params, "modelId"))
	c.setSetting("configOptions", wire.ValueAt(result, "configOptions"))
}

// setSetting changes a value in the setup's result.
func (c *session) setSetting(path string, v wire.Value) {
	if v.Exists() && wire.ValueAt(c.setup, path).Exists() {
		c.setup = set(c.setup, path, []byte(v.Raw()))
	}
}

// recordedSettings returns the settings to restore in a session, or nil if they were
// imported or recorded by another agent. Those must not be restored: a mode may let the
// agent act without asking, and anyone may have written an imported tape.
func (s *Shim) recordedSettings(one record.SessionInfo, l record.Listing, last *sessionPart) *trace.State {
	foreign := func(r record.Run) bool {
		info := tapeOf(l, r)
		return info == nil || info.Imported
	}
	if one.Agent != s.Agent || slices.ContainsFunc(one.Runs, foreign) {
		return nil
	}
	return &last.State
}

// restoreSettings sets the recorded mode, model and options in the agent's new session.
// If the agent refuses, the session opens with the agent's settings.
func (l *load) restoreSettings() error {
	was := l.past.settings
	if was == nil {
		return nil
	}
	c := l.session
	for _, one := range settings(was) {
		var params members
		l.shim.change(func() { params = one.params(wire.ValueOf(c.setup), l.shim.dialect) })
		if params == nil {
			continue
		}
		a, err := l.request.ask(one.method, set(params.object(), "sessionId", wire.Quote(c.agentID)), c)
		switch {
		case errors.Is(err, errSilent):
			return nil // it would be silent about the others too
		case err != nil:
			return err
		case a.err == nil:
			l.shim.change(func() { c.noteSetting(params.object(), a.result) })
		}
	}
	return nil
}

// A setting is a recorded mode, model or option, with the method that sets it.
type setting struct {
	method string
	option string // id of the option
	value  wire.Value
}

// maxOptions limits how many of a session's options are restored. Agents have a few.
const maxOptions = 100

// settings returns the settings in a recorded state, in restore order: the options may
// depend on the model.
func settings(was *trace.State) []setting {
	var list []setting
	if was.Mode != "" {
		list = append(list, setting{method: dialect.SetMode, value: wire.ValueOf(wire.Quote(was.Mode))})
	}
	if was.Model != "" {
		list = append(list, setting{method: dialect.SetModel, value: wire.ValueOf(wire.Quote(was.Model))})
	}
	options := wire.ValueOf(was.Config).Array()
	for _, option := range options[:min(len(options), maxOptions)] {
		list = append(list, setting{dialect.SetOption, optionID(option), option.Get("currentValue")})
	}
	return list
}

// params returns the parameters that set the setting in a session, without the session
// id. It returns nil if the agent does not offer the value, or already uses it. setup is
// the result of the request that opened the session.
func (one setting) params(setup wire.Value, d dialect.Dialect) members {
	switch id := one.value.Text(); one.method {
	case dialect.SetMode:
		if modes := setup.Get("modes"); modes.Get("currentModeId").Text() != id && offers(modes.Get("availableModes"), "id", id) {
			return members(nil).text("modeId", id)
		}
	case dialect.SetModel:
		if models := setup.Get("models"); models.Get("currentModelId").Text() != id && offers(models.Get("availableModels"), "modelId", id) {
			return members(nil).text("modelId", id)
		}
	case dialect.SetOption:
		for _, option := range setup.Get("configOptions").Array() {
			if optionID(option) == one.option && option.Get("currentValue").Raw() != one.value.Raw() {
				return one.optionParams(option, d)
			}
		}
	}
	return nil
}

// optionParams is params for an option that the agent offers with a different value.
func (one setting) optionParams(option wire.Value, d dialect.Dialect) members {
	kind := ""
	switch value := one.value; {
	case option.Get("type").Text() == "boolean" && (value.IsTrue() || value.IsFalse()):
		kind = "boolean"
	case !value.IsString() || !offers(option.Get("options"), "value", value.Text()):
		return nil
	case d == dialect.ACPv2:
		kind = "id"
	}
	return members(nil).text("configId", one.option).text("type", kind).add("value", []byte(one.value.Raw()))
}

// offers reports whether a list has a choice with this id under key. Choices may be
// grouped.
func offers(list wire.Value, key, id string) bool {
	has := func(choice wire.Value) bool { return choice.Get(key).IsString() && choice.Get(key).Text() == id }
	return slices.ContainsFunc(list.Array(), func(choice wire.Value) bool {
		return has(choice) || slices.ContainsFunc(choice.Get("options").Array(), has)
	})
}

// optionID returns the id of an option in any dialect.
func optionID(option wire.Value) string {
	if id := option.Get("configId"); id.Exists() {
		return id.Text()
	}
	return option.Get("id").Text()
}
