// Package note keeps what people write on tapes: tags, which are short words, and notes,
// which are texts on a tape or on one of its frames.
//
// They are in a separate file next to the tapes, so that several processes can write them
// at any time, even if the tape changes meanwhile. The package does not know what a
// tape is.
package note

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Note is a text on a tape, or on one of its frames.
type Note struct {
	ID    uint64    `json:"id,omitempty"`    // its number on the tape, from 1, set by File.Edit
	Frame uint64    `json:"frame,omitempty"` // 0: it is on the tape
	Text  string    `json:"text,omitempty"`  // empty: a bookmark
	At    time.Time `json:"at,omitzero"`     // when it was written
}

// A List is what is written on a tape.
type List struct {
	Tags  []string `json:"tags,omitempty"`  // sorted
	Notes []Note   `json:"notes,omitempty"` // first those on the tape, then by frame; then by ID
}

// On returns the notes on a frame, or those on the tape if frame is 0.
func (l List) On(frame uint64) []Note {
	from, _ := slices.BinarySearchFunc(l.Notes, frame, func(n Note, frame uint64) int { return cmp.Compare(n.Frame, frame) })
	to := from
	for to < len(l.Notes) && l.Notes[to].Frame == frame {
		to++
	}
	return l.Notes[from:to]
}

// IsEmpty reports whether nothing is written on the tape.
func (l List) IsEmpty() bool { return len(l.Tags) == 0 && len(l.Notes) == 0 }

// OnTapes returns what is written on several tapes as wholes: all of their tags, and the
// notes that are not on a frame.
func OnTapes(tapes ...List) (all List) {
	for _, l := range tapes {
		all.Tags = append(all.Tags, l.Tags...)
		all.Notes = append(all.Notes, l.On(0)...)
	}
	slices.Sort(all.Tags)
	all.Tags = slices.Compact(all.Tags)
	return all
}

// Take adds what a file says is written on a frame, or on the tape if frame is 0. It
// returns an error for each tag or note that cannot be kept.
func (l *List) Take(frame uint64, written List) (wrong []error) {
	for _, tag := range written.Tags {
		err := CheckTag(tag)
		if err == nil && !slices.Contains(l.Tags, tag) {
			if len(l.Tags) == MaxTags {
				return append(wrong, errTags)
			}
			l.Tags = append(l.Tags, tag)
		}
		if err != nil {
			wrong = append(wrong, err)
		}
	}
	for _, n := range written.Notes {
		n.ID, n.Frame = uint64(len(l.Notes))+1, frame
		err := n.Check()
		if err == nil && len(l.Notes) == MaxNotes {
			return append(wrong, errNotes)
		}
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		l.Notes = append(l.Notes, n)
	}
	slices.Sort(l.Tags)
	return wrong
}

func (l List) sort() {
	slices.Sort(l.Tags)
	slices.SortFunc(l.Notes, func(a, b Note) int { return cmp.Or(cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.ID, b.ID)) })
}

// ErrInvalid marks a tag or a note as invalid. It is wrapped with the reason.
var ErrInvalid = errors.New("invalid")

// Limits on what is written on one tape: every listing reads the tags, and opening the
// tape reads the notes.
const (
	MaxTag   = 64       // bytes
	MaxTags  = 64       // on one tape
	MaxText  = 16 << 10 // bytes of a note
	MaxNotes = 1000     // on one tape
)

var (
	errTags  = fmt.Errorf("%w tag: a tape has %d tags at most", ErrInvalid, MaxTags)
	errNotes = fmt.Errorf("%w note: a tape has %d notes at most", ErrInvalid, MaxNotes)
)

// CheckTag returns an error if a word cannot be a tag. Lists of tags are separated by
// commas, and command lines treat a leading hyphen as a flag.
func CheckTag(tag string) error {
	why := ""
	switch {
	case tag == "":
		why = "it is empty"
	case len(tag) > MaxTag:
		why = fmt.Sprintf("it is longer than %d bytes", MaxTag)
	case !utf8.ValidString(tag):
		why = "it is not UTF-8"
	case tag[0] == '-':
		why = "it begins with a hyphen"
	case strings.ContainsFunc(tag, func(r rune) bool { return r == ',' || unicode.IsSpace(r) || !unicode.IsGraphic(r) }):
		why = "a tag is one word, without blanks and commas"
	default:
		return nil
	}
	return fmt.Errorf("%w tag %.80q: %s", ErrInvalid, tag, why)
}

// Check returns an error if the note cannot be kept.
func (n Note) Check() error {
	switch {
	case len(n.Text) > MaxText:
		return fmt.Errorf("%w note: it is longer than %d bytes", ErrInvalid, MaxText)
	case !utf8.ValidString(n.Text):
		return fmt.Errorf("%w note %.80q: it is not UTF-8", ErrInvalid, n.Text)
	case n.Frame == 0 && n.Text == "":
		return fmt.Errorf("%w note: one without a text is on a frame", ErrInvalid)
	}
	return nil
}

// An Edit is a change to what is written on a tape. It is applied completely or not at
// all.
type Edit struct {
	Tag    []string // to add; existing ones stay
	Untag  []string // to remove
	Add    []Note   // their IDs are ignored
	Remove []uint64 // notes by their IDs
}

func (e Edit) check() error {
	for _, tag := range e.Tag {
		if err := CheckTag(tag); err != nil {
			return err
		}
	}
	for _, n := range e.Add {
		if err := n.Check(); err != nil {
			return err
		}
	}
	return nil
}
