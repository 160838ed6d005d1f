package shim

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// terminalID returns the shown id of the terminal that entity e calls id. e is a tool
// call or the terminal itself.
func (r *renderer) terminalID(e *trace.Entity, id string) string {
	return cmp.Or(r.terminalIDs[r.part.Terminal(e, id)], r.prefix+id)
}

// terminal appends a terminal's update to list, unless it was sent earlier.
func (r *renderer) terminal(list [][]byte, e *trace.Entity, id string) [][]byte {
	t := r.part.Terminal(e, id)
	key := r.terminalID(e, id)
	if t == nil || r.terminals[key] {
		return list
	}
	if r.terminals == nil {
		r.terminals = map[string]bool{}
	}
	r.terminals[key] = true
	command := strings.Join(append([]string{t.Command}, t.Args...), " ")
	u := newUpdate("terminal_update").text("terminalId", key).text("command", command).text("cwd", t.Cwd)
	output := wire.Quote(base64.StdEncoding.EncodeToString(t.Output))
	u = u.add("output", members(nil).add("data", output).object())
	if t.Exit != nil {
		u = u.add("exitStatus", exitStatus(t.Exit))
	}
	return append(list, u.object())
}

func exitStatus(e *trace.Exit) []byte {
	var status members
	if e.Code != nil {
		status = status.add("exitCode", fmt.Append(nil, *e.Code))
	}
	return status.text("signal", e.Signal).object()
}

// terminalText returns a terminal's output and exit status as text.
func terminalText(t *trace.Terminal) string {
	if t == nil || t.Output == nil && t.Exit == nil {
		return "terminal output was not recorded"
	}
	text := string(t.Output)
	switch {
	case t.Exit == nil:
	case t.Exit.Signal != "":
		text += "\n[ended by signal " + t.Exit.Signal + "]"
	case t.Exit.Code != nil:
		text += fmt.Sprintf("\n[exit code %d]", *t.Exit.Code)
	}
	return text
}
