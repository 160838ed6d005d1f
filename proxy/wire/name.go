package wire

import (
	"fmt"
	"slices"
	"strings"
)

// Name returns the name of a value whose type counts through names: for the String methods
// of such types in this and other packages.
func Name(names []string, n uint8) string {
	if int(n) < len(names) {
		return names[n]
	}
	return fmt.Sprintf("unknown(%d)", n)
}

// ParseName sets the value whose name, as Name returns it, is name. The error says what the
// value is, and which names there are.
func ParseName(names []string, what string, name []byte, to *uint8) error {
	i := slices.Index(names, string(name))
	if i < 0 {
		known := slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == "" })
		return fmt.Errorf("unknown %s %q; there are %s", what, name, strings.Join(known, ", "))
	}
	*to = uint8(i)
	return nil
}
