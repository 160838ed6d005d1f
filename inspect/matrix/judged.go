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

// habits are the columns of an agent that it does not advertise, by the rules that judge
// them at the end of a tape.
var habits = map[string]string{"RPC023": endsWithStdin, "ACP231": startsServers}

const (
	endsWithStdin = "ends with stdin"
	startsServers = "starts servers"
	reportsUsage  = "reports usage"
)

// seen are the columns that no peer advertises.
var seen = [...]string{reportsUsage, startsServers, endsWithStdin}

// habits notes at the end of a tape what the agent does without advertising it.
func (r *Reader) habits() {
	p := r.link.peer
	if p == nil || p.Protocol != dialect.ACP || r.matrix.Side != dialect.AgentSide {
		return
	}
	for _, v := range r.checker.Verdicts() {
		column := habits[v.Rule.ID]
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

// usage notes that an agent reports what it has used.
func (r *Reader) usage(f *dialect.Frame, e wire.Envelope) {
	p := r.link.peer
	row, _ := dialect.LookupUpdate(f.Update)
	told := f.Does(dialect.Prompts) && wire.Present(wire.Get(e.Result, "usage")) || row.Entity == dialect.Usage
	if !told || p == nil || r.matrix.Side != dialect.AgentSide || p.Protocol != dialect.ACP {
		return
	}
	cell := p.cell(reportsUsage)
	if !r.link.usage {
		r.link.usage = true
		cell.Connections++
		cell.Offered++
	}
	cell.Worked++
	cell.shows(Works, Where{r.tape, f.Seq})
}

func faultOf(side dialect.Side) conform.Fault {
	if side == dialect.ClientSide {
		return conform.Client
	}
	return conform.Agent
}
