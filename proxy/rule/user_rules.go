package rule

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// A RuleState is the state of a rule in a running proxy.
type RuleState struct {
	Name string
	Text string
	Hits int
	Off  bool // it has no effect until it is enabled
	Own  bool // it is the rule by which the calling User holds frames
}

// Rules returns all rules, in order.
func (u *User) Rules() (list []RuleState, err error) {
	d := u.desk
	err = d.first(func(_ *Engine, out []wire.Frame) []wire.Frame {
		for _, r := range d.allRules() {
			state := RuleState{Name: r.Name, Text: r.text}
			if _, c := d.counterOf(r); c != nil {
				state.Hits, state.Off, state.Own = c.hits, c.off, c.owner == u
			}
			list = append(list, state)
		}
		return out
	})
	return list, err
}

// AddRules adds rules after the existing ones. Rules from a file replace those that any user
// added from a file of the same name, and frames held by the replaced rules are released. As
// in the names of rules, folders do not count: the proxy and its users may work in different
// ones.
func (u *User) AddRules(file, text string) error {
	d := u.desk
	if file == "" {
		file = fmt.Sprintf("added-%d", d.additions.Add(1))
	}
	set, err := Parse(file, text)
	if err != nil {
		return err
	}
	var wrong error
	err = d.do(func(e *Engine, out []wire.Frame) []wire.Frame {
		if e == d.engines[0] {
			out, wrong = d.replaceRules(out, filepath.Base(file), set)
		}
		return d.dismiss(out, e, "its rule is off")
	})
	return cmp.Or(wrong, err)
}

// replaceRules replaces the rules of a file with those of a Set.
func (d *Desk) replaceRules(out []wire.Frame, file string, set *Set) ([]wire.Frame, error) {
	old := slices.DeleteFunc(slices.Clone(d.rules), func(r *Rule) bool { return r.file != file })
	if err := d.fits(set, old); err != nil {
		return out, err
	}
	for _, r := range old {
		d.removeRule(r)
	}
	for _, r := range set.rules {
		d.rules = append(d.rules, r)
		d.engines[min(int(r.options.near), len(d.engines)-1)].addRule(r)
		out = append(out, note(wire.ClientToAgent, "rules", "added: @"+r.Name+" "+r.text, 0))
	}
	return out, nil
}

// fits returns an error if the rules of a Set cannot be added after removing old.
func (d *Desk) fits(set *Set, old []*Rule) error {
	all := slices.DeleteFunc(d.allRules(), func(r *Rule) bool { return slices.Contains(old, r) })
	switch {
	case set.seeded && set.seed != d.engines[0].seed:
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

// RemoveRule removes a rule and releases the frames it holds.
func (u *User) RemoveRule(name string) error {
	d := u.desk
	return d.named(name, func(out []wire.Frame, r *Rule) []wire.Frame {
		d.removeRule(r)
		return append(out, note(wire.ClientToAgent, "rules", "removed: @"+r.Name, 0))
	})
}

// EnableRule enables or disables a rule. Disabling it releases the frames it holds.
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

// named calls change with the rule called name, then releases the frames that no rule holds
// any more.
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

// first is do for only the Engine at the client's end.
func (d *Desk) first(act func(e *Engine, out []wire.Frame) []wire.Frame) error {
	return d.do(func(e *Engine, out []wire.Frame) []wire.Frame {
		if e != d.engines[0] {
			return out
		}
		return act(e, out)
	})
}

// allRules returns the proxy's rules, those that users added, and those by which users hold
// frames.
func (d *Desk) allRules() []*Rule {
	all := slices.Clone(d.rules)
	for _, u := range d.users {
		if u.hold != nil && d.has(u.hold.Rule) {
			all = append(all, u.hold.Rule)
		}
	}
	return all
}

// has reports whether a rule still exists.
func (d *Desk) has(r *Rule) bool { _, c := d.counterOf(r); return c != nil }

// counterOf returns a rule's counter and its Engine, or nil if the rule was removed.
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
func (d *Desk) removeRule(r *Rule) {
	if e, c := d.counterOf(r); c != nil {
		c.off = true
		e.removeRule(r)
	}
	d.rules = slices.DeleteFunc(d.rules, func(o *Rule) bool { return o == r })
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
