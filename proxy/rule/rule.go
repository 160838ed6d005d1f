// Package rule changes the traffic of a proxy according to rules: it delays, drops, changes
// and answers frames, or ends the agent, so that a test can see how a peer copes. A rule is a
// line:
//
//	[@NAME] FILTER => ACTION [OPTION, OPTION…]
//
// FILTER is a query of package filter, and selects the frames that the rule hits. Without
// @NAME the rule is called FILE:LINE. A file of rules may also contain these lines:
//
//	use FAULT KEY=VALUE…   the rules of a fault of this package
//	lacks METHOD…          the receiver of these methods neither offers nor has them
//	seed NUMBER            where random numbers begin
//
// A line that begins with a blank continues the previous one. A # at the beginning of a word
// starts a comment that extends to the end of the line.
//
// An Engine is a proxy.Interceptor that applies a Set of rules. It records everything it does
// on the tape: a mark with the rule's name precedes the changed frames, which are recorded
// before and after the change. The same traffic under the same rules and seed has the same
// effects. Rules see frames of up to 16 MiB from client and agent; they can drop and delay
// frames over 1 MiB, but not read or change them.
package rule

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/inspect/frames/filter"
)

// maxRules limits the rules of a Set, because every frame is checked against all of them.
const maxRules = 256

// A Set is a list of rules, in the order in which they see a frame. The zero Set is empty.
type Set struct {
	entries []entry
	rules   []*Rule
	seed    uint64
	seeded  bool
	desk    *Desk // nil: rules that hold frames have no effect
}

// An entry is a line of a Set, as String formats it.
type entry string

// A Rule is one rule of a Set.
type Rule struct {
	Name   string        // unique in its Set
	Where  string        // FILE:LINE
	Filter filter.Filter // the frames it hits; matches all for lacks

	action  action
	options options
	text    string // the rule without its name
	file    string // the file it came from, without the folder
}

// String returns the rule without its name, in the form that Parse reads.
func (r *Rule) String() string { return r.text }

// Optional reports whether it is fine for the rule never to hit.
func (r *Rule) Optional() bool { return r.options.may }

// Rules returns all rules, including those of faults. The caller must not modify them.
func (s *Set) Rules() []*Rule { return s.rules }

// Attend makes held frames wait at d. The Set can then serve only one connection.
func (s *Set) Attend(d *Desk) { s.desk = d }

// Holds returns a rule that holds frames, or nil if there is none.
func (s *Set) Holds() *Rule {
	for _, r := range s.rules {
		if _, ok := r.action.(hold); ok {
			return r
		}
	}
	return nil
}

// Seed returns the seed that the rules set, if any.
func (s *Set) Seed() (seed uint64, ok bool) { return s.seed, s.seeded }

// String returns the rules in the form that Parse reads, without comments. It omits names
// derived from a file and a line.
func (s *Set) String() string {
	var b strings.Builder
	for _, e := range s.entries {
		b.WriteString(string(e))
		b.WriteByte('\n')
	}
	return b.String()
}

// Parse reads rules. file is where they come from; it also names rules that have no name.
// Errors are of type *SyntaxError.
func Parse(file, text string) (*Set, error) {
	s := &Set{}
	return s, s.Add(file, text)
}

// Add parses more rules into the Set; see Parse.
func (s *Set) Add(file, text string) (err error) {
	src := newSource(file, text)
	for from, to := range src.entries {
		if err := s.entry(&scanner{src, from, to}); err != nil {
			return err
		}
	}
	return nil
}

// AddFault adds the rules of a fault: NAME or NAME,KEY=VALUE,…
func (s *Set) AddFault(text string) error {
	words := strings.Split(text, ",")
	err := s.Add("--fault", "use "+strings.Join(words, " "))
	var wrong *SyntaxError
	if errors.As(err, &wrong) {
		return fmt.Errorf("--fault %s: %s", text, wrong.Problem)
	}
	return err
}

func (s *Set) entry(p *scanner) error {
	p.blanks()
	at := p.i
	switch p.take("use", "lacks", "seed") {
	case "use":
		return s.use(p, at)
	case "lacks":
		return s.lacks(p, at)
	case "seed":
		n, err := strconv.ParseUint(p.word(), 10, 64)
		if err != nil {
			return p.wrong(p.i, "a seed is a number from 0 to 18446744073709551615")
		}
		s.seed, s.seeded = n, true
		s.entries = append(s.entries, entry(fmt.Sprintf("seed %d", n)))
		return p.ended()
	}
	return s.rule(p, at)
}

// rule reads a rule.
func (s *Set) rule(p *scanner, at int) error {
	r := &Rule{Where: p.where(at)}
	r.Name = r.Where
	named := ""
	if p.plain[at] == '@' {
		r.Name = p.word()[1:]
		named = "@" + r.Name + " "
		if !isName(r.Name) {
			return p.wrong(at, "a name is made of letters, digits and - _ . /")
		}
	}
	p.blanks()
	from := p.i
	arrow := p.arrow()
	if arrow < 0 {
		return p.wrong(p.end-len(p.plain[from:p.end])+len(strings.TrimRight(p.plain[from:p.end], " \t\r\n")), "=> and an action are missing: FILTER => ACTION, with blanks around =>")
	}
	var err error
	if r.Filter, err = p.filter(from, arrow); err != nil {
		return err
	}
	if text := r.Filter.String() + " =>"; (&scanner{newSource("", text), 0, len(text)}).arrow() != len(text)-2 {
		return p.wrong(from, "a => in a filter must be in double quotes")
	}
	p.i = arrow + 2
	p.blanks()
	begin := p.i
	if r.action, err = p.action(); err != nil {
		return err
	}
	text := strings.Join(strings.FieldsFunc(p.plain[begin:p.i], func(c rune) bool { return c == '\n' || c == '\r' }), " ")
	if r.options, err = p.options(); err != nil {
		return err
	}
	r.text = strings.TrimLeft(r.Filter.String()+" => ", " ") + strings.TrimRight(text, " \t") + r.options.String()
	s.entries = append(s.entries, entry(named+r.text))
	return s.append(p.source, at, r)
}

// append adds a rule found at an offset of a source.
func (s *Set) append(src *source, at int, r *Rule) error {
	if i := slices.IndexFunc(s.rules, func(o *Rule) bool { return o.Name == r.Name }); i >= 0 {
		return src.wrong(at, fmt.Sprintf("the name %s is taken, in %s", r.Name, s.rules[i].Where))
	}
	if len(s.rules) == maxRules {
		return src.wrong(at, fmt.Sprintf("there are more than %d rules", maxRules))
	}
	r.file = filepath.Base(src.file)
	s.rules = append(s.rules, r)
	return nil
}

// where returns FILE:LINE for an offset.
func (s *source) where(at int) string {
	return fmt.Sprintf("%s:%d", filepath.Base(s.file), s.line(at))
}

// filter reads the filter between two offsets.
func (p *scanner) filter(from, to int) (filter.Filter, error) {
	text := p.plain[from:to]
	f, err := filter.Parse(text)
	var wrong *filter.SyntaxError
	if errors.As(err, &wrong) {
		return f, p.wrong(from+wrong.Pos, wrong.Problem, wrong.Valid...)
	}
	if term, why := f.Unseen(); why != "" {
		at := max(0, strings.Index(text, term))
		return f, p.wrong(from+at, fmt.Sprintf("%s is not known while frames pass: %s", term, why))
	}
	return f, nil
}

// ended returns an error if anything is left to read.
func (p *scanner) ended() error {
	p.blanks()
	if p.i < p.end {
		at := p.i
		return p.wrong(at, fmt.Sprintf("%q is too much here", p.word()))
	}
	return nil
}

func isName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./", c))
	}) < 0
}
