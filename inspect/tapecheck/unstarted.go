package tapecheck

import (
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace/nested"
)

// unstarted adds to the Checker the servers that the agent was to start through acptap and
// never did, once a turn has shown that it does not wait for one: rule ACP231. A file does
// not say which servers were started.
func (j *Judge) unstarted() error {
	if !j.Checker.NamesServers() || j.part.Store == nil || j.part.Info.Live {
		return nil
	}
	uncalled, err := reading.Uncalled([]reading.Part{j.part})
	for i := range uncalled {
		if u := &uncalled[i]; u.Why == nested.NeverStarted {
			j.Checker.AddUnstarted(u.Server)
		}
	}
	return err
}
