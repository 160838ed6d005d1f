package shim

// A turn is what the agent does for the prompts of a session.
type turn struct {
	prompts map[string]bool // ids of prompts without an answer; onPrompt adds them and removes them
	working bool            // version 2: from a prompt until the agent is idle; set and cleared by onPrompt and by followUpdate
	number  int             // counts the turns, from 1; onPrompt does
	ended   chan struct{}   // closed at the end of the turn; nil: no one waits for that; set by end, cleared by wakeIfIdle
}

// busy reports whether a turn is under way.
func (t *turn) busy() bool { return len(t.prompts) > 0 || t.working }

// end returns a channel that is closed at the end of the turn that is under way.
func (t *turn) end() <-chan struct{} {
	if t.ended == nil {
		t.ended = make(chan struct{})
	}
	return t.ended
}

// wakeIfIdle wakes those who wait for the end of the turn, if no turn is under way.
func (t *turn) wakeIfIdle() {
	if !t.busy() && t.ended != nil {
		close(t.ended)
		t.ended = nil
	}
}
