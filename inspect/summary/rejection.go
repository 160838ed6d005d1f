package summary

import (
	"cmp"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// Rejections are the times that the user rejected or declined what the agent asked for.
type Rejections struct {
	Count     int         `json:"count"`
	ToolCalls int         `json:"toolCalls,omitempty"` // how many tool calls ended so
	First     []Rejection `json:"first,omitempty"`     // at most maxWorst

	open map[*trace.Entity]bool // those of ToolCalls that may be taken back
}

// A Rejection is something to which the user said no.
type Rejection struct {
	What  string `json:"what"`
	Frame Frame  `json:"frame"`
	Later Frame  `json:"allowedFrame,omitzero"` // the user was asked for the same again, and agreed

	call  *trace.Entity // the tool call that it was about; nil: none
	tried attempt
}

func (r *Rejections) add(one Rejection) {
	if r.Count++; len(r.First) < maxWorst {
		r.First = append(r.First, one)
	}
}

// allow notes that the user was asked about a tool call and agreed.
func (r *Rejections) allow(call *trace.Entity, tried attempt, at Frame) {
	for i := range r.First {
		one := &r.First[i]
		if one.Later.Seq == 0 && one.call != nil && (one.call == call || one.tried.repeats(&tried)) {
			one.Later = at
		}
	}
}

// tool counts a tool call that the user has rejected, until the user takes that back or the
// agent does it all the same.
func (r *Rejections) tool(e *trace.Event) {
	was, is := r.open[e.ToolCall], e.ToolCall.ToolCall.Rejected
	switch {
	case is && !was:
		r.ToolCalls++
	case was && !is:
		r.ToolCalls--
	}
	if is && e.Phase != trace.Ended {
		if r.open == nil {
			r.open = map[*trace.Entity]bool{}
		}
		r.open[e.ToolCall] = true
	} else {
		delete(r.open, e.ToolCall)
	}
}

// rejection says what the user rejected, declined or dismissed with a frame. ok is false if
// that is nothing. asked is what the frame answers.
func rejection(f *dialect.Frame, events []trace.Event, asked string, commands *terminals) (one Rejection, ok bool) {
	refused := f.Events.Has(dialect.PermissionRefused)
	if !refused && !(f.Events.Has(dialect.PermissionDropped) && f.Does(dialect.AsksInput)) || f.Origin == wire.Rewritten {
		return one, false
	}
	end := " declined"
	if !refused {
		end = " cancelled"
	}
	for i := range events {
		switch e := &events[i]; {
		case e.Phase != trace.Ended:
		case e.Kind == trace.PermissionEvent:
			title := termtext.CutWords(plainTitle(toolTitle(permissionTitle(e), commands.command(e))), maxRejection)
			if !strings.Contains(title, " ") && asked != "" { // it names only the tool
				title = strings.TrimPrefix(title+": "+asked, ": ")
			}
			one = Rejection{What: cmp.Or(title, "a permission"), call: e.ToolCall}
			if e.ToolCall != nil {
				one.tried = commands.attempt(e)
			}
			return one, true
		case e.Question != nil:
			return Rejection{What: stepName(e, "") + end}, true
		}
	}
	if asked != "" {
		asked = ` "` + asked + `"`
	}
	return Rejection{What: "question" + asked + end}, true
}

// maxRejection limits the columns of what was rejected.
const maxRejection = 60
