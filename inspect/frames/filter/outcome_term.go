package filter

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// stopReasons lists those of ACP, and error of its version 2.
var stopReasons = []string{"end_turn", "cancelled", "max_tokens", "max_turn_requests", "refusal", "error"}

// stopWords returns the words for the reasons for which an agent ends a turn.
func stopWords() (list []word) {
	for _, reason := range stopReasons {
		list = append(list, word{reason, ofBytes, func(s *Subject) verdict {
			return s.turnEnd(func(_, stopReason []byte) bool { return wire.Text(stopReason) == reason })
		}})
	}
	return list
}

// outcomeWords returns the words for the outcomes that a frame can show. No frame shows that
// a recording was cut off, or that a turn is running: its prompt is then an open request.
func outcomeWords() (list []word) {
	for how := dialect.Done; how < dialect.Running; how++ {
		if how != dialect.CutOff {
			list = append(list, word{how.String(), ofBytes, func(s *Subject) verdict { return s.ends(how) }})
		}
	}
	return list
}

// ends reports whether a frame says that a turn, or the agent's process, ended in some way.
func (s *Subject) ends(how dialect.How) verdict {
	switch {
	case !s.Events.Has(dialect.AgentEnded):
		return s.turnEnd(func(err, stopReason []byte) bool { return dialect.OutcomeOf(err, stopReason).How == how })
	case !s.Events.Has(dialect.ExitFailed):
		return no
	case s.bare():
		return perhaps
	}
	exit := wire.ReadMark(s.Frame.Frame).Exit
	return sure(exit != nil && dialect.DiedOf(exit).How == how)
}

// turnEnd reports whether fits accepts the error and the stop reason, each as JSON or nil,
// of a frame that ends a turn.
func (s *Subject) turnEnd(fits func(err, stopReason []byte) bool) verdict {
	if !s.Events.Has(dialect.TurnEnded) {
		return no
	}
	return s.messages(func(i int, message []byte) bool {
		if s.Kind == wire.Batch && (i >= len(s.Entries) || !s.Entries[i].Events.Has(dialect.TurnEnded)) {
			return false
		}
		e := wire.Scan(message)
		if e.Method != nil { // an update of version 2
			return fits(nil, wire.Get(e.Params, "update", "stopReason"))
		}
		return fits(e.Error, wire.Get(e.Result, "stopReason"))
	})
}

// isCancelled reports whether a frame says that something was cancelled: a turn, a tool
// call, or a question to the user.
func isCancelled(s *Subject) verdict {
	if s.Events.Has(dialect.CallCancelled) || s.Events.Has(dialect.PermissionDropped) {
		return yes
	}
	return s.ends(dialect.Cancelled)
}

// permissionEvents are those of an answer to a request for a permission or for input.
const permissionEvents = dialect.PermissionGranted | dialect.PermissionRefused | dialect.PermissionDropped

// permissionWords returns the words for what the user decided.
func permissionWords() (list []word) {
	for _, w := range []struct {
		name  string
		event dialect.Events
	}{{"allowed", dialect.PermissionGranted}, {"rejected", dialect.PermissionRefused}, {"cancelled", dialect.PermissionDropped}} {
		list = append(list, word{w.name, ofFuture, func(s *Subject) verdict { return sure(s.decides(w.event)) }})
	}
	return list
}

// decides reports whether a frame is a request to the user, for a permission or for input,
// whose answer has the event, or is such an answer.
func (s *Subject) decides(event dialect.Events) bool {
	asks := func(a *dialect.Annotation) bool { return dialect.Does(a.Method, dialect.AsksUser) }
	if s.Answer.Has(event) && asks(&s.Annotation) {
		return true
	}
	for reply := range s.Replies() {
		if reply.Events.Has(event) && asks(reply) {
			return true
		}
	}
	return false
}
