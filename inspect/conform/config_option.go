package conform

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// offers holds the modes and options that the agent has offered in a session since its
// connection began: a client may still choose from an older list.
type offers struct {
	modes, options hashes
	modesKnown     bool // the list of modes is complete
	optionsKnown   bool
}

// maxOffers limits the modes, and the options and values, remembered per session.
const maxOffers = 1024

// observe records what a step of the session offers.
func (o *offers) observe(s *Step) {
	if s.Update == "config_option_update" {
		o.addOptions(s.Param("update", "configOptions"))
		return
	}
	if s.Call == nil || s.From != Agent || !s.Succeeded() {
		return
	}
	switch {
	case s.Method == "session/set_config_option":
		o.addOptions(s.Result("configOptions"))
	case dialect.RoleOf(dialect.ACP, s.Method).Is(dialect.Opens):
		o.addOptions(s.Result("configOptions"))
		modes := s.Result("modes", "availableModes")
		o.modesKnown = o.modesKnown || wire.Present(modes) || s.Method == "session/new"
		o.optionsKnown = o.optionsKnown || s.Method == "session/new"
		for _, mode := range wire.Elements(modes) {
			o.modes.add(maxOffers, wire.Text(wire.Get(mode, "id")))
		}
	}
}

func (o *offers) addOptions(list []byte) {
	o.optionsKnown = o.optionsKnown || wire.Present(list)
	for _, option := range wire.Elements(list) {
		id := optionID(option)
		o.options.add(maxOffers, id)
		if wire.Text(wire.Get(option, "type")) != "select" {
			o.options.add(maxOffers, id, "", "any")
			continue
		}
		for _, choice := range wire.Elements(wire.Get(option, "options")) {
			if group := wire.Get(choice, "options"); !wire.Present(group) {
				o.options.add(maxOffers, id, wire.Text(wire.Get(choice, "value")))
			} else {
				for _, choice := range wire.Elements(group) {
					o.options.add(maxOffers, id, wire.Text(wire.Get(choice, "value")))
				}
			}
		}
	}
}

// optionID returns the ID of an option in any version.
func optionID(option []byte) string {
	if id := wire.Get(option, "configId"); wire.Present(id) {
		return wire.Text(id)
	}
	return wire.Text(wire.Get(option, "id"))
}

// configRules concern modes and options.
var configRules = checks{
	{"ACP602", modeUnknown},
	{"ACP605", booleanGate},
	{"ACP606", valueUnknown},
	{"ACP610", optionMissing},
}

func modeUnknown(s *Step, r *Report) {
	id := s.Param("modeId")
	if s.Session == nil || s.Session.offers.modes.forgot || s.Session.lacks() == "" && !s.Session.offers.modesKnown {
		return
	}
	r.Judge(!s.Session.offers.modes.has(wire.Text(id)), Evidence{Text: "set a mode that was not offered", Path: "modeId", Got: string(id)})
}

func booleanGate(s *Step, r *Report) {
	list, path := s.Result("configOptions"), "configOptions"
	if s.is(wire.Notification) {
		list, path = s.Param("update", "configOptions"), "update.configOptions"
	}
	for i, option := range wire.Elements(list) {
		if wire.Text(wire.Get(option, "type")) != "boolean" {
			continue
		}
		r.Judge(!s.Conn.clientOffers("session.configOptions.boolean"), Evidence{
			Text: "has an option of the type boolean without being offered session.configOptions.boolean",
			Path: dialect.ElementPath(path, i), Got: string(option), Because: []uint64{s.Conn.hello.asked.Seq},
		})
		return
	}
}

func optionMissing(s *Step, r *Report) {
	id := wire.Text(wire.Get(s.Call.Params, "configId"))
	list := s.Result("configOptions")
	if id == "" || len(list) == 0 || list[0] != '[' {
		return
	}
	found := false
	for _, option := range wire.Elements(list) {
		found = found || optionID(option) == id
	}
	r.Judge(!found, Evidence{Text: "left the option that was set out of the list", Path: "configOptions", Want: "the option " + id, Because: []uint64{s.Call.Seq}})
}

func valueUnknown(s *Step, r *Report) {
	if s.Session == nil || s.Session.offers.options.forgot || s.Session.lacks() == "" && !s.Session.offers.optionsKnown {
		return
	}
	r.Tried()
	offered := &s.Session.offers.options
	id, value := s.Param("configId"), s.Param("value")
	switch {
	case !offered.has(wire.Text(id)):
		r.Add(Evidence{Text: "set an option that was not offered", Path: "configId", Got: string(id)})
	case isString(value) && !offered.has(wire.Text(id), wire.Text(value)) && !offered.has(wire.Text(id), "", "any"):
		r.Add(Evidence{Text: "set an option to a value that was not offered", Path: "value", Got: string(value)})
	}
}
