package schema

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Problem is one place where a value does not fit or, for the kind UnknownKey, a member
// that the shape does not list.
type Problem struct {
	Kind Kind
	Path string // below the value, spelled as in dialect.Field, such as update.content[0].type; empty: the value itself
	Type string // the schema's name for the object or value, such as ToolCallUpdate; empty: none
	Want string // what is required, such as: string or null
	Got  string // what is there: a type, or a scalar as the JSON received, truncated to 120 bytes

	Lenient  bool // typed clients drop the value or use its default (x-deserialize-default-on-error, x-deserialize-skip-invalid-items)
	Unstable bool // it concerns what only the unstable schema has
	Removed  bool // an UnknownKey that an earlier schema of this version had there
	Other    bool // an UnknownKey that another version's schema has there
}

// A Kind says what is wrong.
type Kind uint8

// Kinds. All except UnknownKey mean that a value does not fit.
const (
	Missing        Kind = iota // a required member; Path names it
	WrongType                  // another JSON type
	Null                       // null or nothing where an object is required that may be empty
	NotListed                  // a value that is not in an enumeration
	UnknownVariant             // the tag of a union selects no branch
	NoBranch                   // no branch of a union fits, or several do of which only one may
	OutOfRange                 // a number, length, count or text beyond its limits
	Forbidden                  // a forbidden member or value
	UnknownKey                 // an unlisted member of an object whose schema neither lists nor forbids others; never _meta or a name that starts with _
)

var kindNames = [...]string{
	"missing", "type", "null", "not-listed", "unknown-variant", "no-branch", "range", "forbidden", "unknown-key",
}

// String returns a short name, such as unknown-key.
func (k Kind) String() string { return wire.Name(kindNames[:], uint8(k)) }

// maxGot limits the bytes of Got.
const maxGot = 120

// got returns a value for Problem.Got.
func got(value []byte) string {
	switch typeOf(value, false) {
	case 0:
		return "nothing"
	case object:
		return "object"
	case array:
		return "array"
	}
	return wire.Clip(string(value[:min(len(value), maxGot+1)]), maxGot)
}

// path returns the current value's path.
func (c *checker) path() (path string) {
	for _, s := range c.at[:c.depth] {
		if s.name == nil {
			path = dialect.ElementPath(path, s.index)
		} else {
			path = dialect.MemberPath(path, string(s.name))
		}
	}
	return path
}

// wrong counts a problem with the current value, unless a later duplicate overrides the
// value. It returns whether to report it.
func (c *checker) wrong() bool {
	if c.over || c.overridden() {
		return false
	}
	c.found++
	return c.trials == 0
}

// notes returns whether to report something that is not a problem.
func (c *checker) notes() bool { return c.trials == 0 && !c.over && !c.overridden() }

// tell reports a problem with the current value, or with its member p.Path.
func (c *checker) tell(n *node, p Problem) {
	if c.told++; c.told >= maxProblems {
		c.over = true
	}
	below := p.Path
	p.Path, p.Type = c.path(), n.name
	if below != "" {
		p.Path = dialect.MemberPath(p.Path, below)
	}
	p.Lenient = c.lenient > 0 && p.Kind != UnknownKey
	p.Unstable = p.Unstable || c.unstable > 0
	c.report(p)
}

// overridden reports whether a later member with the same name overrides the current
// value or one that contains it.
func (c *checker) overridden() bool {
	for i := range c.at[:c.depth] {
		s := &c.at[i]
		if s.last == unknown {
			s.last = yes
			rest := s.rest
			c.budget -= (len(rest.Text) - rest.Pos) / bytesPerStep
			for name, _, ok := rest.Member(); ok && s.name != nil; name, _, ok = rest.Member() {
				if string(name) == string(s.name) {
					s.last = no
					break
				}
			}
		}
		if s.last == no {
			return true
		}
	}
	return c.spent()
}
