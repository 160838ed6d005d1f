package dialect

import (
	"cmp"
	"slices"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// WaitingRequests are the requests on a tape, in order, that need an answer and have none
// yet: they are Unanswered if the tape ends here. Their memory is bounded: of too many, the
// older half is forgotten.
type WaitingRequests []WaitingRequest

// A WaitingRequest is an element of WaitingRequests.
type WaitingRequest struct {
	Seq     uint64 // of the request's frame
	Session string `json:",omitempty"` // the session that it counts for; empty for none, such as when only acptap and the agent know of it
	ByAgent bool   `json:",omitempty"`
	Prompt  bool   `json:",omitempty"` // it began a turn
	Tool    string `json:",omitempty"` // the method, if it calls a tool
	Lost    bool   `json:",omitempty"` // the answer may be missing on the tape

	Cancelled time.Duration `json:",omitempty"` // when the client first cancelled the turn; 0: it did not
	Gone      time.Duration `json:",omitempty"` // when the client left; 0: it did not, as far as is known
}

// maxWaiting bounds their size as JSON, the form in which they are stored. One byte may
// become six there.
const maxWaiting = 256 << 10

// Observe handles the next frame.
func (w *WaitingRequests) Observe(f *Frame) {
	if f.NeedsAnswer() {
		r := WaitingRequest{Seq: f.Seq, ByAgent: f.Dir == wire.AgentToClient, Prompt: f.Events.Has(TurnBegan)}
		if f.AtClient() && !f.OnlyNames() {
			r.Session = f.Session
		}
		if f.Does(CallsTool) {
			r.Tool = f.Method
		}
		*w = append(*w, r)
		w.bound()
	}
	for i := range *w {
		r := &(*w)[i]
		r.Lost = r.Lost || f.MayLose(r.ByAgent)
		switch {
		case f.Kind == wire.Notification && r.Prompt && r.Cancelled == 0 && r.Session == f.Session && f.Does(CancelsTurns):
			r.Cancelled = f.At
		case f.Kind == wire.Mark && f.Dir == wire.ClientToAgent && wire.ReadMark(f.Frame).EOF:
			r.Gone = f.At
		}
	}
	for reply := range f.Replies() {
		i, found := slices.BinarySearchFunc(*w, reply.Request, func(r WaitingRequest, seq uint64) int { return cmp.Compare(r.Seq, seq) })
		if found {
			*w = slices.Delete(*w, i, i+1)
		}
	}
}

// Left returns the outcome of a request that is open at the end of a tape, as LeftOpen does. A
// tool that was called in vain has an error.
func (r *WaitingRequest) Left(ended bool, died Outcome) Outcome {
	turn := Outcome{}
	if r.Prompt {
		turn = LeftTurn(r.Cancelled, r.Gone)
	}
	left := LeftOpen(ended, died, r.Lost, turn)
	if left == (Outcome{}) && r.Tool != "" {
		return noAnswer(r.Tool)
	}
	return left
}

// MayLose reports whether f marks bytes that are missing on the tape and may have been the
// answer to a request of the agent or of the client.
func (f *Frame) MayLose(askedByAgent bool) bool {
	if !f.Events.Has(BytesLost) {
		return false
	}
	onlyIn := wire.ReadMark(f.Frame).Gap > 0 // otherwise both directions may be damaged
	return !onlyIn || askedByAgent == (f.Dir == wire.ClientToAgent)
}

func (w *WaitingRequests) bound() {
	size := 0
	for _, r := range *w {
		size += len(`{"Seq":1000000000,"Session":"","ByAgent":true,"Prompt":true,"Tool":"","Lost":true,"Cancelled":1000000000000000000,"Gone":1000000000000000000},`) + len(r.Session) + len(r.Tool)
	}
	if size > maxWaiting {
		*w = slices.Delete(*w, 0, len(*w)/2)
	}
}
