package nest

import "github.com/acptap/acptap/proxy/wire"

// ParentOf returns the parent named in an entry of kind StdioServer that a Rewriter has
// changed. ok is false if the entry names none.
func ParentOf(entry []byte) (p Parent, ok bool) {
	args := wire.Get(entry, "args")
	_, parent, told := recorderFlags(args, false)
	if !told {
		_, parent, _ = recorderFlags(args, true)
	}
	p, err := ParseParent(parent)
	return p, err == nil
}
