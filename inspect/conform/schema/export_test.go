package schema

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
)

// Texts returns what shapes.zst has of each set: its dialect, its name, and the JSON
// object that it is made of.
func Texts(yield func(d dialect.Dialect, name string, text []byte)) {
	for k, set := range sets() {
		d := dialect.MCPLegacy
		protocol, name, _ := strings.Cut(k, " ")
		if protocol == dialect.ACP.String() {
			if err := d.UnmarshalText([]byte(name)); err != nil {
				panic(err)
			}
		} else if name >= "2026" {
			d = dialect.MCPModern
		}
		yield(d, name, set.text)
	}
}

// MakeSet makes the set of a text anew.
func MakeSet(text []byte) (*Set, error) { return newSet(text, true) }
