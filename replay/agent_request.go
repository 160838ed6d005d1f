package replay

// An agentRequest is a request of the agent on the tape.
type agentRequest struct {
	seq       uint64
	id        string // JSON, the same now as recorded
	method    string
	lane      *lane
	answer    *expectedMessage // the recorded answer; nil: not read yet, or there is none
	lost      bool             // there is none: the agent has used the id again, or the tape ends
	cancelled bool             // by the agent
}
