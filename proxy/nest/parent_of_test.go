package nest

import "github.com/acptap/acptap/proxy/wire"

// ParentOf returns what an entry that a Rewriter has changed, of the kind StdioServer, says
// of its parent. ok is false if none did.
func ParentOf(entry []byte) (p Parent, ok bool) {
	args := wire.Get(entry, "args")
	_, parent, told := recorderFlags(args, false)
	if !told {
		_, parent, _ = recorderFlags(args, true)
	}
	p, err := ParseParent(parent)
	return p, err == nil
}
