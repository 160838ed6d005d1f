package conform

import (
	"hash/maphash"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Offers are the modes and options that the agent offered in a session, since its
// connection began: a client may still choose from an older list.
type offers struct {
	modes, options set
	modesKnown     bool // what is not among the modes was not offered
	optionsKnown   bool
	full           bool // there were more than are remembered
}

// A set is a set of texts, by their hashes.
type set map[uint64]struct{}

// maxOffers is how many modes, options and values of a session are remembered.
const maxOffers = 2048

var seed = maphash.MakeSeed()

func hashOf(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, part := range parts {
		h.WriteString(part)
		h.WriteByte(0xff) // which UTF-8 does not have
	}
	return h.Sum64()
}

func (s set) has(parts ...string) bool {
	_, ok := s[hashOf(parts...)]
	return ok
}

func (o *offers) add(s *set, parts ...string) {
	if *s == nil {
		*s = set{}
	}
	if len(o.modes)+len(o.options) == maxOffers {
		o.full = true
		return
	}
	(*s)[hashOf(parts...)] = struct{}{}
}

// observe takes a step of the session.
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
		o.modesKnown = o.modesKnown || present(modes) || s.Method == "session/new"
		o.optionsKnown = o.optionsKnown || s.Method == "session/new"
		elements(modes, func(_ int, mode []byte) { o.add(&o.modes, text(get(mode, "id"))) })
	}
}

func (o *offers) addOptions(list []byte) {
	o.optionsKnown = o.optionsKnown || present(list)
	elements(list, func(_ int, option []byte) {
		id := optionID(option)
		o.add(&o.options, id)
		if text(get(option, "type")) != "select" {
			o.add(&o.options, id, "", "any")
			return
		}
		elements(get(option, "options"), func(_ int, choice []byte) {
			if group := get(choice, "options"); present(group) {
				elements(group, func(_ int, choice []byte) { o.add(&o.options, id, text(get(choice, "value"))) })
				return
			}
			o.add(&o.options, id, text(get(choice, "value")))
		})
	})
}

// optionID returns the id of an option, in any version.
func optionID(option []byte) string {
	if id := get(option, "configId"); present(id) {
		return text(id)
	}
	return text(get(option, "id"))
}

// configRules are about modes and options.
var configRules = checks{
	{"ACP602", modeUnknown},
	{"ACP605", booleanGate},
	{"ACP606", valueUnknown},
	{"ACP610", optionMissing},
}

func modeUnknown(s *Step, r *Report) {
	id := s.Param("modeId")
	if s.Session == nil || s.Session.offers.full || s.Session.lacks() == "" && !s.Session.offers.modesKnown {
		return
	}
	r.Tried()
	if !s.Session.offers.modes.has(text(id)) {
		r.Add(Evidence{Text: "set a mode that was not offered", Path: "modeId", Got: string(id)})
	}
}

func booleanGate(s *Step, r *Report) {
	list, path := s.Result("configOptions"), "configOptions"
	if s.is(wire.Notification) {
		list, path = s.Param("update", "configOptions"), "update.configOptions"
	}
	found := false
	elements(list, func(i int, option []byte) {
		if found || text(get(option, "type")) != "boolean" {
			return
		}
		found = true
		r.Tried()
		if !s.Conn.clientOffers("session", "configOptions", "boolean") {
			r.Add(Evidence{
				Text: "has an option of the type boolean without being offered session.configOptions.boolean",
				Path: dialect.ElementPath(path, i), Got: string(option), Because: []uint64{s.Conn.hello.asked.Seq},
			})
		}
	})
}

func optionMissing(s *Step, r *Report) {
	id := text(get(s.Call.Params, "configId"))
	list := s.Result("configOptions")
	if !s.Succeeded() || id == "" || len(list) == 0 || list[0] != '[' {
		return
	}
	r.Tried()
	found := false
	elements(list, func(_ int, option []byte) { found = found || optionID(option) == id })
	if !found {
		r.Add(Evidence{Text: "left the option that was set out of the list", Path: "configOptions", Want: "the option " + id, Because: []uint64{s.Call.Seq}})
	}
}

func valueUnknown(s *Step, r *Report) {
	if s.Session == nil || s.Session.offers.full || s.Session.lacks() == "" && !s.Session.offers.optionsKnown {
		return
	}
	r.Tried()
	offered := s.Session.offers.options
	id, value := s.Param("configId"), s.Param("value")
	switch {
	case !offered.has(text(id)):
		r.Add(Evidence{Text: "set an option that was not offered", Path: "configId", Got: string(id)})
	case isString(value) && !offered.has(text(id), text(value)) && !offered.has(text(id), "", "any"):
		r.Add(Evidence{Text: "set an option to a value that was not offered", Path: "value", Got: string(value)})
	}
}
