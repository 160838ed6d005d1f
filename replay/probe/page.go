package probe

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/acptap/acptap/inspect/conform/report"
	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/record/termtext"
)

//go:embed page.css
var pageStyle string

// WriteHTML writes the report as one self-contained page without scripts, fonts or network
// access.
func (r *Report) WriteHTML(w io.Writer) error {
	results := make([]*Result, 0, len(r.Results))
	for i := range r.Results {
		results = append(results, r.Results[i].shared())
	}
	slices.SortStableFunc(results, func(a, b *Result) int { return int(rank[a.Outcome]) - int(rank[b.Outcome]) })
	return h.Write(w, h.Group{h.Raw("<!doctype html>\n"), h.El("html", h.Attr("lang", "en"), h.NL,
		h.Void("meta", h.Attr("charset", "utf-8")), h.NL,
		h.Raw(`<meta name="viewport" content="width=device-width">`), h.NL,
		h.El("title", h.Text("acptap probe "+r.Peer())), h.NL,
		h.El("style", h.NL, h.Raw(pageStyle)), h.NL,
		h.El("h1", h.Text("How "+termtext.Line(r.Peer())+" reacts")), h.NL,
		h.P(h.Text(termtext.Line((&Text{}).total(r)))), h.NL,
		h.Given(len(r.Rest()), table("What rules found", []string{"", "rule", "what the peer did", "cases"}, h.Each(r.Rest(), Finding.row))),
		table("Cases", []string{"", "case", "what has to hold, and what came"}, h.Each(results, r.row))), h.NL})
}

// table returns a table with its title.
func table(title string, columns []string, rows h.Node) h.Node {
	return h.Group{
		h.H2(h.Text(title)), h.NL,
		h.Table(h.NL,
			h.THead(h.Tr(h.Each(columns, func(name string) h.Node { return h.Th(h.Text(name)) }))), h.NL,
			h.TBody(h.NL, rows), h.NL), h.NL,
	}
}

// known marks what the baseline has.
func known(is bool) h.Node { return h.Given(is, h.Raw(" <small>known</small>")) }

// row returns the row of a finding.
func (f Finding) row() h.Node {
	return h.Group{h.Tr(h.Class(f.Strength.String()),
		h.Td(h.Text(report.Sign(f.Strength)+" "+f.Strength.String())),
		h.Td(h.Text(f.Rule.ID+" "+f.Rule.Name)),
		h.Td(h.Text(termtext.Line(report.Said(f.Shared()))), known(f.Known)),
		h.Td(h.Text(caseList(f.Cases)))), h.NL}
}

// row returns the row of a result.
func (r *Report) row(res *Result) h.Node {
	outcome := (&Text{}).sign(res) + " " + res.Outcome.String()
	if res.Runs > 1 {
		outcome += fmt.Sprintf(" %d of %d", res.Times, res.Runs)
	}
	below := func(text string) h.Node { return h.Given(text, h.Void("br"), h.Text(termtext.Line(text))) }
	return h.Group{h.Tr(h.Class(strings.ReplaceAll(res.Outcome.String(), " ", "-")),
		h.Td(h.Text(outcome)),
		h.Td(h.Text(r.title(res))),
		h.Td(h.Text(res.Case.Title), source(res.Case.Source), below(res.Says()), below(strings.Join(res.Told, "; ")),
			known(res.Fault != nil && res.Fault.Known),
			h.Given(res.File, h.Void("br"), h.Small(h.Text(termtext.Line(res.File)))))), h.NL}
}

// source returns where the text of the specification is. Cases that users write may name
// anything, so only addresses of the web are linked.
func source(address string) h.Node {
	text, web := strings.CutPrefix(address, "https://")
	switch {
	case address == "":
		return nil
	case web || strings.HasPrefix(address, "http://"):
		return h.Group{h.Text(" "), h.Small(h.A(h.Attr("href", address), h.Text(text)))}
	}
	return h.Group{h.Text(" "), h.Small(h.Text(address))}
}

// rank orders the outcomes on the page, faults first.
var rank = [...]int8{Broken: 0, Weak: 1, Hurts: 2, Stuck: 3, Told: 4, NotTried: 5, NotOffered: 6, OK: 7}
