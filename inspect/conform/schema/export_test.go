package schema

import "github.com/acptap/acptap/proxy/dialect"

// Texts returns what shapes.zst has of each set: its dialect, its name, and the JSON
// object that it is made of.
func Texts(yield func(d dialect.Dialect, name string, text []byte)) {
	for k, set := range sets() {
		d := dialect.MCPLegacy
		if k.of == dialect.ACP {
			if err := d.UnmarshalText([]byte(k.name)); err != nil {
				panic(err)
			}
		} else if k.name >= "2026" {
			d = dialect.MCPModern
		}
		yield(d, k.name, set.text)
	}
}

// MakeSet makes the set of a text anew.
func MakeSet(text []byte) (*Set, error) { return newSet(text, true) }
