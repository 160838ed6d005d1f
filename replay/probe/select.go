package probe

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Select returns the cases whose IDs match a pattern of only, or all cases if only is empty,
// without those that match skip. It returns an error for a pattern that matches nothing.
func Select(all []*Case, only, skip []string) ([]*Case, error) {
	for _, pattern := range slices.Concat(only, skip) {
		if !slices.ContainsFunc(all, func(c *Case) bool { return Matches(pattern, c.ID) }) {
			return nil, fmt.Errorf("no case matches %q; acptap probe list shows all", pattern)
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(c *Case) bool {
		is := func(pattern string) bool { return Matches(pattern, c.ID) }
		return len(only) > 0 && !slices.ContainsFunc(only, is) || slices.ContainsFunc(skip, is)
	}), nil
}

// Matches reports whether id matches pattern. The name of a folder matches all cases in it.
func Matches(pattern, id string) bool {
	ok, err := path.Match(pattern, id)
	return ok || err == nil && strings.HasPrefix(id, strings.TrimSuffix(pattern, "/")+"/")
}
