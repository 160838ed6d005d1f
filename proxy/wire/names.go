package wire

import (
	"encoding/binary"
	"math/bits"
)

// names detects, while a scanner reads a text, whether an object may have two members
// with the same name. It keeps a hash of each name in the open objects. At a name with
// escapes, and at objects that are too large or too deep, it gives up and answers yes.
type names struct {
	repeat bool
	n      uint8      // hashes in use
	first  [32]uint8  // by depth: the first hash of the object there
	hashes [64]uint32 // of the names in the open objects, outermost first
}

// enter begins an object or array at a depth.
func (n *names) enter(depth int) {
	if depth < len(n.first) {
		n.first[depth] = n.n
	}
}

// leave ends an object or array at a depth.
func (n *names) leave(depth int) {
	if depth < len(n.first) {
		n.n = n.first[depth]
	}
}

// add adds the member name at the beginning of text, of size bytes including its quotes, to
// the object at a depth.
func (n *names) add(text []byte, size, depth int) {
	if depth >= len(n.first) || int(n.n) >= len(n.hashes) {
		n.repeat = true
		return
	}
	hash := nameHash(text, size)
	hashes := n.hashes[:n.n]
	for i := int(n.first[depth]); i < len(hashes); i++ {
		if hashes[i] == hash {
			n.repeat = true
			return
		}
	}
	n.hashes[n.n] = hash
	n.n++
}

// nameHash hashes the length of a name, and its first and last bytes.
func nameHash(text []byte, size int) uint32 {
	var h uint64
	switch {
	case size >= 8:
		h = binary.LittleEndian.Uint64(text) ^ bits.RotateLeft64(binary.LittleEndian.Uint64(text[size-8:]), 23)
	case len(text) >= 8:
		h = binary.LittleEndian.Uint64(text) & (1<<(8*size) - 1)
	default:
		for i, c := range text[:size] {
			h |= uint64(c) << (8 * i)
		}
	}
	const odd = 0x9e3779b97f4a7c15 // 2⁶⁴ divided by the golden ratio
	return uint32((h + uint64(size)) * odd >> 32)
}
