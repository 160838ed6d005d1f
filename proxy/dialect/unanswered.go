package dialect

import (
	"cmp"
	"slices"
)

// WaitingRequests are the requests on a tape, in their order, that need an answer and
// have none yet: those that are Unanswered if the tape ends. Their memory is bounded:
// of very many the older half is forgotten.
type WaitingRequests []WaitingRequest

// A WaitingRequest is one of WaitingRequests.
type WaitingRequest struct {
	Seq     uint64 // of its frame
	Session string `json:",omitempty"` // in whose run it counts; empty: in none, as where only acptap and the agent know of it
}

// maxWaiting is how many bytes they take as JSON, in which a character may become six:
// what has seen a tape up to some frame is stored so.
const maxWaiting = 256 << 10

// Observe takes the next frame.
func (w *WaitingRequests) Observe(f *Frame) {
	if f.NeedsAnswer() {
		r := WaitingRequest{Seq: f.Seq}
		if f.AtClient() && !f.OnlyNames() {
			r.Session = f.Session
		}
		*w = append(*w, r)
		w.bound()
	}
	for reply := range f.Replies() {
		i, found := slices.BinarySearchFunc(*w, reply.Request, func(r WaitingRequest, seq uint64) int { return cmp.Compare(r.Seq, seq) })
		if found {
			*w = slices.Delete(*w, i, i+1)
		}
	}
}

func (w *WaitingRequests) bound() {
	size := 0
	for _, r := range *w {
		size += len(`{"Seq":1000000000,"Session":""},`) + len(r.Session)
	}
	if size > maxWaiting {
		*w = slices.Delete(*w, 0, len(*w)/2)
	}
}
