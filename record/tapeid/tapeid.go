// Package tapeid has the ids of tapes, which are also the names of their files. A new id
// begins with the time at which its tape began, so ids sort by time. It begins with a
// later one if the clock was set back: ids sort in the order of recording (After).
//
// Most ids come from outside: from the names of files that someone put into the store,
// from tapes and the catalogue, and from headers of imported files. Path turns any of them
// into a path that stays in its directory.
package tapeid

import (
	"crypto/rand"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// idAlphabet omits letters that look like digits.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const idLayout = "20060102T150405"

// New returns an id for a tape that begins at t. Ids sort by time.
func New(t time.Time) string {
	var b [6]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = idAlphabet[b[i]%32]
	}
	return strings.Replace(t.UTC().Format(idLayout+".000"), ".", "", 1) + "-" + string(b[:])
}

// Time returns when a tape began, to the millisecond, or the zero time if its id does not
// say.
func Time(tape string) time.Time {
	date, _, _ := strings.Cut(tape, "-")
	if n := len(idLayout); len(date) > n {
		date = date[:n] + "." + date[n:]
	}
	t, err := time.Parse(idLayout, date) // accepts a fraction too
	if err != nil {
		return time.Time{}
	}
	return t
}

// IsValid reports whether text may be the id of a tape: it leads to no other directory and
// is harmless on a terminal.
func IsValid(text string) bool {
	for _, c := range text {
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || c == 'T' || c == '-') {
			return false
		}
	}
	return len(text) >= 8 && len(text) <= 64
}

// noFile is a name that no file can have, on any system.
const noFile = "\x00"

// Path returns the path of a file of a tape. Only Path turns ids into paths; an invalid id
// yields a path that cannot exist.
func Path(dir, tape, ending string) string {
	name := tape + ending
	if !IsValid(tape) {
		name = noFile
	}
	return filepath.Join(dir, name)
}

// HasOwnForm reports whether an acptap may have made the id by the given time. Other ids
// can be mistaken for something else: --dry-run for a flag, last-1234 for the last tape;
// and one that is ahead of its time would stay the last one.
func HasOwnForm(tape string, until time.Time) bool {
	t := Time(tape)
	_, letters, _ := strings.Cut(tape, "-")
	return IsValid(tape) && letters != "" && !t.IsZero() && !t.After(until)
}

// MaxAhead is how far the clock may have been ahead when a tape was recorded. Tapes that
// are further ahead come first in listings, so that they do not stay the last ones.
const MaxAhead = 24 * time.Hour

// Fits reports whether a tape that began at t may have the id.
func Fits(tape string, t time.Time) bool {
	later := Time(tape).Sub(t)
	return later >= -time.Second && later <= MaxAhead
}

// After returns t, or if the clock was set back, which makes ids later than t, a time just
// after them. It ignores ids that are further ahead than the clock may have been.
func After(ids []string, t time.Time) time.Time {
	now, until := New(t), t.Add(MaxAhead)
	for _, id := range ids {
		if id > now && HasOwnForm(id, until) && !Time(id).Before(t) {
			t = Time(id).Add(time.Millisecond)
		}
	}
	return t
}

// Sort sorts ids by time, after those that do not contain their time, and drops duplicates.
func Sort(ids []string) []string {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	until := time.Now().Add(MaxAhead)
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
