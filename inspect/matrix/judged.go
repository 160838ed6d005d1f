package matrix

import (
	"slices"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
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
		if f.Fault != faultOf(r.matrix.Side) || f.Strength < conform.Warning {
			continue
		}
		p.found(f.Rule.ID)
		about := f.Rule.About
		if about == "" && slices.Contains(shapes, f.Rule.ID) {
			about = f.Method
		}
		if f.Strength < conform.Violation {
			continue
		}
		o := r.link.allowing(about)
		if about == "" || o == nil || o.Side != r.matrix.Side {
			continue
		}
		cell := p.cell(o.column)
		cell.Findings++
		if !slices.Contains(cell.Rules, f.Rule.ID) {
			cell.Rules = append(cell.Rules, f.Rule.ID)
		}
		cell.shows(Broken, Where{r.tape, f.Seq})
	}
	for _, v := range r.checker.Verdicts() {
		if v.Tried {
			p.tried(v.Rule.ID)
		}
	}
}

func faultOf(side dialect.Side) conform.Fault {
	if side == dialect.ClientSide {
		return conform.Client
	}
	return conform.Agent
}
