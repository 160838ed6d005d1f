package record

import (
	"crypto/sha256"
	"slices"

	"github.com/acptap/acptap/proxy/bounded"
)

// eventIDs are the ids of a connection's latest events. A server may send them again on
// another stream (MCP 2025-11-25, "Resumability and Redelivery"). Some servers have ids
// that are unique only within one stream, so the data must match too.
type eventIDs struct {
	hashes bounded.Map[eventHash, struct{}]
}

type eventHash [8]byte

const (
	maxEvents = 1024
	maxHashed = 4 << 10 // bytes hashed of an event's data
)

// Again adds an event with an id, and reports whether it was already among the latest
// ones.
func (e *eventIDs) Again(id, data []byte) bool {
	sum := sha256.New()
	sum.Write(id)
	sum.Write([]byte{0})
	sum.Write(data[:min(len(data), maxHashed)])
	hash := eventHash(sum.Sum(nil))
	if _, again := e.hashes.Get(hash); again {
		return true
	}
	e.add(hash)
	return false
}

func (e *eventIDs) add(hash eventHash) {
	e.hashes.Limit = maxEvents
	e.hashes.Set(hash, struct{}{})
}

// State returns the hashes of the events, oldest first, or nil.
func (e *eventIDs) State() []byte {
	var b []byte
	for hash := range e.hashes.All() {
		b = append(b, hash[:]...)
	}
	return b
}

// Restore restores a state.
func (e *eventIDs) Restore(state []byte) error {
	if len(state)%len(eventHash{}) != 0 || len(state) > maxEvents*len(eventHash{}) {
		return errImpossible
	}
	*e = eventIDs{}
	for hash := range slices.Chunk(state, len(eventHash{})) {
		e.add(eventHash(hash))
	}
	return nil
}
