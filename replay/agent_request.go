package replay

// An agentRequest is a request of the agent on the tape.
type agentRequest struct {
	seq       uint64
	id        string // JSON; sent as recorded
	method    string
	lane      *lane
	answer    *expectedMessage // the recorded answer; nil: not read yet
	lost      bool             // the tape has no answer: the agent reused the id, or the tape ended
	cancelled bool             // by the agent
}
