package framepane

import "github.com/acptap/acptap/proxy/wire"

// A Value is a value in the frame.
type Value struct {
	Path   string // in the syntax of wire.Value.Get
	Text   string // of a string; for other values their JSON
	Single bool   // neither an array nor an object
}

// Value returns the value under the cursor, or the whole frame where no values are shown.
// ok is false if the frame is not JSON.
func (p *Pane) Value() (v Value, ok bool) {
	if p.tree == nil {
		return Value{}, false
	}
	n := p.node()
	return Value{p.tree.path(n), p.tree.text(n), !p.tree.holds(n)}, true
}

// Paths returns the paths of the frame's first single values.
func (p *Pane) Paths() []string {
	if p.tree == nil {
		return nil
	}
	var paths []string
	for i := range p.tree.nodes[:min(len(p.tree.nodes), maxPaths)] {
		if n := int32(i); !p.tree.holds(n) {
			paths = append(paths, p.tree.path(n))
		}
	}
	return paths
}

// maxPaths limits how many of a frame's values Paths examines.
const maxPaths = 1 << 10

// ValueAt returns the text of the single value at a path, or the empty string if it does
// not exist.
func (p *Pane) ValueAt(path string) string {
	if p.tree == nil {
		return ""
	}
	v := wire.ValueAt(p.tree.json, path)
	if v.IsObject() || v.IsArray() {
		return ""
	}
	return v.String()
}
