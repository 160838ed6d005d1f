package dialect

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:generate ./generate.sh $ACP_CHECKOUT $MCP_CHECKOUT

var (
	//go:embed methods.txt
	methodsText string
	//go:embed names.txt
	namesText string
)

// A methodTable holds the contents of methods.txt and names.txt.
type methodTable struct {
	list     []*Method
	acp, mcp map[string]*Method
}

// table is built on first use, so commands that read no frames do not pay for it.
var table = sync.OnceValue(func() *methodTable { return readMethods(methodsText, namesText) })

func readMethods(methods, names string) *methodTable {
	t := &methodTable{acp: make(map[string]*Method, 64), mcp: make(map[string]*Method, 64)}
	var area Area
	var m *Method
	for line := range strings.Lines(methods) {
		if line[0] == '#' || line[0] == '\n' {
			continue
		}
		switch words := strings.Fields(line); {
		case words[0] == "=":
			area = named[Area](areaNames[:], words[1])
		case line[0] == '\t':
			t.describe(m, words[0], words[1:])
		default:
			m = t.add(named[Protocol](protocolNames[:], words[0]), words[1])
			m.Area = area
			for _, role := range words[2:] {
				m.Role |= 1 << named[uint8](roleNames[:], role)
			}
		}
	}
	for line := range strings.Lines(names) {
		words := strings.Fields(line)
		if words[0] == "#" {
			continue
		}
		p := named[Protocol](protocolNames[:], words[0])
		if m = t.of(p)[words[1]]; m == nil {
			m = t.add(p, words[1])
		}
		m.sent(words[2:4])
		m.publish(p, words[4:])
	}
	return t
}

func (t *methodTable) of(p Protocol) map[string]*Method {
	if p == ACP {
		return t.acp
	}
	return t.mcp
}

func (t *methodTable) add(p Protocol, name string) *Method {
	m := &Method{Name: name, protocol: p, details: &details{params: whole, result: whole}}
	t.list = append(t.list, m)
	t.of(p)[name] = m
	return m
}

// describe reads a line of a method's block.
func (t *methodTable) describe(m *Method, key string, words []string) {
	switch key {
	case "like":
		like := t.of(m.protocol)[words[0]]
		name, area, role, of := m.Name, m.Area, m.Role, *like.details
		*m = *like
		m.Name, m.Area, m.details = name, area, &of
		if role != 0 {
			m.Role = role
		}
	case "session":
		m.Session = named[Where](whereNames[:], words[0])
	case "ends":
		m.Ends = named[Ends](endsNames[:], words[0])
	case "match":
		m.details.params = parts(words)
	case "result":
		m.details.result = parts(words)
	case "says":
		m.details.says = strings.Join(words, " ")
	case "answers":
		m.details.answers = strings.Join(words, " ")
	case "id":
		p := IDLocation{Path: words[2], Class: named[Class](classNames[:], words[1]), New: words[0] == "new"}
		if !p.New {
			p.Maker = named[Maker](makerNames[:], words[0])
		}
		m.details.ids = append(slices.Clip(m.details.ids), p)
	case "sent":
		m.sent(words)
	case "unstable":
		m.Unstable = dialectsNamed(words)
	case "removed":
		m.Removed = dialectsNamed(words)
	case "proposal":
		m.Proposals = 0
		for _, word := range words {
			m.Proposals |= 1 << named[Proposal](proposalNames[:], word)
		}
	default:
		panic("dialect: methods.txt has " + key)
	}
}

func (m *Method) sent(words []string) {
	m.From, m.Form = named[Side](sideNames[:], words[0]), named[Form](formNames[:], words[1])
}

// publish sets the versions that have a method. What methods.txt calls unstable stays
// unstable. The dialects after the last of these have removed it.
func (m *Method) publish(p Protocol, versions []string) {
	if m.Unstable == 0 {
		for _, version := range versions {
			name, unstable := strings.CutSuffix(version, "?")
			of := &m.Stable
			if unstable {
				of = &m.Unstable
			}
			if p == ACP {
				*of |= dialectsNamed([]string{name})
			} else {
				*of |= SetOf(dialectOf(name))
			}
		}
	}
	for _, d := range dialects {
		if d.Protocol() == p && m.Stable != 0 && m.Stable < 1<<d && !(m.Stable | m.Unstable).Has(d) {
			m.Removed |= SetOf(d)
		}
	}
}

// dialectOf returns the dialect of a revision of MCP.
func dialectOf(revision string) Dialect {
	if revision >= firstModern {
		return MCPModern
	}
	return MCPLegacy
}

func dialectsNamed(words []string) (s Dialects) {
	for _, word := range words {
		s |= SetOf(named[Dialect](dialectNames[:], word))
	}
	return s
}

// parts parses what counts in params or a result, such as sessionId prompt:blocks.
func parts(words []string) []part {
	list := []part{}
	for _, word := range words {
		if path, how, _ := strings.Cut(word, ":"); word != "-" {
			list = append(list, part{path, named[form](formNamesOfParts[:], how)})
		}
	}
	return list
}

// named returns the number of a name. Both files are ours, so it always exists.
func named[T ~uint8](names []string, name string) T {
	i := slices.Index(names, name)
	if i < 0 {
		panic("dialect: methods.txt or names.txt has " + name)
	}
	return T(i)
}
