package reading

import (
	"errors"

	"github.com/acptap/acptap/record"
)

// AddServers adds the tapes of the servers that the agents started, from the agents'
// store; if all is set, also those of servers started by these. While the Reader follows,
// it adds servers that start later.
func (r *Reader) AddServers(all bool) error {
	r.all = all
	for _, agent := range r.Agents() {
		if agent.Store == nil {
			continue
		}
		if r.store = agent.Store; agent.Session != "" {
			r.links.read(agent)
		}
	}
	return r.find(nil)
}

// isFor reports whether a server was started for the agent's session that is being read.
// If the server's tape does not name its session, that session is assumed, unless its
// setup declares other servers.
func (r *Reader) isFor(agent *Part, server *record.Info) bool {
	if agent.Session == "" {
		return true
	}
	if session, ok := r.links.said.Session(server.Start.Parent.Link); ok {
		return session == agent.Session
	}
	declared, setUp := r.links.said.Declares(agent.Session, server.ServerName())
	return agent.Info.Sessions == 1 && (declared || !setUp)
}

// find adds the tapes of servers that are in the store and not yet known. begun is a tape
// that has just begun, which a list may not describe in full; nil: none.
func (r *Reader) find(begun *record.Info) error {
	if r.store == nil {
		return nil
	}
	l, err := r.store.List()
	if err != nil {
		return err
	}
	for i := range l.Tapes {
		if one := &l.Tapes[i]; begun != nil && one.Tape == begun.Tape {
			*one, begun = *begun, nil
		} else if one.Complete {
			r.listed[one.Tape] = true
		}
	}
	if begun != nil {
		l.Tapes = append(l.Tapes, *begun)
	}
	n := record.NestingOf(l.Tapes)
	for _, agent := range r.Agents() {
		if agent.Store == nil {
			continue
		}
		if err := r.findBelow(n, agent, agent, ""); err != nil {
			return err
		}
	}
	r.links.resolve(r.Servers(), r.Parts)
	return nil
}

// findBelow adds the tapes nested in above, which is the tape of an agent or below one.
// name is what follows the agent's tape in a reference to above.
func (r *Reader) findBelow(n record.Nesting, agent, above *Part, name string) error {
	children := n.Children(above.Info.Tape)
	for i, ref := range record.ServerRefs(children) {
		info := children[i]
		if above == agent && !r.isFor(agent, &info) {
			continue
		}
		p := r.known[info.Tape]
		if p == nil || !p.IsServer() { // a tape may be read in its own right too
			tape, err := r.store.Open(info.Tape)
			if errors.Is(err, record.ErrNoTape) { // deleted meanwhile
				continue
			}
			if err != nil {
				return err
			}
			p = r.add(Part{
				Tape: tape, Info: info, Began: since(&info, &r.Parts[0].Info, agent.Began),
				Server: (name + ref)[1:], Agent: agent.Index, Above: above.Index,
			})
		}
		if r.all {
			if err := r.findBelow(n, agent, p, name+ref); err != nil {
				return err
			}
		}
	}
	return nil
}
