package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/dialect"
)

// source is the base URL of the rules' texts.
const source = "https://github.com/acptap/acptap/blob/main/inspect/conform/"

// isCase reports whether a rule represents a case of acptap probe: ids of other rules are in
// capitals.
func isCase(r *conform.Rule) bool { return strings.ToUpper(r.ID) != r.ID }

// URL returns the address of a rule's text; for a case, that of the specification.
func URL(r *conform.Rule) string {
	switch {
	case isOwn(r):
		return source + "report/own_rules.go"
	case isCase(r):
		return cmp.Or(r.Clauses[0].Source.URL, home)
	}
	return source + "rules/" + r.File()
}

// A RuleLine is a rule as a line of JSON.
type RuleLine struct {
	Rule     string           `json:"rule"`
	Name     string           `json:"name"`
	Strength conform.Strength `json:"strength"` // the greatest that a finding may have
	Fault    conform.Fault    `json:"fault"`    // empty: the frame's sender
	About    string           `json:"about,omitempty"`
	URL      string           `json:"url"`
	Clauses  []ClauseLine     `json:"clauses"`
	Asks     string           `json:"asks"`
	Finds    string           `json:"finds"`
	Spares   string           `json:"spares,omitempty"`
	Do       string           `json:"do"`
	Hurts    []VictimLine     `json:"hurts,omitempty"`
	Hang     bool             `json:"hang,omitempty"` // a finding may be a hang
}

// A VictimLine is a peer that is known to break on what a rule finds.
type VictimLine struct {
	Who      string `json:"who"`
	Versions string `json:"versions,omitempty"`
	Seen     string `json:"seen"` // month
	What     string `json:"what"`
	URL      string `json:"url"`
	Mended   string `json:"mended,omitempty"` // the version that no longer breaks
}

// A ClauseLine names the text that states a rule, and the connections it applies to.
type ClauseLine struct {
	For      string           `json:"for"` // such as ACP v1, v2
	Strength conform.Strength `json:"strength"`
	Spec     *Spec            `json:"spec"`
}

// WriteRulesJSON writes the table of rules, one object per line.
func WriteRulesJSON(w io.Writer, rules []*conform.Rule) error {
	for _, r := range inOrder(rules) {
		line := RuleLine{
			Rule: r.ID, Name: r.Name, Strength: r.Strength(), Fault: r.Fault, About: r.About, URL: URL(r),
			Asks: r.Text.Asks, Finds: r.Text.Finds, Spares: r.Text.Spares, Do: r.Text.Do, Hang: r.Hang,
		}
		for _, v := range r.Hurts {
			line.Hurts = append(line.Hurts, VictimLine(v))
		}
		for i := range r.Clauses {
			c := &r.Clauses[i]
			line.Clauses = append(line.Clauses, ClauseLine{scope(r, c), c.Strength, specOf(c)})
		}
		if err := writeLine(w, line); err != nil {
			return err
		}
	}
	return nil
}

// WriteRules writes the table of rules, one line each.
func WriteRules(w io.Writer, rules []*conform.Rule) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, r := range inOrder(rules) {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", r.ID, r.Name, r.Strength(), sideOf(r), reach(r))
	}
	return t.Flush()
}

// reach summarizes which connections a rule's clauses apply to, such as ACP v1, v2-early;
// MCP. Explain has the details.
func reach(r *conform.Rule) string {
	var in dialect.Dialects
	var parts []string
	for i := range r.Clauses {
		switch c := &r.Clauses[i]; {
		case c.Proposal != dialect.NoProposal:
			parts = append(parts, briefProposals[c.Proposal])
		case c.For == 0:
			return protocols[r.Protocol()]
		default:
			in |= c.For
		}
	}
	for _, p := range []dialect.Protocol{dialect.ACP, dialect.MCP} {
		var names []string
		all := true
		for _, d := range generations {
			if d.Protocol() == p && in.Has(d) {
				names = append(names, d.String())
			} else if d.Protocol() == p {
				all = false
			}
		}
		switch {
		case all:
			parts = append(parts, protocols[p])
		case len(names) > 0:
			parts = append(parts, protocols[p]+" "+strings.Join(names, ", "))
		}
	}
	return strings.Join(slices.Compact(parts), "; ")
}

// inOrder returns rules sorted by protocol, then by ID.
func inOrder(rules []*conform.Rule) []*conform.Rule {
	return slices.SortedFunc(slices.Values(rules), func(a, b *conform.Rule) int {
		return cmp.Or(cmp.Compare(a.Protocol(), b.Protocol()), strings.Compare(a.ID, b.ID))
	})
}

// sideOf names the side at fault.
func sideOf(r *conform.Rule) string {
	switch {
	case isOwn(r):
		return "nobody"
	case r.Fault == conform.Sender:
		return "sender"
	}
	return r.Fault.String()
}

// protocols are the protocols' display names.
var protocols = [...]string{
	dialect.AnyProtocol: "JSON-RPC",
	dialect.ACP:         "ACP",
	dialect.MCP:         "MCP",
}

// generations are the protocols' dialects.
var generations = []dialect.Dialect{dialect.ACPv1, dialect.ACPv2Early, dialect.ACPv2, dialect.MCPLegacy, dialect.MCPModern}

// scope says which connections a clause applies to, such as ACP v1, v2, or MCP from
// 2025-06-18.
func scope(r *conform.Rule, c *conform.Clause) string {
	text := protocols[r.Protocol()]
	var in []string
	for _, d := range generations {
		if !c.For.Has(d) {
			continue
		}
		name := d.String()
		if r.Protocol() == dialect.AnyProtocol {
			name, text = protocols[d.Protocol()]+" "+name, ""
		}
		in = append(in, name)
	}
	text = strings.TrimSpace(text + " " + strings.Join(in, ", "))
	if c.Since != "" {
		text += " from " + c.Since
	}
	if c.Until != "" {
		text += " to " + c.Until
	}
	if c.Proposal != dialect.NoProposal {
		text += " with " + proposals[c.Proposal]
	}
	return text
}

// proposals describe the session proposals for MCP and their states.
var proposals = [...]string{
	dialect.SEP1364A1: "the proposal SEP-1364, alternative 1 (closed)",
	dialect.SEP1364A2: "the proposal SEP-1364, alternative 2 (closed)",
	dialect.DataLayer: "the proposal of data-layer sessions (draft)",
}

// briefProposals are short names for the proposals.
var briefProposals = [...]string{
	dialect.SEP1364A1: "MCP with SEP-1364",
	dialect.SEP1364A2: "MCP with SEP-1364",
	dialect.DataLayer: "MCP with data layer",
}
