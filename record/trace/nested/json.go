package nested

import "github.com/acptap/acptap/record/trace"

// Told is a call as it is exported.
type Told struct {
	Below     uint64   `json:"below"` // first frame of the tool call that it belongs to, or of what it came after
	By        Evidence `json:"by,omitzero"`
	Tape      string   `json:"tape"`
	Server    string   `json:"server"`
	Method    string   `json:"method"`
	Name      string   `json:"name,omitempty"`
	Request   uint64   `json:"request"`
	Response  uint64   `json:"response,omitempty"`
	Seconds   *float64 `json:"seconds,omitempty"` // nil: it has no answer, or its times are unknown
	Failed    bool     `json:"failed,omitempty"`
	Problem   string   `json:"problem,omitempty"`
	Cancelled bool     `json:"cancelled,omitempty"`
}

// Told returns the calls of a session as they are exported.
func (j *Join) Told(s *trace.Session) (list []Told) {
	for _, e := range s.Conversation.Entities {
		for _, c := range j.Of(e) {
			one := Told{
				Below: e.First, By: c.By, Tape: c.Tape.ID, Server: c.Tape.Server, Method: c.Method, Name: c.Name,
				Request: c.Request, Response: c.Response, Failed: c.Failed, Problem: c.Problem, Cancelled: c.Cancelled,
			}
			if !c.Open() && !c.Untimed {
				seconds := c.Took().Seconds()
				one.Seconds = &seconds
			}
			list = append(list, one)
		}
	}
	return list
}
