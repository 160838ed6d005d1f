package conform

// An overlap describes what was open when the client sent a prompt.
type overlap struct {
	prompt uint64 // Seq of the session's latest open prompt; 0: none was open
	cancel Moment // of the unconfirmed session/cancel; Seq 0: none
}

// overlap returns the overlap of a prompt that is sent now.
func (t *turn) overlap() overlap {
	if n := len(t.prompts); n > 0 {
		return overlap{t.prompts[n-1].Seq, t.prompts[n-1].halted}
	}
	return overlap{}
}

// refuses reports whether a step refuses a prompt because an earlier one is open: it is an
// error that the client did not cause by cancelling.
func (t *turn) refuses(s *Step) bool {
	return s.Envelope.Error != nil && t.prompts[0] != s.Call && s.Call.Cancelled.Seq == 0 && t.cancel.Seq < s.Call.Seq
}

// twoPromptRules concern overlapping prompts.
var twoPromptRules = checks{
	{"ACP303", promptInTurn},
}

func promptInTurn(s *Step, r *Report) {
	if s.Method != "session/prompt" { // the tape has ended
		for _, x := range s.Conn.sessions.All() {
			for _, call := range x.turn.prompts {
				if call.overlap.prompt != 0 {
					r.addOverlap(call, Evidence{Text: "the agent did not answer it", In: x, Strength: Note})
				}
			}
		}
		return
	}
	if s.Call == nil {
		return
	}
	switch x := r.Session(); {
	case x == nil || len(x.turn.prompts) == 0:
	case s.Call.overlap.prompt == 0:
		r.Tried()
	case x.turn.refuses(s):
		r.addOverlap(s.Call, Evidence{Text: "the agent refused it " + said(s), Because: []uint64{s.Frame.Seq}})
	default:
		r.addOverlap(s.Call, Evidence{Text: "the agent answered " + said(s), Because: []uint64{s.Frame.Seq}, Strength: Note})
	}
}

// addOverlap reports a prompt that the client sent during a turn. e says what became of it.
func (r *Report) addOverlap(call *Call, e Evidence) {
	text := "sent a prompt while that of frame " + number(call.overlap.prompt) + " was open; "
	if cancel := call.overlap.cancel.Seq; cancel != 0 {
		text += "after session/cancel (frame " + number(cancel) + "), which the agent had not confirmed; "
	}
	e.Text, e.Seq, e.Of = text+e.Text, call.Seq, call
	e.Because = append([]uint64{call.overlap.prompt}, e.Because...)
	r.Add(e)
}
