package nested

import (
	"cmp"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// A Missing is the reason why a tool call of a server has no call.
type Missing uint8

// The reasons.
const (
	NotMissing Missing = iota // it has one, or is not known to be a server's
	OwnServer                 // the client did not declare the server: the agent configured it itself
	NoTape                    // the server should have been recorded, but its tape is not here
)

var missingTexts = [...]string{"", "not recorded: the agent configured this server itself", "its tape is not here"}

func (m Missing) String() string { return missingTexts[m] }

// Missing returns why a tool call of a session has no call.
func (j *Join) Missing(session string, e *trace.Entity) Missing {
	j.update()
	if t := j.tools[e]; t != nil && len(t.calls) > 0 {
		return NotMissing
	}
	server := serverOf(e.ToolCall)
	declared, ok := j.Links.Declares(session, server)
	switch {
	case server == "" || !ok:
	case !declared:
		return OwnServer
	case j.Links.linked(session, server) && !j.hasTape(session, server):
		return NoTape
	}
	return NotMissing
}

// serverOf returns the name of the server that a tool call names, or "" if it names none.
func serverOf(t *trace.ToolCall) string {
	if server := wire.ValueAt(t.RawInput, "server").Text(); server != "" && wire.ValueAt(t.RawInput, "tool").Text() != "" {
		return server
	}
	name, _, _ := mcpName(t.Name)
	title, _, _ := mcpName(t.Title)
	meta := ""
	for _, text := range texts(nil, wire.ValueOf(t.Meta), maxMeta) {
		if server, _, ok := mcpName(text); ok {
			meta = server
		}
	}
	return cmp.Or(name, title, meta)
}

func (j *Join) hasTape(session, server string) bool {
	return slices.ContainsFunc(j.Tapes, func(t *Tape) bool { return t.session == session && has([]string{t.Server}, server) })
}
