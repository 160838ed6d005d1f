package rule

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// A RuleState is a rule of a running proxy.
type RuleState struct {
	Name string
	Text string
	Hits int
	Off  bool // it does nothing until it is switched on
	Own  bool // it is the rule by which the asking User holds frames
}

// Rules returns the rules in their order.
func (u *User) Rules() (list []RuleState, err error) {
	d := u.desk
	err = d.first(func(_ *Engine, out []wire.Frame) []wire.Frame {
		for _, r := range d.allRules() {
			state := RuleState{Name: r.Name, Text: r.text, Hits: d.hits[r]}
			if _, c := d.counterOf(r); c != nil {
				state.Off, state.Own = c.off, c.owner == u
			}
			list = append(list, state)
		}
		return out
	})
	return list, err
}

// AddRules adds rules after those that there are. If they are from a file, those that were
// added from a file of that name before are removed.
func (u *User) AddRules(file, text string) error {
	d := u.desk
	var wrong error
	err := d.first(func(e *Engine, out []wire.Frame) []wire.Frame {
		if file == "" {
			d.additions++
			file = fmt.Sprintf("added-%d", d.additions)
		}
		var set *Set
		if set, wrong = Parse(file, text); wrong != nil {
			return out
		}
		old := slices.DeleteFunc(slices.Clone(d.rules), func(r *Rule) bool { return d.files[r] != file })
		if wrong = d.fits(set, old); wrong != nil {
			return out
		}
		for _, r := range old {
			out = d.removeRule(out, r)
		}
		for _, r := range set.rules {
			d.files[r] = file
			d.rules = append(d.rules, r)
			d.engines[min(int(r.near), len(d.engines)-1)].addRule(r)
			out = append(out, note(wire.ClientToAgent, "rules", "added: @"+r.Name+" "+r.text, 0))
		}
		return out
	})
	return cmp.Or(wrong, err)
}

// fits returns an error if the rules of a Set cannot be added, once old ones are removed.
func (d *Desk) fits(set *Set, old []*Rule) error {
	all := slices.DeleteFunc(d.allRules(), func(r *Rule) bool { return slices.Contains(old, r) })
	switch {
	case set.seeded:
		return errors.New("the seed is set when the proxy starts")
	case len(set.rules) == 0:
		return errors.New("there are no rules")
	case len(all)+len(set.rules) > maxRules:
		return fmt.Errorf("there are more than %d rules", maxRules)
	}
	for _, r := range set.rules {
		if slices.ContainsFunc(all, func(o *Rule) bool { return o.Name == r.Name }) {
			return fmt.Errorf("the name %s is taken", r.Name)
		}
	}
	return nil
}

// RemoveRule removes a rule. The frames that it holds go.
func (u *User) RemoveRule(name string) error {
	d := u.desk
	return d.named(name, func(out []wire.Frame, r *Rule) []wire.Frame {
		return append(d.removeRule(out, r), note(wire.ClientToAgent, "rules", "removed: @"+r.Name, 0))
	})
}

// EnableRule switches a rule on or off. If it is off, the frames that it holds go.
func (u *User) EnableRule(name string, on bool) error {
	d := u.desk
	return d.named(name, func(out []wire.Frame, r *Rule) []wire.Frame {
		did := "off: @"
		if on {
			did = "on: @"
		}
		if _, c := d.counterOf(r); c != nil {
			c.off = !on
		}
		return append(out, note(wire.ClientToAgent, "rules", did+r.Name, 0))
	})
}

// named calls change with the rule of a name, and lets the frames go that no rule holds
// any longer.
func (d *Desk) named(name string, change func(out []wire.Frame, r *Rule) []wire.Frame) error {
	found := false
	err := d.do(func(e *Engine, out []wire.Frame) []wire.Frame {
		if e == d.engines[0] {
			all := d.allRules()
			if i := slices.IndexFunc(all, func(r *Rule) bool { return r.Name == name }); i >= 0 {
				found = true
				out = change(out, all[i])
			}
		}
		return d.dismiss(out, e, "its rule is off")
	})
	if err == nil && !found {
		err = fmt.Errorf("there is no rule %s", name)
	}
	return err
}

// first is do for the Engine near the client alone.
func (d *Desk) first(act func(e *Engine, out []wire.Frame) []wire.Frame) error {
	return d.do(func(e *Engine, out []wire.Frame) []wire.Frame {
		if e != d.engines[0] {
			return out
		}
		return act(e, out)
	})
}

// allRules returns the rules of the proxy, those that users added, and those by which
// users hold frames.
func (d *Desk) allRules() []*Rule {
	all := append(slices.Clone(d.engines[0].set.rules), d.rules...)
	all = slices.DeleteFunc(all, func(r *Rule) bool { _, c := d.counterOf(r); return c == nil })
	for _, u := range d.users {
		if n := len(u.holds); n > 0 {
			all = append(all, u.holds[n-1].Rule)
		}
	}
	return all
}

// counterOf returns the counter of a rule and the Engine that has it, or nil if it was
// removed.
func (d *Desk) counterOf(r *Rule) (*Engine, *counter) {
	for _, e := range d.engines {
		for _, list := range [][]*counter{e.rules, e.timed} {
			for _, c := range list {
				if c.Rule == r {
					return e, c
				}
			}
		}
	}
	return nil, nil
}

// removeRule removes a rule.
func (d *Desk) removeRule(out []wire.Frame, r *Rule) []wire.Frame {
	if e, c := d.counterOf(r); c != nil {
		c.off = true
		e.removeRule(r)
	}
	d.rules = slices.DeleteFunc(d.rules, func(o *Rule) bool { return o == r })
	delete(d.files, r)
	delete(d.hits, r)
	return out
}

// addRule adds a rule to a running Engine.
func (e *Engine) addRule(r *Rule) *counter {
	c := newCounter(r, e.seed)
	if _, timed := r.action.(pacing); timed {
		e.timed = append(e.timed, c)
	} else {
		e.rules = append(e.rules, c)
	}
	e.sort()
	return c
}

// removeRule removes a rule from a running Engine.
func (e *Engine) removeRule(r *Rule) {
	is := func(c *counter) bool { return c.Rule == r }
	e.rules, e.timed = slices.DeleteFunc(e.rules, is), slices.DeleteFunc(e.timed, is)
	e.sort()
}
