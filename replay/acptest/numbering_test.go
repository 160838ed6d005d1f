package acptest

import "testing"

// All frames to which a text refers get other names, and no other number does.
func TestRenumber(t *testing.T) {
	name := func(seq uint64) string { return map[uint64]string{4: "14", 7: "17"}[seq] }
	const text = "answered 4 ms after session/cancel (frame 4); tool calls of the frames 4, 7 and 7 more in frame 7"
	const want = "answered 4 ms after session/cancel (frame 14); tool calls of the frames 14, 17 and 7 more in frame 17"
	if got := renumber(text, name); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
