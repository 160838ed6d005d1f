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

	// usualDigits are the columns of a frame's number, timeColumns those of its time.
	usualDigits = 5
	timeColumns = 1 + 8 + 1

	// LongestServer is how many columns of a server's name precede a number.
	LongestServer = 24
)

// NoteLines returns the lines of a note, clean. For a bookmark they say so.
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
