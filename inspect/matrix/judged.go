package matrix

import (
	"slices"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// shapes lists the rules that require messages to match the schema.
var shapes = []string{"ACP001", "MCP001"}

// judge adds the new findings of the rules.
func (r *Reader) judge() {
	found := r.checker.Findings()[r.judged:]
	r.judged += len(found)
	p := r.link.peer
	if p == nil {
		return
	}
	for i := range found {
		f := &found[i]
		if f.Fault != faultOf(r.matrix.Side) || f.Strength < conform.Hurts {
			continue
		}
		p.found(f.Rule.ID)
		about := f.Rule.About
		if about == "" && (f.Hang || slices.Contains(shapes, f.Rule.ID)) {
			about = f.Method
		}
		if f.Strength < conform.Violation && f.Strength != conform.Hurts && !f.Hang {
			continue
		}
		o := r.link.allowing(about)
		if about == "" || o == nil || o.Side != r.matrix.Side {
			continue
		}
		cell, mark := p.cell(o.column), Broken
		switch {
		case f.Hang:
			cell.Hangs++
		case f.Strength == conform.Hurts:
			cell.Hurts++
			mark = Hurting
		default:
			cell.Findings++
		}
		if !slices.Contains(cell.Rules, f.Rule.ID) {
			cell.Rules = append(cell.Rules, f.Rule.ID)
		}
		cell.shows(mark, Where{r.tape, f.Seq})
	}
	for _, v := range r.checker.Verdicts() {
		if v.Tried {
			p.tried(v.Rule.ID)
		}
	}
}

// habits are the columns for an agent's behaviour that it does not advertise.
var habits = [...]string{reportsUsage, startsServers, endsWithStdin}

const (
	endsWithStdin = "ends with stdin"
	startsServers = "starts servers"
	reportsUsage  = "reports usage"
)

func isHabit(column string) bool { return slices.Contains(habits[:], column) }

// judgedHabits are the habits that a rule judges at the end of a tape.
var judgedHabits = map[string]string{"RPC023": endsWithStdin, "ACP231": startsServers}

// habits records, at the end of a tape, the judged habits for which there was occasion.
func (r *Reader) habits() {
	p := r.link.peer
	if p == nil || p.Protocol != dialect.ACP || r.matrix.Side != dialect.AgentSide {
		return
	}
	for _, v := range r.checker.Verdicts() {
		column := judgedHabits[v.Rule.ID]
		if column == "" || !v.Tried || column == startsServers && !r.servers {
			continue
		}
		cell := p.cell(column)
		cell.Connections++
		cell.Offered++
		switch {
		case v.Found == 0:
			cell.Worked++
		case v.Rule.Strength() == conform.Hurts:
			cell.Hurts++
			cell.Rules = append(cell.Rules, v.Rule.ID)
		default:
			cell.Findings++
			cell.Rules = append(cell.Rules, v.Rule.ID)
		}
		cell.shows(cell.Mark(), Where{r.tape, r.last})
	}
}

// usage notes whether an agent reports what it has used. The occasion is a turn that ends as
// the agent wants it.
func (r *Reader) usage(f *dialect.Frame, e wire.Envelope) {
	p := r.link.peer
	if p == nil || r.matrix.Side != dialect.AgentSide || p.Protocol != dialect.ACP {
		return
	}
	row, _ := dialect.LookupUpdate(f.Update)
	told := f.Does(dialect.Prompts) && wire.Present(wire.Get(e.Result, "usage")) || row.Entity == dialect.Usage
	reason := wire.Get(e.Result, "stopReason")
	if e.Method != nil { // an update of version 2
		reason = wire.Get(e.Params, "update", "stopReason")
	}
	if !told && !(f.Events.Has(dialect.TurnEnded) && wire.Text(reason) == "end_turn") {
		return
	}
	cell := p.cell(reportsUsage)
	if r.link.usage == unasked {
		r.link.usage = silent
		cell.Connections++
	}
	if !told {
		return
	}
	if r.link.usage == silent {
		r.link.usage = reported
		cell.Offered++
	}
	cell.Worked++
	cell.shows(Works, Where{r.tape, f.Seq})
}

// What an agent has reported about its usage on a connection.
const (
	unasked  = iota // nothing, and there was no occasion
	silent          // nothing
	reported        // something
)

func faultOf(side dialect.Side) conform.Fault {
	if side == dialect.ClientSide {
		return conform.Client
	}
	return conform.Agent
}
