package wire

import (
	"fmt"
	"slices"
	"strings"
)

// Name returns the name of a value whose type is an index into names, for the String
// methods of such types in this and other packages.
func Name(names []string, n uint8) string {
	if int(n) < len(names) {
		return names[n]
	}
	return fmt.Sprintf("unknown(%d)", n)
}

// ParseName sets to the value that has this name, as returned by Name. The error says
// what the value is, and which names exist.
func ParseName(names []string, what string, name []byte, to *uint8) error {
	i := slices.Index(names, string(name))
	if i < 0 {
		known := slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
		return fmt.Errorf("unknown %s %q; there are %s", what, name, strings.Join(known, ", "))
	}
	*to = uint8(i)
	return nil
}
