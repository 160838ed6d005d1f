package reading

import "github.com/acptap/acptap/record/trace/nested"

// Uncalled returns the servers that the agent got on these tapes and never called. It reads
// the setups of sessions and the tapes of the servers, and skips what cannot be read. The
// tapes must have ended. A file does not say which servers were started: it has none.
func Uncalled(parts []Part) ([]nested.Uncalled, error) {
	r := New(parts)
	if err := r.AddServers(false); err != nil {
		return nil, err
	}
	var j nested.Join
	for _, p := range r.Agents() {
		if p.Store == nil || p.Info.Imported {
			return nil, nil
		}
		j.Next(p.Info.Tape, p.Info.Start.Time)
		for f := range p.setUps() {
			if whole, ok := p.whole(f); ok {
				j.Pass(&whole)
			}
		}
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
	j.End()
	sessions := j.Links.Sessions()
	if own := parts[0].Session; own != "" {
		sessions = []string{own}
	}
	return j.Uncalled(false, sessions...), nil
}
