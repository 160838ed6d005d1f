package report

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/acptap/acptap/inspect/frames/frametext"
	h "github.com/acptap/acptap/inspect/html"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// An introduction is what both sides of a connection said they offer.
type introduction struct {
	On    string // names of the tapes; empty if there is only one
	Sides []offering

	asked, answered []byte
	dialect         dialect.Dialect
	open            bool // there is no response
	failed          bool
	first           *trace.Call
	runs            []int
}

// An offering is what one side offers.
type offering struct {
	Title    string
	Who      string
	Protocol string
	Frame    frameRef
	Rows     []offerRow
	None     string // why it has no rows
}

func (i *introduction) html() h.Node {
	return h.Group{h.Given(i.On, h.P(h.Class("meta"), h.Text(i.On)), h.NL), h.Div(h.Class("side-by-side"), h.Each(i.Sides, offering.html)), h.NL}
}

func (o offering) html() h.Node {
	table := h.P(h.Class("soft"), h.Text(o.None))
	if len(o.Rows) > 0 {
		table = h.Div(h.Class("scroll"), h.Attr("tabindex", "0"), h.Table(h.Class("numbers tight"), tableHead("capability", "offered", "used"), h.TBody(h.NL, h.Each(o.Rows, offerRow.html))))
	}
	return h.Group{h.Div(h.H3(h.Text(o.Title+" "), h.Span(h.Class("meta"), h.Given(o.Who, fact(o.Who)), h.Given(o.Protocol, fact(o.Protocol)))), h.NL, table), h.NL}
}

// An offerRow is a capability.
type offerRow struct {
	Class  string // by its depth
	Name   string
	Answer string
	Soft   bool // it is not offered
	Uses   []string
}

func (o offerRow) html() h.Node {
	return h.Group{h.Tr(h.Given(o.Soft, h.Class("soft")), h.Th(h.Scope("row"), h.Given(o.Class, h.Class(o.Class)), h.Text(o.Name)),
		h.Td(h.Text(o.Answer)), h.Td(h.Each(o.Uses, func(use string) h.Node { return span("line", use) }))), h.NL}
}

// Limits on the capabilities on the page.
const (
	maxIntroductions = 8
	maxOffers        = 200       // per side
	maxIntroduction  = 256 << 10 // bytes
)

// offerDepths are the classes of capabilities by depth.
var offerDepths = []string{"", "deep1", "deep2", "deep3"}

// introductions returns what both sides offer. Identical introductions appear once.
func (r *reader) introductions() []*introduction {
	var list []*introduction
	for _, c := range r.trace.Introductions() {
		one := &introduction{
			asked: r.met.bodies[stats.Place{Run: c.Run, Seq: c.Request}], answered: r.met.bodies[stats.Place{Run: c.Run, Seq: c.Response}],
			dialect: r.trace.Runs[c.Run].Dialect, open: c.Open(), failed: c.Failed, first: c,
		}
		if i := slices.IndexFunc(list, one.same); i >= 0 {
			one = list[i]
		} else if len(list) < maxIntroductions {
			list = append(list, one)
		}
		if !slices.Contains(one.runs, c.Run) {
			one.runs = append(one.runs, c.Run)
		}
	}
	for _, one := range list {
		r.introduce(one)
	}
	return list
}

func (i *introduction) same(o *introduction) bool {
	return i.dialect == o.dialect && i.open == o.open && bytes.Equal(i.asked, o.asked) && bytes.Equal(i.answered, o.answered)
}

// introduce fills in the offerings of an introduction.
func (r *reader) introduce(one *introduction) {
	used := map[string]int{}
	for _, run := range one.runs {
		for method, n := range r.used[run] {
			used[method] += n
		}
	}
	if len(r.in.Tapes) > 1 {
		one.On = "Tape"
		for i, run := range one.runs {
			if i > 0 {
				one.On = "Tapes" + one.On[len("Tape"):] + ","
			}
			one.On += fmt.Sprintf(" %d", run+1)
		}
	}
	agent := answering(one.dialect)
	client := offers("Client", one, dialect.ClientSide, one.asked, used)
	client.Frame = r.frame(one.first.Run, one.first.Request)
	server := offering{Title: agent, Frame: client.Frame, None: "It has not answered."}
	if !one.open {
		server = offers(agent, one, dialect.AgentSide, one.answered, used)
		server.Frame = r.frame(one.first.Run, one.first.Response)
	}
	if one.failed {
		server.None = "It refused."
	}
	one.Sides = []offering{client, server}
}

// answering returns the word for the side that clients talk to.
func answering(d dialect.Dialect) string {
	if d == dialect.MCPLegacy || d == dialect.MCPModern {
		return "Server"
	}
	return "Agent"
}

// offers returns what a side offers.
func offers(title string, one *introduction, side dialect.Side, said []byte, used stats.Uses) offering {
	p := frametext.PartyOf(wire.ValueOf(said))
	o := offering{Title: title, Who: p.Who, Protocol: p.Protocol}
	switch {
	case said == nil || string(said) == trace.Cut:
		o.None = "What it said is not there, or too long."
		return o
	case !p.Capabilities.IsObject():
		o.None = "It offers nothing."
		return o
	}
	for _, c := range p.Offers(one.dialect, side, used) {
		if len(o.Rows) == maxOffers {
			break
		}
		row := offerRow{Class: offerDepths[min(c.Depth, len(offerDepths)-1)], Name: termtext.Piece(c.Name), Answer: termtext.Brief(c.Answer, 80), Soft: !c.Offered}
		for _, u := range c.Uses {
			row.Uses = append(row.Uses, fmt.Sprintf("%s ×%s", u.Method, termtext.Grouped(int64(u.Count))))
		}
		o.Rows = append(o.Rows, row)
	}
	return o
}
