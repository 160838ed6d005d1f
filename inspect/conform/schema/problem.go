package schema

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Problem is one point at which a value does not fit, or, if it is of the kind
// UnknownKey, one that a shape says nothing about.
type Problem struct {
	Kind Kind
	Path string // below the value, spelled as in dialect.Field, such as update.content[0].type; empty: the value itself
	Type string // what the schema calls the object or value at hand, such as ToolCallUpdate; empty if that has no name
	Want string // what is asked for, such as: string or null
	Got  string // what is there: a type, or a scalar as JSON, as it came off the wire, cut at 120 bytes

	Lenient  bool // typed clients drop the value, or take a default for it (x-deserialize-default-on-error, x-deserialize-skip-invalid-items)
	Unstable bool // it is about what only the unstable schema has
	Removed  bool // an UnknownKey that a former schema of this version had there
	Other    bool // an UnknownKey that the schema of another version has there
}

// A Kind says what is wrong.
type Kind uint8

// The kinds. All but UnknownKey mean that a value does not fit.
const (
	Missing        Kind = iota // a member that is required; Path names it
	WrongType                  // another type of JSON
	Null                       // null, or nothing at all, where an object is due that may be empty
	NotListed                  // a value that is none of an enumeration
	UnknownVariant             // the text that chooses a branch of a union chooses none
	NoBranch                   // it fits no branch of a union, or several where only one may fit
	OutOfRange                 // a number, length, count or text beyond its limits
	Forbidden                  // a member that the object must not have, or a value that must not be
	UnknownKey                 // a member that is not listed, in an object whose schema does not allow any, though it does not forbid it; never _meta or what begins with _
)

var kindNames = [...]string{
	"missing", "type", "null", "not-listed", "unknown-variant", "no-branch", "range", "forbidden", "unknown-key",
}

// String returns a short name, such as unknown-key.
func (k Kind) String() string { return wire.Name(kindNames[:], uint8(k)) }

// maxGot is where Got is cut.
const maxGot = 120

// got returns what a value is for Problem.Got.
func got(value []byte) string {
	switch typeOf(value, false) {
	case 0:
		return "nothing"
	case object:
		return "object"
	case array:
		return "array"
	}
	if len(value) > maxGot {
		return strings.ToValidUTF8(string(value[:maxGot]), "") + "…"
	}
	return string(value)
}

// path returns the path of the value at hand.
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

// wrong counts that the value at hand does not fit, unless another value overrides
// it: of members that occur twice the last counts. It reports whether that is to be
// told.
func (c *checker) wrong() bool {
	if c.over || c.overridden() {
		return false
	}
	c.found++
	return c.trials == 0
}

// notes reports whether something is to be told that does not count.
func (c *checker) notes() bool { return c.trials == 0 && !c.over && !c.overridden() }

// tell reports a problem of the value at hand, or of the member that p.Path names.
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

// overridden reports whether a later member of the same name takes the place of the
// value at hand, or of one that it is in.
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
