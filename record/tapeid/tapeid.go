// Package tapeid has the ids of tapes: what their files are called. A new id begins
// with the time at which its tape began, so ids sort by time.
//
// An id comes from outside nearly everywhere: from the names of files that somebody
// has put into the store, from what a tape or the catalogue says of itself, from a
// header that is imported. Path makes a path of it that stays in its directory,
// whatever it is.
package tapeid

import (
	"crypto/rand"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// idAlphabet has no letters that are taken for digits.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const idLayout = "20060102T150405"

// New makes the id of a tape. Ids sort by time.
func New(t time.Time) string {
	var b [6]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = idAlphabet[b[i]%32]
	}
	return strings.Replace(t.UTC().Format(idLayout+".000"), ".", "", 1) + "-" + string(b[:])
}

// Time returns when a tape was begun, to the millisecond; the zero time if its id
// does not tell.
func Time(tape string) time.Time {
	date, _, _ := strings.Cut(tape, "-")
	if n := len(idLayout); len(date) > n {
		date = date[:n] + "." + date[n:]
	}
	t, err := time.Parse(idLayout, date) // takes a fraction too
	if err != nil {
		return time.Time{}
	}
	return t
}

// IsValid reports whether text may be the id of a tape. Neither may it lead to
// another directory, nor do anything on a terminal.
func IsValid(text string) bool {
	for _, c := range text {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || c == 'T' || c == '-') {
			return false
		}
	}
	return len(text) >= 8 && len(text) <= 64
}

// noFile is a name that no file can have, on any system: it is neither found nor
// made nor removed.
const noFile = "\x00"

// Path returns the path of a file of a tape. Here alone an id becomes a path,
// and what is no id becomes one that nothing can be done with.
func Path(dir, tape, ending string) string {
	name := tape + ending
	if !IsValid(tape) {
		name = noFile
	}
	return filepath.Join(dir, name)
}

// HasOwnForm reports whether a tape's id is one that an acptap may have made until
// then. Others can be mistaken for something: --dry-run for a flag, last-1234 for
// the last tape; and one that is ahead of its time would stay the last one.
func HasOwnForm(tape string, until time.Time) bool {
	t := Time(tape)
	_, letters, _ := strings.Cut(tape, "-")
	return IsValid(tape) && letters != "" && !t.IsZero() && !t.After(until)
}

// maxAhead is how far the clock may have been ahead when a tape was recorded.
const maxAhead = 24 * time.Hour

// Sort sorts ids by time, those first that do not tell theirs, and drops
// repeated ones.
func Sort(ids []string) []string {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	until := time.Now().Add(maxAhead)
	sorted := make([]string, 0, len(ids))
	for _, own := range [...]bool{false, true} {
		for _, id := range ids {
			if HasOwnForm(id, until) == own {
				sorted = append(sorted, id)
			}
		}
	}
	return sorted
}
