package tapecheck

import (
	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace/nested"
)

// Unstarted reports to a Checker, which has judged all frames of its first tape, the servers
// that the agent should have started through acptap but never did: rule ACP231. known is
// false if the tape does not tell whether the agent starts servers, as in a file.
func Unstarted(c *conform.Checker, part reading.Part) (known bool, err error) {
	if part.Info.Live {
		return false, nil
	}
	uncalled, started, err := reading.Uncalled(part)
	return addUnstarted(c, uncalled, 0) || started, err
}

// addUnstarted reports the servers named by a tape's set-ups that were never started although
// a turn has ended since: some agents start them at the first prompt.
func addUnstarted(c *conform.Checker, uncalled []nested.Uncalled, tape int) (added bool) {
	for i := range uncalled {
		u := &uncalled[i]
		for _, s := range u.SetUps {
			if u.Why == nested.NeverStarted && s.Turned && s.Tape == tape && c.AddUnstarted(s.Frame, u.Server) {
				added = true
			}
		}
	}
	return added
}

// Uncalled returns the servers that the agent got through acptap and never called on the
// tapes that have ended: those of the judged session, or of all sessions.
func (j *Judge) Uncalled() []nested.Uncalled {
	sessions := j.servers.Links.Sessions()
	if own := j.part.Session; own != "" {
		sessions = []string{own}
	}
	return j.servers.Uncalled(false, sessions...)
}

// unstarted ends a tape: it looks for the servers that were started.
func (j *Judge) unstarted() error {
	part := j.part
	info, err := part.Tape.Info()
	if err != nil || info.Live {
		j.servers.Partial = true
		return err
	}
	part.Info = info
	if err := reading.AddServers(&j.servers, part); err != nil {
		return err
	}
	addUnstarted(j.Checker, j.Uncalled(), len(j.tapes)-1)
	return nil
}
