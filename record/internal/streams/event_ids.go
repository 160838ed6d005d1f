package streams

import (
	"crypto/sha256"
	"slices"
)

// EventIDs are the last events of a connection, by their ids. A server may send them again
// on another stream (MCP 2025-11-25, "Resumability and Redelivery"). Some servers have ids
// that are unique only within one stream, so the data has to be the same too.
type EventIDs struct {
	hashes [][hashSize]byte // a ring, once it is full
	next   int
	known  map[[hashSize]byte]bool
}

const (
	maxEvents = 1024
	hashSize  = 8
	hashed    = 4 << 10 // of the data of an event
)

// Again adds an event with an id, and reports whether it was among the last ones already.
func (e *EventIDs) Again(id, data []byte) bool {
	sum := sha256.New()
	sum.Write(id)
	sum.Write([]byte{0})
	sum.Write(data[:min(len(data), hashed)])
	hash := [hashSize]byte(sum.Sum(nil))
	if e.known[hash] {
		return true
	}
	if e.known == nil {
		e.known = map[[hashSize]byte]bool{}
	}
	if e.known[hash] = true; len(e.hashes) < maxEvents {
		e.hashes = append(e.hashes, hash)
		return false
	}
	delete(e.known, e.hashes[e.next])
	e.hashes[e.next] = hash
	e.next = (e.next + 1) % maxEvents
	return false
}

// State returns the hashes of the events, oldest first, or nil.
func (e *EventIDs) State() []byte {
	var b []byte
	for _, hash := range slices.Concat(e.hashes[e.next:], e.hashes[:e.next]) {
		b = append(b, hash[:]...)
	}
	return b
}

// Restore takes a state.
func (e *EventIDs) Restore(state []byte) error {
	if len(state)%hashSize != 0 || len(state) > maxEvents*hashSize {
		return errImpossible
	}
	*e = EventIDs{known: map[[hashSize]byte]bool{}}
	for hash := range slices.Chunk(state, hashSize) {
		e.hashes = append(e.hashes, [hashSize]byte(hash))
		e.known[[hashSize]byte(hash)] = true
	}
	return nil
}
