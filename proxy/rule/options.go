package rule

import (
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/bounded"
)

// options restrict which of the frames that match the filter a rule hits.
type options struct {
	first  int // at most this many; 0: all
	nth    int // only this one; 0: all
	every  int // every Nth
	after  int // skip this many
	chance float64
	per    scope
	during time.Duration // counted from the first hit; 0: no limit
	may    bool          // the rule need not hit
	near   side          // the end of the chain where the rule works
	words  []string      // as written
}

// A scope says whether a rule counts per connection, session or turn.
type scope uint8

const (
	perConnection scope = iota
	perSession
	perTurn
)

// A side is an end of a chain of interceptors.
type side uint8

const (
	nearClient side = iota
	nearAgent
)

const optionNames = "once, first N, nth N, every N, after N, chance P%, per session, per turn, for T, near agent, may"

// options reads a rule's options, up to the end of the entry.
func (p *scanner) options() (o options, err error) {
	o.chance = 1
	p.blanks()
	if p.i == p.end {
		return o, nil
	}
	at := p.i
	if p.plain[at] != '[' {
		return o, p.wrong(at, "too much here: options stand in [ ]")
	}
	size := strings.IndexByte(p.plain[at:p.end], ']')
	if size < 0 {
		return o, p.wrong(at, "unmatched [")
	}
	i := at + 1
	for word := range strings.SplitSeq(p.plain[i:at+size], ",") {
		start := i + len(word) - len(strings.TrimLeft(word, " \t\r\n"))
		if problem := o.set(strings.Fields(word)); problem != "" {
			return o, p.wrong(start, problem)
		}
		i += len(word) + 1
	}
	p.i = at + size + 1
	return o, p.ended()
}

// set sets one option. It returns the problem, or "".
func (o *options) set(words []string) (problem string) {
	text := strings.Join(words, " ")
	unknown := fmt.Sprintf("%q is not an option; expected one of %s", text, optionNames)
	argument := ""
	switch {
	case len(words) == 0:
		return "an option is missing"
	case len(words) > 2:
		return unknown
	case len(words) == 2:
		argument = words[1]
	}
	counting := []string{"once", "first", "nth", "every"}
	for _, before := range o.words {
		switch name, _, _ := strings.Cut(before, " "); {
		case name == words[0]:
			return "the option " + name + " is there twice"
		case slices.Contains(counting, name) && slices.Contains(counting, words[0]):
			return "take only one of once, first, nth and every: each counts all frames that fit"
		}
	}
	n, err := strconv.Atoi(argument)
	number := err == nil && n > 0
	switch name := words[0]; {
	case text == "once":
		o.first = 1
	case text == "may":
		o.may = true
	case text == "near agent":
		o.near = nearAgent
	case text == "near client":
		o.near = nearClient
	case text == "per session":
		o.per = perSession
	case text == "per turn":
		o.per = perTurn
	case name == "first" && number:
		o.first = n
	case name == "nth" && number:
		o.nth = n
	case name == "every" && number:
		o.every = n
	case name == "after" && number:
		o.after = n
	case name == "chance":
		percent, ok := strings.CutSuffix(argument, "%")
		p, err := strconv.ParseFloat(percent, 64)
		if !ok || err != nil || !(0 <= p && p <= 100) {
			return "a chance is written 30%"
		}
		if p == 0 {
			return "with a chance of 0% the rule never hits; to switch it off, put # before it"
		}
		o.chance = p / 100
	case name == "for":
		d, ok := parseTime(argument)
		if !ok || d == 0 {
			return "a time is written 250ms or 2s"
		}
		o.during = d
	default:
		return unknown
	}
	o.words = append(o.words, text)
	return ""
}

func (o *options) String() string {
	if len(o.words) == 0 {
		return ""
	}
	return " [" + strings.Join(o.words, ", ") + "]"
}

// maxCounters limits the sessions and turns that have their own counters. The oldest are
// forgotten.
const maxCounters = 1 << 12

// A counter is an Engine's state of one rule.
type counter struct {
	*Rule
	seed    uint64                   // seeds the rule's own random numbers
	fitting bounded.Map[string, int] // number of matching frames, by scope
	asked   uint64                   // how often the chance option was evaluated
	hits    int
	begun   time.Duration // time of the first hit
	holds   bool          // its action is hold
	owner   *User         // the user who owns the rule; nil: the proxy
	off     bool          // a user has switched it off
}

func newCounter(r *Rule, seed uint64) *counter {
	name := fnv.New64a() // the same in every version, so that a seed stays reproducible
	io.WriteString(name, r.Name)
	c := &counter{Rule: r, seed: seed ^ name.Sum64()}
	c.fitting.Limit = maxCounters
	_, c.holds = r.action.(hold)
	return c
}

// hit counts a frame and reports whether the rule hits it. random is the source for this hit.
func (c *counter) hit(s *filter.Subject) (random *rand.Rand, ok bool) {
	if !c.Filter.Match(s) {
		return nil, false
	}
	o := &c.options
	key := ""
	switch o.per {
	case perSession:
		key = s.Session
	case perTurn:
		key = fmt.Sprint(s.Turn, " ", s.Session)
	}
	n, _ := c.fitting.Get(key)
	n++
	c.fitting.Set(key, n)
	if n -= o.after; n <= 0 || o.first > 0 && n > o.first || o.nth > 0 && n != o.nth || o.every > 0 && n%o.every != 0 {
		return nil, false
	}
	if o.during > 0 && c.hits > 0 && s.At-c.begun > o.during {
		return nil, false
	}
	c.asked++
	random = rand.New(rand.NewPCG(c.seed, c.asked))
	if o.chance < 1 && random.Float64() >= o.chance {
		return nil, false
	}
	if c.hits++; c.hits == 1 {
		c.begun = s.At
	}
	return random, true
}
