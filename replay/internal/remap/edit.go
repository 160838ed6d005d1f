package remap

import (
	"slices"

	"github.com/acptap/acptap/proxy/wire"
)

// An Edit puts other bytes in place of a part of a message.
type Edit struct {
	From, To int
	With     []byte
}

// A spot is a value in a message and where it stands.
type spot struct {
	raw string
	at  int
}

// found returns the values at the path of a place.
func found(message []byte, path string) []spot {
	var spots []spot
	for _, s := range wire.Find(message, path) {
		spots = append(spots, spot{string(message[s.Start:s.End]), s.Start})
	}
	return spots
}

// Apply returns a message with its edits, in a new slice if there are any.
func Apply(message []byte, edits []Edit) []byte {
	if len(edits) == 0 {
		return message
	}
	slices.SortFunc(edits, func(a, b Edit) int { return a.From - b.From })
	var out []byte
	done := 0
	for _, e := range edits {
		if e.From < done || e.To > len(message) {
			continue // two places found the same value
		}
		out = append(append(out, message[done:e.From]...), e.With...)
		done = e.To
	}
	return append(out, message[done:]...)
}

// IDEdit returns the edit that gives a response another id.
func IDEdit(message, id []byte) []Edit {
	var edits []Edit
	for _, f := range found(message, "id") {
		if f.raw != string(id) {
			edits = append(edits, Edit{f.at, f.at + len(f.raw), id})
		}
	}
	return edits
}
