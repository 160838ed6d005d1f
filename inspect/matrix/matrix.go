// Package matrix shows what agents and clients can really do: what each version offers,
// and what of that worked on tapes. It can compare two versions to find regressions.
//
// Nothing is stored: a Matrix is computed from the frames of tapes, with the rules of
// conform and the calls and turns of trace. A cell without evidence stays empty.
package matrix

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
)

// A Matrix is what tapes reveal about peers. Its zero value with a Side is ready to use.
// It is not safe for concurrent use.
type Matrix struct {
	Side  dialect.Side // whose capabilities: ClientSide or AgentSide
	Cases bool         // the columns are the cases of acptap probe

	peers map[peerKey]*Peer
}

type peerKey struct {
	protocol      dialect.Protocol
	name, version string
}

// maxPeers limits the number of peers, which choose their own names and versions.
const maxPeers = 4096

// A Peer is one version of an agent, a server or a client.
type Peer struct {
	Name     string
	Version  string // empty: unknown
	Protocol dialect.Protocol
	Tapes    int
	Frames   int // messages on its connections
	Measures

	cells map[string]*Cell // by the names of columns
	cases map[string]*Cell // by the ids of cases: the newest result
	tape  string           // the last one counted in Tapes
}

// peer returns the peer with a name and a version, adding it if it is new; nil if there
// are too many.
func (m *Matrix) peer(p dialect.Protocol, name, version string) *Peer {
	key := peerKey{p, name, version}
	peer := m.peers[key]
	if peer == nil && len(m.peers) < maxPeers {
		peer = &Peer{Name: name, Version: version, Protocol: p, cells: make(map[string]*Cell)}
		if m.peers == nil {
			m.peers = make(map[peerKey]*Peer)
		}
		m.peers[key] = peer
	}
	return peer
}

// cell returns the evidence for a capability for modification.
func (p *Peer) cell(column string) *Cell {
	c := p.cells[column]
	if c == nil {
		c = &Cell{habit: isHabit(column)}
		p.cells[column] = c
	}
	return c
}

// Cell returns the evidence for a capability; empty if there is none.
func (p *Peer) Cell(column string) Cell {
	for _, cells := range []map[string]*Cell{p.cells, p.cases} {
		if c := cells[column]; c != nil {
			return *c
		}
	}
	return Cell{habit: isHabit(column)}
}

// ID returns a peer's name and version as a REF for the command line.
func (p *Peer) ID() string { return p.Name + "@" + cmp.Or(p.Version, "?") }

// Peers returns the peers by protocol and name, newest version first.
func (m *Matrix) Peers() []*Peer {
	all := make([]*Peer, 0, len(m.peers))
	for _, p := range m.peers {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b *Peer) int {
		return cmp.Or(cmp.Compare(a.Protocol, b.Protocol), strings.Compare(a.Name, b.Name), compareVersions(b.Version, a.Version))
	})
	return all
}

// Columns returns a protocol's capabilities in the order of the specification: those with
// evidence, and those without.
func (m *Matrix) Columns(p dialect.Protocol) (shown, rest []string) {
	for _, c := range columns() {
		if c.protocol != p || c.side != m.Side {
			continue
		}
		has := false
		for _, peer := range m.peers {
			cell := peer.Cell(c.name)
			has = has || peer.Protocol == p && cell.Mark() != NotOffered && cell.Mark() != NotSeen
		}
		if has {
			shown = append(shown, c.name)
		} else if !isHabit(c.name) {
			rest = append(rest, c.name)
		}
	}
	return shown, rest
}

// compareVersions orders versions numerically, part by part. A part that is not a number
// sorts before all numbers, like a pre-release.
func compareVersions(a, b string) int {
	split := func(r rune) bool { return r == '.' || r == '-' || r == '+' || r == '_' }
	as, bs := strings.FieldsFunc(a, split), strings.FieldsFunc(b, split)
	for i := 0; i < max(len(as), len(bs)); i++ {
		if c := compareParts(part(as, i), part(bs, i)); c != 0 {
			return c
		}
	}
	return strings.Compare(a, b)
}

func part(parts []string, i int) string {
	if i < len(parts) {
		return parts[i]
	}
	return "0"
}

func compareParts(a, b string) int {
	n, errA := strconv.ParseUint(strings.TrimPrefix(a, "v"), 10, 64)
	m, errB := strconv.ParseUint(strings.TrimPrefix(b, "v"), 10, 64)
	switch {
	case errA == nil && errB == nil:
		return cmp.Compare(n, m)
	case errA == nil:
		return 1
	case errB == nil:
		return -1
	}
	return strings.Compare(a, b)
}
