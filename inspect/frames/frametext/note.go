package frametext

import (
	"strings"

	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/termtext"
)

const (
	// NoteMark precedes every note.
	NoteMark = "✎"

	noteStyle = termtext.Bold

	// usualDigits is the width of a frame's number, timeColumns that of its time.
	usualDigits = 5
	timeColumns = 1 + 8 + 1

	longestServer = 24 // columns of the longest server name shown
)

// ServerLabel returns a server's name as shown before its frames' numbers.
func ServerLabel(name string) string { return termtext.Cut(termtext.Piece(name), longestServer) }

// NoteLines returns the lines of a note, clean. A bookmark is labelled as one.
func NoteLines(n note.Note) []string {
	if n.Text == "" {
		return []string{"bookmark"}
	}
	lines := strings.Split(n.Text, "\n")
	for i, text := range lines {
		lines[i] = termtext.Line(strings.TrimRight(text, " \r"))
	}
	return lines
}

// AddNotes returns a frame's [JSON] with its notes.
func AddNotes(frame []byte, notes []note.Note) []byte {
	if len(notes) == 0 {
		return frame
	}
	type line struct {
		note.Note
		Frame uint64 `json:"frame,omitempty"` // hides the note's Frame, which repeats the frame's own number
	}
	lines := make([]line, len(notes))
	for i, n := range notes {
		lines[i].Note = n
	}
	return withMember(frame, "notes", lines)
}
