package conform

import (
	"bytes"
	"math"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A hello records what both sides said about themselves.
type hello struct {
	client   []byte // params of initialize
	agent    []byte // its result; in MCP without initialize, the result of server/discover
	asked    Moment // of initialize; Seq 0: none
	answered Moment // of the answer to it; Seq 0: none
	whole    bool   // both are known
	begun    bool   // the client has sent a message

	allowed map[string]bool // by method or variant: whether the capability it requires was offered; absent: it requires none
}

// maxHello limits what is kept of one side's hello, in bytes; a longer one is unknown.
const maxHello = 256 << 10

func (h *hello) observe(s *Step) {
	h.begun = h.begun || s.From == Client && s.Kind() != wire.Invalid
	switch {
	case s.Method == "initialize" && s.Kind() == wire.Request && s.From == Client:
		*h = hello{client: keep(s.Envelope.Params), asked: s.Moment(), begun: true}
	case s.Method == "initialize" && s.Call != nil && s.From == Agent && h.asked.Seq == s.Call.Seq:
		h.answered = s.Moment()
		if s.Succeeded() {
			h.agent = keep(s.Envelope.Result)
			h.whole = s.Call.lost == "" && h.client != nil && h.agent != nil && (s.Conn.Protocol != dialect.ACP || !hasWrongKeys(h.agent))
			h.offers(s.Conn)
		}
	case s.Method == "server/discover" && s.Succeeded() && s.Call != nil:
		h.agent = keep(s.Envelope.Result)
		h.offers(s.Conn)
	}
	if s.Conn.Dialect == dialect.MCPModern && s.Conn.settled {
		h.whole = true // each request states its needs
	}
}

func keep(value []byte) []byte {
	if len(value) > maxHello {
		return nil
	}
	return bytes.Clone(value)
}

// offers determines what is allowed.
func (h *hello) offers(c *connection) {
	h.allowed = make(map[string]bool)
	for _, capability := range dialect.Capabilities(c.Dialect) {
		if capability.Form == dialect.AtSetup {
			continue
		}
		said := h.agent
		if capability.Side == dialect.ClientSide {
			said = h.client
		}
		offered := said != nil && capability.Offered(c.Dialect, said)
		for _, name := range capability.Allows {
			h.allowed[name] = h.allowed[name] || offered
		}
	}
}

// lacksHello returns why both sides' offers are unknown; empty if they are known.
func (c *connection) lacksHello() string {
	if c.hello.whole {
		return ""
	}
	return "initialize and its answer are not on the tape"
}

// isVersion reports whether a value is an ACP protocolVersion.
func isVersion(value []byte) bool {
	n, ok := wire.Integer(value)
	return ok && n >= 0 && n <= math.MaxUint16
}

// hasWrongKeys reports whether an agent has its capabilities only under the key of a
// version other than the one it answered with.
func hasWrongKeys(result []byte) bool {
	right, wrong := "capabilities", "agentCapabilities"
	version, ok := wire.Integer(wire.Get(result, "protocolVersion"))
	if version <= 1 {
		right, wrong = wrong, right
	}
	return ok && wire.Present(wire.Get(result, wrong)) && !wire.Present(wire.Get(result, right))
}

// helloRules judge initialize, and what each side must serve after it.
var helloRules = checks{
	{"ACP101", initializeFirst},
	{"ACP102", tooEarly},
	{"ACP104", offeredVersion},
	{"ACP105", answeredVersion},
	{"ACP107", namesItself},
	{"ACP108", namesItself},
	{"ACP109", namesItself},
	{"ACP110", namesItself},
	{"ACP111", baselineMissing},
	{"ACP112", advertisedMissing},
	{"ACP113", wrongKeys},
	{"ACP114", clientMissing},
}

func initializeFirst(s *Step, r *Report) {
	if s.Conn.hello.begun {
		return
	}
	r.Tried()
	if s.Method == "initialize" || strings.HasSuffix(s.Method, "proxy/initialize") {
		return
	}
	e := Evidence{Text: "began with " + s.Method, Want: "initialize"}
	if !strings.HasPrefix(s.Method, "session/") {
		e.Strength = Warning
	}
	r.Add(e)
}

func tooEarly(s *Step, r *Report) {
	h := &s.Conn.hello
	if h.asked.Seq == 0 || !strings.HasPrefix(s.Method, "session/") {
		return
	}
	r.Judge(h.answered.Seq == 0, Evidence{Text: "sent " + s.Method + " before the answer to initialize (frame " + number(h.asked.Seq) + ")", Because: []uint64{h.asked.Seq}})
}

func offeredVersion(s *Step, r *Report) {
	v := s.Param("protocolVersion")
	r.Judge(!isVersion(v), Evidence{Text: "offered a version that is no integer", Path: "protocolVersion", Want: "an integer from 0 to 65535", Got: string(v)})
}

func answeredVersion(s *Step, r *Report) {
	v := s.Result("protocolVersion")
	r.Judge(!isVersion(v), Evidence{Text: "answered a version that is no integer", Path: "protocolVersion", Want: "an integer from 0 to 65535", Got: string(v)})
}

func baselineMissing(s *Step, r *Report) {
	if isBaseline(s) {
		r.Judge(isMissing(s), Evidence{Text: "answered " + s.Method + " with method not found", Path: "error.code", Got: "-32601"})
	}
}

func advertisedMissing(s *Step, r *Report) {
	if row, _ := dialect.Lookup(dialect.ACP, s.Method); isBaseline(s) || !isOffered(s) || row.Form == dialect.AsNotification {
		return
	}
	r.Judge(isMissing(s), Evidence{Text: "answered " + s.Method + ", which it offered, with method not found", Path: "error.code", Got: "-32601", Because: []uint64{s.Conn.hello.answered.Seq}})
}

func wrongKeys(s *Step, r *Report) {
	r.Judge(hasWrongKeys(s.Envelope.Result), Evidence{Text: "has its capabilities under the key of another version", Path: "protocolVersion", Got: string(s.Result("protocolVersion"))})
}

func clientMissing(s *Step, r *Report) {
	service := strings.HasPrefix(s.Method, "fs/") || strings.HasPrefix(s.Method, "terminal/")
	if s.Method != "session/request_permission" && !(service && s.Conn.hello.allowed[s.Method]) {
		return
	}
	r.Judge(isMissing(s), Evidence{Text: "answered " + s.Method + " with method not found", Path: "error.code", Got: "-32601", Because: []uint64{s.Conn.hello.asked.Seq}})
}

// namesItself is the check shared by all rules that require a side to name itself in
// initialize. A peer of another version does so under that version's key.
func namesItself(s *Step, r *Report) {
	fault, key := r.active.rule.Fault, "info"
	if s.Conn.Dialect != dialect.ACPv2 {
		key = fault.String() + "Info"
	}
	e := Evidence{Text: "did not say who it is", Path: key, Want: "an object"}
	said := s.Envelope.Result
	if fault == Client {
		said = s.Conn.hello.client
		e.Seq, e.Of = s.Call.Seq, s.Call
		if said == nil || s.Conn.hello.asked.Seq != s.Call.Seq {
			return
		}
	}
	r.Tried()
	if !wire.Present(wire.Get(said, key)) && !(fault == Client && (wire.Present(wire.Get(said, "info")) || wire.Present(wire.Get(said, "clientInfo")))) {
		r.Add(e)
	}
}

// isMissing reports whether a response says that the method does not exist.
func isMissing(s *Step) bool {
	return code(s.Envelope.Error) == wire.MethodNotFound
}

// isBaseline reports whether every agent must serve a step's method.
func isBaseline(s *Step) bool {
	switch s.Method {
	case "session/new", "session/prompt":
		return s.Conn.Dialect == dialect.ACPv1 || s.Conn.Dialect == dialect.ACPv2 && s.Conn.hello.allowed[s.Method]
	case "session/list", "session/resume", "session/close":
		return s.Conn.Dialect == dialect.ACPv2 && s.Conn.hello.allowed[s.Method]
	}
	return false
}

// isOffered reports whether the agent offered a step's method.
func isOffered(s *Step) bool {
	switch {
	case s.Method == "session/set_mode" && s.Session != nil:
		return len(s.Session.offers.modes.known) > 0
	case s.Method == "session/set_config_option" && s.Session != nil:
		return len(s.Session.offers.options.known) > 0
	}
	return s.Conn.hello.allowed[s.Method]
}
