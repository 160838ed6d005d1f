package conform

import (
	"hash/maphash"

	"github.com/acptap/acptap/proxy/bounded"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// offers are the modes and options that the agent has offered in a session since its
// connection began: a client may still choose from an older list.
type offers struct {
	modes, options set
	modesKnown     bool // the modes are complete
	optionsKnown   bool
	full           bool // there were more than are remembered
}

// A set is a set of texts, as hashes.
type set map[uint64]struct{}

// maxOffers is how many modes, options and values of a session are remembered.
const maxOffers = 2048

// hashes is a set that keeps only the hashes of its values.
type hashes struct {
	known  bounded.Map[uint64, struct{}]
	forgot bool // more were added than are remembered
}

// add adds a value to a set of at most the given size.
func (h *hashes) add(value []byte, most int) {
	h.known.Limit = most
	_, full := h.known.Set(maphash.Bytes(seed, value), struct{}{})
	h.forgot = h.forgot || full
}

func (h *hashes) has(value []byte) bool {
	_, ok := h.known.Get(maphash.Bytes(seed, value))
	return ok
}

var seed = maphash.MakeSeed() // for all hashes

func hashOf(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, part := range parts {
		h.WriteString(part)
		h.WriteByte(0xff) // not in UTF-8
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

// observe notes what a step of the session offers.
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
			o.add(&o.modes, wire.Text(wire.Get(mode, "id")))
		}
	}
}

func (o *offers) addOptions(list []byte) {
	o.optionsKnown = o.optionsKnown || wire.Present(list)
	for _, option := range wire.Elements(list) {
		id := optionID(option)
		o.add(&o.options, id)
		if wire.Text(wire.Get(option, "type")) != "select" {
			o.add(&o.options, id, "", "any")
			continue
		}
		for _, choice := range wire.Elements(wire.Get(option, "options")) {
			if group := wire.Get(choice, "options"); !wire.Present(group) {
				o.add(&o.options, id, wire.Text(wire.Get(choice, "value")))
			} else {
				for _, choice := range wire.Elements(group) {
					o.add(&o.options, id, wire.Text(wire.Get(choice, "value")))
				}
			}
		}
	}
}

// optionID returns the ID of an option of any version.
func optionID(option []byte) string {
	if id := wire.Get(option, "configId"); wire.Present(id) {
		return wire.Text(id)
	}
	return wire.Text(wire.Get(option, "id"))
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
		r.Judge(!s.Conn.clientOffers("session", "configOptions", "boolean"), Evidence{
			Text: "has an option of the type boolean without being offered session.configOptions.boolean",
			Path: dialect.ElementPath(path, i), Got: string(option), Because: []uint64{s.Conn.hello.asked.Seq},
		})
		return
	}
}

func optionMissing(s *Step, r *Report) {
	id := wire.Text(wire.Get(s.Call.Params, "configId"))
	list := s.Result("configOptions")
	if !s.Succeeded() || id == "" || len(list) == 0 || list[0] != '[' {
		return
	}
	found := false
	for _, option := range wire.Elements(list) {
		found = found || optionID(option) == id
	}
	r.Judge(!found, Evidence{Text: "left the option that was set out of the list", Path: "configOptions", Want: "the option " + id, Because: []uint64{s.Call.Seq}})
}

func valueUnknown(s *Step, r *Report) {
	if s.Session == nil || s.Session.offers.full || s.Session.lacks() == "" && !s.Session.offers.optionsKnown {
		return
	}
	r.Tried()
	offered := s.Session.offers.options
	id, value := s.Param("configId"), s.Param("value")
	switch {
	case !offered.has(wire.Text(id)):
		r.Add(Evidence{Text: "set an option that was not offered", Path: "configId", Got: string(id)})
	case isString(value) && !offered.has(wire.Text(id), wire.Text(value)) && !offered.has(wire.Text(id), "", "any"):
		r.Add(Evidence{Text: "set an option to a value that was not offered", Path: "value", Got: string(value)})
	}
}
