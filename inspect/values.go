package inspect

import (
	"slices"
	"strings"
)

// values returns the values of a key that are on the tapes, and of a path, and
// all paths, those in the selected frame.
func (a *app) values(key string) []string {
	seen := map[string]bool{"": true}
	var list []string
	add := func(v string) {
		if !seen[v] {
			seen[v] = true
			list = append(list, v)
		}
	}
	switch key {
	case "method":
		for a := range a.known.Annotations() {
			add(a.Method)
		}
	case "update":
		for a := range a.known.Annotations() {
			add(a.Update)
		}
	case "session":
		for a := range a.known.Annotations() {
			add(a.Session)
		}
	case ".":
		return a.pane.Paths() // in the order of the frame
	default:
		if path := strings.Trim(strings.TrimPrefix(key, "."), "`"); path != key {
			add(a.pane.ValueAt(path))
		}
	}
	slices.Sort(list)
	return list
}
