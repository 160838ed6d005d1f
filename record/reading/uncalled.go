package reading

import "github.com/acptap/acptap/record/trace/nested"

// Uncalled returns the servers that the agent got on a tape and never called. It reads the
// setups of sessions, the ends of turns and the tapes of the servers, and skips what cannot
// be read. A file does not say which servers were started: it has none. started reports
// whether the agent started any server.
func Uncalled(agent Part) (list []nested.Uncalled, started bool, err error) {
	var j nested.Join
	j.Next(agent.Info.Tape, agent.Info.Start.Time)
	for f := range agent.rows(nested.TellsServers) {
		if whole, ok := agent.whole(f); ok {
			j.Pass(&whole)
		}
	}
	if err := AddServers(&j, agent); err != nil {
		return nil, false, err
	}
	sessions := j.Links.Sessions()
	if agent.Session != "" {
		sessions = []string{agent.Session}
	}
	return j.Uncalled(false, sessions...), len(j.Tapes) > 0, nil
}

// AddServers adds to j the calls on the tapes of the servers that an agent started. j has
// been passed the frames of the agent's tape. If the tape cannot say which servers were
// started, j becomes Partial.
func AddServers(j *nested.Join, agent Part) error {
	if agent.Store == nil || agent.Info.Imported {
		j.Partial = true
		return nil
	}
	if !j.Links.Any() {
		return nil
	}
	r := New([]Part{agent})
	if err := r.AddServers(false); err != nil {
		return err
	}
	for _, p := range r.Servers() {
		t := CallsOf(&p.Info)
		j.Nested(t)
		for f, err := range p.Tape.Clone().Frames(1) {
			if err == nil {
				t.Add(&f)
			}
		}
		t.End()
	}
	return nil
}
