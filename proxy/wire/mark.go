package wire

import "encoding/json"

// Marked is the content of a frame of the kind Mark, whose Raw holds it as JSON. Exactly
// one field is set.
type Marked struct {
	Gap    int64  `json:"gap,omitempty"`    // bytes of this direction that are missing here
	Damage int64  `json:"damage,omitempty"` // bytes of the tape that could not be read here; their direction is unknown
	EOF    bool   `json:"eof,omitempty"`    // the stream of this direction ended
	Error  string `json:"error,omitempty"`  // why reading this direction's stream failed; neither side closed it
	Signal string `json:"signal,omitempty"` // a signal that was passed on to the agent, such as "terminated"
	Fault  string `json:"fault,omitempty"`  // which part of acptap failed here and how; it does nothing afterwards
	Exit   *Exit  `json:"exit,omitempty"`   // how the agent ended; the last frame of a tape
	Rule   *Rule  `json:"rule,omitempty"`   // what changes the following frames, or why nothing does
	Load   *Load  `json:"load,omitempty"`   // what the agent omitted from its own load of a session

	HTTP    *HTTP      `json:"http,omitempty"`    // the head of a request, which begins a stream, or of a response
	End     *StreamEnd `json:"ended,omitempty"`   // where a direction of a stream ended
	SSE     *SSE       `json:"sse,omitempty"`     // an event that is not a message
	Close   *Close     `json:"close,omitempty"`   // one side's half of the closing handshake of a WebSocket
	Framing int64      `json:"framing,omitempty"` // bytes of a stream without a message, such as hours of pings
	Closed  string     `json:"closed,omitempty"`  // why a tape with streams ended, instead of Exit
}

// A Rule says what withheld, rewrote, injected or delayed the next frames of its
// direction. If it did nothing it may say why.
type Rule struct {
	Name   string `json:"name"`
	Did    string `json:"did"`              // in words, such as "delay 2.134 s"
	Frames int    `json:"frames,omitempty"` // number of following frames it applies to; 0 for none, such as the list of rules at the start of a tape
	Hold   uint64 `json:"hold,omitempty"`   // number of the held frame that it concerns, if any

	// Delay is how many seconds later than it arrived the next frame was written; 0: no
	// delay.
	Delay float64 `json:"delay,omitempty"`
}

// A Load says that the agent has loaded a session without some of its history.
type Load struct {
	Session  string `json:"session"`  // at most MaxLoaded bytes, or it counts for no session
	Missing  int    `json:"missing"`  // number of missing tool calls
	Recorded int    `json:"recorded"` // number of tool calls recorded earlier
}

// MaxLoaded limits the session ids in marks, which are keys in the tape's file.
const MaxLoaded = 1 << 10

// An Exit says how the agent ended.
type Exit struct {
	Code      int               `json:"code"`               // exit status; 128+n for signal n
	Signal    string            `json:"signal,omitempty"`   // the signal that ended it
	Error     string            `json:"error,omitempty"`    // why it could not be started
	Delivered [Directions]int64 `json:"delivered,omitzero"` // bytes of each direction that reached the other side
}

// ReadMark returns what a frame of the kind Mark says. It is empty if f is of
// another kind or says something that this version does not know.
func ReadMark(f Frame) Marked {
	if f.Kind != Mark {
		return Marked{} // before m, which goes to the heap
	}
	var m Marked
	if json.Unmarshal(f.Raw, &m) != nil {
		return Marked{}
	}
	return m
}
