package frameindex

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/record/termtext"
)

// Label returns a frame's number for users: the number on its tape, preceded by the
// number of the tape if there are several, as in 2.17, or by the server's name, as in
// files:12.
func (t *Timeline) Label(seq uint64) string {
	at := t.PlaceOf(seq)
	p := t.Part(at.Part)
	switch {
	case p.Server != "":
		return t.serverLabel(p) + ":" + strconv.FormatUint(at.Seq, 10)
	case len(t.agents) == 1:
		return termtext.Grouped(int64(at.Seq))
	}
	return strconv.Itoa(at.Part+1) + "." + strconv.FormatUint(at.Seq, 10)
}

// serverLabel returns the prefix of the numbers of a server's frames.
func (t *Timeline) serverLabel(p *Part) string {
	name := frametext.ServerLabel(p.Server)
	if len(t.agents) > 1 {
		name = strconv.Itoa(p.Agent+1) + "." + name
	}
	return name
}

// LabelColumns returns how many columns labels take.
func (t *Timeline) LabelColumns(last uint64) int {
	columns := 4
	if last > 0 {
		columns = max(columns, termtext.Width(t.Label(last)))
	}
	for i := len(t.agents); i < t.Size(); i++ {
		columns = max(columns, termtext.Width(t.serverLabel(t.Part(i)))+len(":1234"))
	}
	return columns
}

// ParseLabel parses what Label returns. A number without a tape refers to the agent's
// tape that has the frame near, or to that of the agent whose server has it.
func (t *Timeline) ParseLabel(text string, near uint64) (uint64, error) {
	which := t.PartOf(near)
	if p := t.Part(which); p.Server != "" {
		which = p.Agent
	}
	if i := strings.LastIndexByte(text, ':'); i >= 0 {
		part, ok := t.serverNamed(text[:i], which)
		if !ok {
			return 0, fmt.Errorf("there is no server %s here", termtext.Piece(text[:i]))
		}
		which, text = part, text[i+1:]
	} else if tape, rest, ok := strings.Cut(text, "."); ok {
		n, err := strconv.Atoi(tape)
		if err != nil || n < 1 || n > len(t.agents) {
			return 0, fmt.Errorf("there is no tape %s here", termtext.Piece(tape))
		}
		which, text = n-1, rest
	}
	seq, err := strconv.ParseUint(strings.ReplaceAll(text, ",", ""), 10, 64)
	if err != nil {
		return 0, errors.New("want the number of a frame, or a time such as +2.5s")
	}
	number := t.Number(Place{which, seq})
	isLast := which >= len(t.agents)-1
	if seq == 0 || number == 0 || !isLast && seq > t.agents[which].Info.Lines {
		return 0, fmt.Errorf("there is no frame %s", termtext.Piece(text))
	}
	return number, nil
}

// serverNamed returns the part whose label is name, or the server of that name started by
// the agent on part agent.
func (t *Timeline) serverNamed(name string, agent int) (part int, ok bool) {
	for i := len(t.agents); i < t.Size(); i++ {
		p := t.Part(i)
		if t.serverLabel(p) == name || p.Agent == agent && (p.Server == name || termtext.Piece(p.Server) == name) {
			return i, true
		}
	}
	return 0, false
}
