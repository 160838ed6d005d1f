package probe

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/proxy/dialect"
)

// ruleOf returns a case as a conform.Rule, for the writers of package report.
func ruleOf(c *Case) *conform.Rule {
	return &conform.Rule{
		ID: c.ID,
		Clauses: []conform.Clause{{
			For: dialect.SetOf(c.For...), Strength: outcome(c.Tier).Strength(),
			Source: conform.Source{Title: sourceTitle(c.Source), URL: c.Source},
		}},
		Text: conform.Text{Asks: c.Title, Finds: "The peer reacts otherwise to what acptap probe sends.", Do: "see what the peer answers, with acptap probe --only " + c.ID},
	}
}

// sourceTitle returns a page's address without its common prefix.
func sourceTitle(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Host + strings.TrimSuffix(u.Path, "/")
}

// accuse sets the Fault of a failed result.
func (res *Result) accuse(k Kind) {
	strength := res.Outcome.Strength()
	if strength == conform.None {
		return
	}
	fault := conform.Agent
	if k == Client {
		fault = conform.Client
	}
	f := &report.Finding{
		Finding: conform.Finding{Rule: res.Case.Rule, Clause: &res.Case.Rule.Clauses[0], Strength: strength, Fault: fault, Evidence: conform.Evidence{Text: res.Says(), Entry: -1}},
		Key:     res.key(), Known: res.New, Public: report.Public{Text: res.shared().Says()},
	}
	if len(res.Frames) > 0 {
		f.Seq = res.Frames[0]
	}
	res.Fault = f
}

// key identifies the case and the expected line that it missed.
func (res *Result) key() string {
	wanted := ""
	if res.Step != nil {
		wanted = res.Step.Text
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s", res.Case.ID, scopeName(res.Dialect), wanted))
	return hex.EncodeToString(sum[:8])
}

// rules returns the rules of all cases and findings.
func (r *Report) rules() (all []*conform.Rule) {
	for _, f := range r.Faults() {
		if !slices.Contains(all, f.Rule) {
			all = append(all, f.Rule)
		}
	}
	for i := range r.Results {
		if rule := r.Results[i].Case.Rule; !slices.Contains(all, rule) {
			all = append(all, rule)
		}
	}
	return all
}

// sections returns the faults as findings, with one section per tape that has any.
func (r *Report) sections() (all []*report.Section) {
	for i := range r.Results {
		res := &r.Results[i]
		s := &report.Section{Tapes: []*report.Tape{{ID: res.Tape, Name: res.Name, File: res.place()}}}
		if res.Fault != nil {
			s.Findings = append(s.Findings, *res.Fault)
		}
		for _, f := range r.Rest() {
			if f.First == res {
				s.Findings = append(s.Findings, *f.Finding)
			}
		}
		for j := range s.Findings {
			s.Findings[j].Tape = 0
		}
		if len(s.Findings) > 0 {
			all = append(all, s)
		}
	}
	return all
}

// place returns the path of the tape, or the case's ID if no file was written.
func (res *Result) place() string {
	if res.File != "" {
		return res.File
	}
	return res.Case.ID
}
