package matrix

import (
	"maps"
	"slices"
	"strings"

	"github.com/acptap/acptap/record"
)

// CasesLegend explains the signs of cases.
const CasesLegend = "✓ ok   · told   ! broken   ? weak   ~ hurts a peer"

// outcomes are the marks of cases, which acptap probe writes as tags. A case that was not
// tried shows nothing.
var outcomes = map[string]Mark{"ok": Works, "told": Unused, "broken": Broken, "weak": Unclear, "hurts": Hurting}

// addCase records the outcome of the case on a tape of acptap probe.
func (m *Matrix) addCase(tape *record.Tape, info *record.Info) error {
	run, played := record.ProbeOf(info.Start)
	if run == "" {
		return nil
	}
	written, err := tape.Notes()
	if err != nil {
		return err
	}
	for _, tag := range written.Tags {
		outcome, ok := strings.CutPrefix(tag, record.ProbeTag)
		if _, shows := outcomes[outcome]; !ok || !shows {
			continue
		}
		for _, p := range m.peers {
			if strings.HasPrefix(p.Name, "acptap") {
				continue // the side that acptap played
			}
			p.cases = map[string]*Cell{strings.ReplaceAll(played, ".", "/"): {Outcome: outcome, First: &Where{info.Tape, 1}, Tapes: 1}}
		}
	}
	return nil
}

// caseColumns returns the cases of the peers.
func caseColumns(peers []*Peer) (ids []string) {
	all := map[string]bool{}
	for _, p := range peers {
		for id := range p.cases {
			all[id] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// caseChanges compares the cases that both versions have played.
func (c *Comparison) caseChanges() {
	for _, id := range caseColumns([]*Peer{c.before, c.after}) {
		a, b := c.before.cases[id], c.after.cases[id]
		switch {
		case a == nil || b == nil:
			c.skip("case " + id)
		case a.Outcome == b.Outcome:
		case a.Outcome == "ok" && b.Outcome != "told":
			c.Worse = append(c.Worse, Change{"case", id, a.Outcome, b.Outcome, b.First})
		default:
			c.Other = append(c.Other, Change{"case", id, a.Outcome, b.Outcome, b.First})
		}
	}
}
