package conform

import (
	"fmt"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
)

// A Victim is a peer that is known to break on what a rule finds, although no text forbids
// it.
type Victim struct {
	Who      string // as it calls itself in initialize, or as its users call it
	Versions string // those seen to break; empty: not known
	Seen     string // month of the report, such as 2026-06
	What     string // what happens to it, in one clause that follows the name, such as "drops the text"
	URL      string // the public thread
	Mended   string // the version that no longer breaks; empty: none is known
}

// readVictim parses WHO[ (VERSIONS)], MONTH[, mended VERSION]: WHAT <URL>.
func (r *Rule) readVictim(value string) error {
	var v Victim
	head, rest, _ := strings.Cut(value, ": ")
	what, url, _ := strings.Cut(strings.TrimSuffix(rest, ">"), " <")
	parts := strings.Split(head, ", ")
	v.Who, v.Versions, _ = strings.Cut(strings.TrimSuffix(parts[0], ")"), " (")
	v.What, v.URL = what, url
	if len(parts) > 1 {
		v.Seen = parts[1]
	}
	if len(parts) > 2 {
		v.Mended = strings.TrimPrefix(parts[2], "mended ")
	}
	if _, err := time.Parse("2006-01", v.Seen); err != nil || v.Who == "" || what == "" || !strings.HasPrefix(url, "https://") {
		return fmt.Errorf("a victim needs a name, a month, what happens to it and a thread, as in agent-shell, 2026-06: drops the text <https://…>")
	}
	r.Hurts = append(r.Hurts, v)
	return nil
}

// Broken reports whether the victim still breaks, as far as is known.
func (v *Victim) Broken() bool { return v.Mended == "" }

// victim returns the peer that a finding hurts if the rule's strength is Hurts: the side
// opposite the one at fault if it is known to break, otherwise the first known victim. yours
// reports that it is that side.
func (r *Rule) victim(by Fault, conn *dialect.Connection) (v *Victim, yours bool) {
	peer := conn.Client
	if by == Client {
		peer = conn.Agent
	}
	for i := range r.Hurts {
		switch one := &r.Hurts[i]; {
		case !one.Broken():
		case peer != "" && strings.EqualFold(one.Who, peer):
			return one, true
		case v == nil:
			v = one
		}
	}
	return v, false
}
