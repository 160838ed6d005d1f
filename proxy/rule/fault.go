package rule

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/acptap/acptap/record/termtext"
)

// A Fault is a named set of rules that shows how a peer copes with one kind of trouble. In
// the text of the rules <NAME> stands for a parameter.
type Fault struct {
	Name       string
	Protocol   string // acp, mcp, or both
	Reveals    string // in a few words
	Parameters []Parameter

	text string
}

// A Parameter of a Fault is a value that the user may set.
type Parameter struct {
	Name, Default, Means string
}

//go:embed faults/*.rules
var faultFiles embed.FS

// Faults returns all faults, in the order of the files. The caller must not modify them.
func Faults() []Fault { return faults() }

var faults = sync.OnceValue(func() (list []Fault) {
	for _, protocol := range []string{"both", "acp", "mcp"} {
		text, err := faultFiles.ReadFile("faults/" + protocol + ".rules")
		if err != nil {
			panic("rule: " + err.Error())
		}
		for part := range strings.SplitSeq("\n"+string(text), "\n== ") {
			if name, body, ok := strings.Cut(part, "\n"); ok && name != "" {
				list = append(list, newFault(name, protocol, body))
			}
		}
	}
	return list
})

// newFault parses a fault: a comment that says what it reveals, a comment NAME=VALUE: MEANING
// for each parameter, and the rules.
func newFault(name, protocol, body string) Fault {
	f := Fault{Name: name, Protocol: protocol}
	for line := range strings.Lines(strings.TrimSpace(body) + "\n") {
		comment, is := strings.CutPrefix(line, "# ")
		comment = strings.TrimSpace(comment)
		set, means, colon := strings.Cut(comment, ": ")
		key, value, equals := strings.Cut(set, "=")
		switch {
		case !is:
			f.text += line
		case colon && equals && isName(key):
			f.Parameters = append(f.Parameters, Parameter{key, value, means})
		default:
			f.Reveals = strings.TrimSpace(f.Reveals + " " + comment)
		}
	}
	return f
}

// LookupFault returns the fault called name.
func LookupFault(name string) (Fault, bool) {
	i := slices.IndexFunc(Faults(), func(f Fault) bool { return f.Name == name })
	if i < 0 {
		return Fault{}, false
	}
	return Faults()[i], true
}

// Rules returns the text of the rules with values, given as KEY=VALUE, or defaults for the
// parameters.
func (f Fault) Rules(values ...string) (string, error) {
	set := map[string]string{}
	var names []string
	for _, p := range f.Parameters {
		set[p.Name] = p.Default
		names = append(names, p.Name)
	}
	for _, v := range values {
		key, value, ok := strings.Cut(v, "=")
		if _, known := set[key]; !known || !ok {
			if len(names) == 0 {
				return "", fmt.Errorf("%s takes no parameter, not %q", f.Name, v)
			}
			return "", fmt.Errorf("%q is not a parameter of %s: it takes %s=VALUE", v, f.Name, strings.Join(names, "=VALUE, "))
		}
		set[key] = value
	}
	text := f.text
	for key, value := range set {
		text = strings.ReplaceAll(text, "<"+key+">", value)
	}
	return text, nil
}

// use reads a line that uses a fault.
func (s *Set) use(p *scanner, at int) error {
	p.blanks()
	from := p.i
	name := p.word()
	f, ok := LookupFault(name)
	if !ok {
		return p.wrong(from, unknownFault(name))
	}
	var values []string
	begin := p.i
	for p.blanks(); p.i < p.end; p.blanks() {
		values = append(values, p.word())
	}
	text, err := f.Rules(values...)
	if err != nil {
		return p.wrong(begin, err.Error())
	}
	inner, err := Parse(name, text)
	if err != nil { // the value is to blame: a test parses every fault with its defaults
		return p.wrong(begin, fmt.Sprintf("with these values the rules of %s are wrong: %v", name, err))
	}
	for i, r := range inner.rules {
		if r.Name == r.Where {
			if r.Name = name; i > 0 {
				r.Name = fmt.Sprintf("%s/%d", name, i+1)
			}
		}
		if r.Where = p.where(at); s.append(p.source, at, r) != nil {
			return p.wrong(from, name+" is used twice, or a rule has the name "+r.Name)
		}
	}
	s.entries = append(s.entries, entry(strings.Join(append([]string{"use", name}, values...), " ")))
	return nil
}

func unknownFault(name string) string {
	var names []string
	for _, f := range Faults() {
		names = append(names, f.Name)
	}
	text := fmt.Sprintf("%q is not a fault", name)
	if near := termtext.Near(name, names); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return text + " (acptap rules list)"
}
