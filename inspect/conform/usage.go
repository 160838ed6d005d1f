package conform

import (
	"fmt"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A spending is the cost of a session, as its agent last reported it.
type spending struct {
	dialect.Cost
	seq     uint64 // of the frame that reported it; 0: none did
	history uint32 // the session's history at that time
}

func (p *spending) observe(s *Step) {
	switch {
	case s.Entity == dialect.Usage:
		if cost := dialect.CostOf(wire.ValueOf(s.Param("update", "cost"))); cost != (dialect.Cost{}) {
			*p = spending{cost, s.Frame.Seq, s.Session.history}
		}
	case s.Update == "" && s.Method == "session/prompt" && s.is(wire.Request) && isCommand(s.Param("prompt")):
		*p = spending{} // /clear may reset the cost
	}
}

// usageRules concern the usage that agents report.
var usageRules = checks{
	{"ACP324", usageImpossible},
}

func usageImpossible(s *Step, r *Report) {
	x := r.Session()
	if x == nil {
		return
	}
	if s.Method == "session/prompt" {
		usage := s.Result("usage")
		if s.Call == nil || s.Call.command || wire.Text(s.Result("stopReason")) != "end_turn" || x.turn.said < s.Call.Seq {
			return
		}
		counts, any := 0, false
		for _, value := range wire.Members(usage) {
			if n, ok := wire.Integer(value); ok {
				counts, any = counts+1, any || n != 0
			}
		}
		if counts > 0 {
			r.Judge(!any, Evidence{Text: "said that a turn with an answer used no tokens", Path: "usage", Got: string(usage), Because: []uint64{s.Call.Seq}})
		}
		return
	}
	used, ok := wire.Integer(s.Param("update", "used"))
	size, sized := wire.Integer(s.Param("update", "size"))
	if ok && sized && size > 0 {
		r.Judge(used > size, Evidence{Text: fmt.Sprintf("said that %d tokens of a context of %d are used", used, size), Path: "update.used", Got: string(s.Param("update", "used"))})
	}
	cost := dialect.CostOf(wire.ValueOf(s.Param("update", "cost")))
	if was := x.spent; was.seq != 0 && was.history == x.history && cost.Currency == was.Currency && cost != (dialect.Cost{}) {
		r.Judge(cost.Amount < was.Amount, Evidence{
			Text: "said that the session has cost less than before (frame " + number(was.seq) + ")", Path: "update.cost.amount",
			Got: string(s.Param("update", "cost", "amount")), Because: []uint64{was.seq},
		})
	}
}
