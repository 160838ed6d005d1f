package probe

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Select returns the cases whose ids match a pattern of only, or all if there is none, and
// none of skip. A pattern that matches none is an error.
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

// Matches reports whether an id matches a pattern; the name of a folder matches all in it.
func Matches(pattern, id string) bool {
	ok, err := path.Match(pattern, id)
	return ok || err == nil && strings.HasPrefix(id, strings.TrimSuffix(pattern, "/")+"/")
}
