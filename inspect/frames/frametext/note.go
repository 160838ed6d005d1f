package frametext

import (
	"strings"

	"github.com/acptap/acptap/record/note"
	"github.com/acptap/acptap/record/termtext"
)

const (
	// NoteMark precedes a note everywhere.
	NoteMark = "✎"

	noteStyle = termtext.Bold

	// usualDigits are the columns of a frame's number, timeColumns those of its time.
	usualDigits = 5
	timeColumns = 1 + 8 + 1

	// LongestServer is how many columns of a server's name precede a number.
	LongestServer = 24
)

// NoteLines returns the lines of a note, clean. A bookmark says that it is one.
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

// AddNotes returns a frame as [JSON] with the notes on it.
func AddNotes(frame []byte, notes []note.Note) []byte {
	if len(notes) == 0 {
		return frame
	}
	type line struct {
		note.Note
		Frame uint64 `json:"frame,omitempty"` // hides that of the note, which repeats the frame's own number
	}
	lines := make([]line, len(notes))
	for i, n := range notes {
		lines[i].Note = n
	}
	return withMember(frame, "notes", lines)
}
