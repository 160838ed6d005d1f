package screen

import (
	"fmt"

	"github.com/acptap/acptap/inspect/screen/page"
	"github.com/acptap/acptap/record/termtext"
)

// showRules shows the rules of the proxy.
func (a *app) showRules() {
	if !a.reaches() {
		return
	}
	a.ruleList = a.rulesPage()
	a.page = a.ruleList
	a.readRules()
}

// readRules rereads the rules if they are on the screen.
func (a *app) readRules() {
	h := a.holds
	if h == nil || h.control == nil || a.part() != inRules {
		return
	}
	if h.again = h.asked; h.asked {
		return
	}
	h.asked = true
	a.command(func(c Control) error {
		rules, err := c.Rules()
		a.updates.post(func() {
			h.rules, h.asked = rules, false
			h.version++
			if h.again && a.holds == h {
				a.readRules()
			}
		})
		return err
	}, nil)
}

// rulesPage lists the rules.
func (a *app) rulesPage() *page.Page {
	h := a.holds
	return &page.Page{
		State: func() any { return h.version },
		Lines: func(int) []page.Line {
			lines := []page.Line{{Spans: []termtext.Span{termtext.Bold.Span("Rules of this proxy")}, Heading: page.Stays}}
			columns := 0
			for _, r := range h.rules {
				columns = min(max(columns, termtext.Width(ruleName(r))), 24)
			}
			for i, r := range h.rules {
				lines = append(lines, page.Line{Spans: ruleLine(r, columns), Item: i, Key: r.Name})
			}
			if len(h.rules) == 0 {
				lines = append(lines, page.Line{Spans: []termtext.Span{termtext.Dim.Span("There are none. a adds one.")}, Item: -1})
			}
			return lines
		},
	}
}

// addRule asks for a rule.
func (a *app) addRule() {
	a.ask("rule (FILTER => ACTION): ", "", func(text string) error {
		if a.holds == nil {
			return a.errNotListening()
		}
		a.command(func(c Control) error {
			err := c.AddRule(text)
			a.updates.post(a.readRules)
			return err
		}, func(err error) {
			a.addRule()
			a.prompt.field.SetText(text)
			a.prompt.fault(err)
		})
		return nil
	})
}

// flipRule enables or disables the rule under the cursor.
func (a *app) flipRule() {
	at := a.page.Current().Item
	if a.holds == nil || at < 0 || at >= len(a.holds.rules) {
		return
	}
	r := a.holds.rules[at]
	a.command(func(c Control) error {
		err := c.EnableRule(r.Name, r.Off)
		a.updates.post(a.readRules)
		return err
	}, nil)
}

// ruleName returns a rule's name, and says whether the rule is the hold of this inspector.
func ruleName(r ProxyRule) string {
	if r.Own {
		return termtext.Piece(r.Name) + " (yours)"
	}
	return termtext.Piece(r.Name)
}

// ruleLine returns a rule's line; columns is the width of its name.
func ruleLine(r ProxyRule, columns int) []termtext.Span {
	state, style := " on  ", termtext.Bold
	if r.Off {
		state, style = " off ", termtext.Dim
	}
	name := termtext.Pad(termtext.Cut(ruleName(r), columns), columns)
	return []termtext.Span{style.Span(state), termtext.Plain.Span(fmt.Sprintf("%6d  ", r.Hits)), style.Span(name + "  "), termtext.Plain.Span(termtext.Piece(r.Text))}
}
