package inspect

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// maxPaths is how many paths of a frame are proposed.
const maxPaths = 1 << 10

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
		if t := a.pane.tree; t != nil {
			for i := range t.nodes[:min(len(t.nodes), maxPaths)] {
				if n := int32(i); !t.holds(n) {
					add(t.path(n))
				}
			}
		}
		return list // in the order of the frame
	default:
		if path := strings.Trim(strings.TrimPrefix(key, "."), "`"); path != key && a.pane.tree != nil {
			if v := gjson.GetBytes(a.pane.tree.json, path); !v.IsObject() && !v.IsArray() {
				add(v.String())
			}
		}
	}
	slices.Sort(list)
	return list
}
