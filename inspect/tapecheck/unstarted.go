package tapecheck

import (
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace/nested"
)

// Unstarted adds to a Checker, which has judged all frames of a tape, the servers that the
// agent was to start through acptap and never did, once a turn has shown that it does not
// wait for one: rule ACP231. known is false if the tape does not tell whether the agent
// starts servers, as in a file.
func Unstarted(c *conform.Checker, part reading.Part) (known bool, err error) {
	if !c.NamesServers() || part.Store == nil || part.Info.Live {
		return false, nil
	}
	parts := []reading.Part{part}
	uncalled, err := reading.Uncalled(parts)
	if err != nil {
		return false, err
	}
	for i := range uncalled {
		if u := &uncalled[i]; u.Why == nested.NeverStarted && c.AddUnstarted(u.Server) {
			known = true
		}
	}
	r := reading.New(parts)
	err = r.AddServers(false)
	return known || len(r.Servers()) > 0, err
}
