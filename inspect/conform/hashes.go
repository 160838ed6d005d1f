package conform

import "hash/maphash"

// hashes is a bounded set of texts, or of lists of texts, stored as hashes.
type hashes struct {
	known  map[uint64]struct{}
	forgot bool // there were more than can be remembered
}

// add adds a list, unless the set already has the given size.
func (h *hashes) add(most int, parts ...string) {
	if h.has(parts...) {
		return
	}
	if len(h.known) >= most {
		h.forgot = true
		return
	}
	if h.known == nil {
		h.known = map[uint64]struct{}{}
	}
	h.known[hashOf(parts...)] = struct{}{}
}

func (h *hashes) has(parts ...string) bool {
	_, ok := h.known[hashOf(parts...)]
	return ok
}

var seed = maphash.MakeSeed() // for all hashes

func hashOf(parts ...string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, part := range parts {
		h.WriteString(part)
		h.WriteByte(0xff) // not in UTF-8
	}
	return h.Sum64()
}
