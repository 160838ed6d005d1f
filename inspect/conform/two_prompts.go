package conform

import (
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// An overlap is a prompt that was sent while an earlier one of its session was open.
type overlap struct {
	first, second *Call
	cancel        Moment // of the session/cancel before the second; Seq 0: none

	firstEnd, secondEnd string // what the answers said; empty: not answered
	refused             string // what an answer said that refused a prompt; empty: none did
}

// meets records that a prompt comes while the prompts before it are open.
func (t *turn) meets(call *Call) {
	if n := len(t.prompts); n > 0 {
		first := t.prompts[n-1]
		o := &overlap{first: first, second: call, cancel: first.halted}
		first.overlaps, call.overlaps = append(first.overlaps, o), append(call.overlaps, o)
	}
}

// answer returns the overlap as it is after a step that answers one of its prompts.
func (o overlap) answer(s *Step) overlap {
	end, refused := said(s), !s.Succeeded() && s.Call.halted.Seq == 0
	if s.Call == o.first {
		o.firstEnd, end = end, end+" to the first"
	} else {
		o.secondEnd = end
		refused = refused || wire.Text(s.Result("stopReason")) == "refusal"
	}
	if refused {
		o.refused = end
	}
	return o
}

// answered records the answer to a prompt.
func (call *Call) answered(s *Step) {
	for _, o := range call.overlaps {
		*o = o.answer(s)
	}
	call.overlaps = nil // the other prompt keeps what it needs
}

// twoPromptRules concern prompts that overlap.
var twoPromptRules = checks{
	{"ACP303", promptInTurn},
}

func promptInTurn(s *Step, r *Report) {
	if s.Call == nil {
		return
	}
	x := r.Session()
	if x == nil {
		return
	}
	if len(s.Call.overlaps) == 0 {
		r.Tried()
	}
	for _, was := range s.Call.overlaps {
		o := was.answer(s)
		if o.firstEnd == "" || o.secondEnd == "" {
			continue
		}
		text := []string{"sent a prompt while that of frame " + number(o.first.Seq) + " was open"}
		e := Evidence{Seq: o.second.Seq, Of: o.second, Because: []uint64{o.first.Seq, s.Frame.Seq}}
		if o.cancel.Seq != 0 {
			text = append(text, "after session/cancel (frame "+number(o.cancel.Seq)+"), which the agent had not confirmed")
		}
		if o.refused != "" {
			text = append(text, "the agent answered "+o.refused)
		} else {
			text, e.Strength = append(text, "the agent answered both"), Note
		}
		e.Text = strings.Join(text, "; ")
		r.Add(e)
	}
}
