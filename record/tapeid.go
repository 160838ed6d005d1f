package record

import (
	"crypto/rand"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// A tape is what its files are called. Its id comes from outside nearly
// everywhere: from the names of files that somebody has put into the store, from
// what a tape or the catalogue says of itself, from a header that is imported.

// idAlphabet has no letters that are taken for digits.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

const idLayout = "20060102T150405"

// newID makes the id of a tape. Ids sort by time.
func newID(t time.Time) string {
	var b [6]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = idAlphabet[b[i]%32]
	}
	return strings.Replace(t.UTC().Format(idLayout+".000"), ".", "", 1) + "-" + string(b[:])
}

// idTime returns when a tape was begun, to the millisecond; the zero time if its id
// does not tell.
func idTime(tape string) time.Time {
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

// isID reports whether text may be the id of a tape. Neither may it lead to
// another directory, nor do anything on a terminal.
func isID(text string) bool {
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

// pathOf returns the path of a file of a tape. Here alone an id becomes a path,
// and what is no id becomes one that nothing can be done with.
func pathOf(dir, tape, ending string) string {
	name := tape + ending
	if !isID(tape) {
		name = noFile
	}
	return filepath.Join(dir, name)
}

// hasOwnForm reports whether a tape's id is one that an acptap may have made until
// then. Others can be mistaken for something: --dry-run for a flag, last-1234 for
// the last tape; and one that is ahead of its time would stay the last one.
func hasOwnForm(tape string, until time.Time) bool {
	t := idTime(tape)
	_, letters, _ := strings.Cut(tape, "-")
	return isID(tape) && letters != "" && !t.IsZero() && !t.After(until)
}

// maxAhead is how far the clock may have been ahead when a tape was recorded.
const maxAhead = 24 * time.Hour

// sortIDs sorts ids by time, those first that do not tell theirs, and drops
// repeated ones.
func sortIDs(ids []string) []string {
	slices.Sort(ids)
	ids = slices.Compact(ids)
	until := time.Now().Add(maxAhead)
	sorted := make([]string, 0, len(ids))
	for _, own := range [...]bool{false, true} {
		for _, id := range ids {
			if hasOwnForm(id, until) == own {
				sorted = append(sorted, id)
			}
		}
	}
	return sorted
}

// TapeID returns the id of the one tape in ids, sorted by time, that ref names:
// the id itself, any part of it that no other has, last, or last~N for the N-th
// before the last.
func TapeID(ids []string, ref string) (string, error) {
	if back, ok := strings.CutPrefix(ref, "last"); ok {
		n := 0
		if back != "" {
			if _, err := fmt.Sscanf(back, "~%d", &n); err != nil || n < 0 || back != fmt.Sprintf("~%d", n) {
				return "", fmt.Errorf("%q: want last or last~1: %w", ref, ErrNoTape)
			}
		}
		if n >= len(ids) {
			return "", fmt.Errorf("%q: there are %d tapes: %w", ref, len(ids), ErrNoTape)
		}
		return ids[len(ids)-1-n], nil
	}
	if strings.Trim(ref, "-") == "" {
		ids = nil // it is in every id, and must not name the only one
	}
	var fits []string
	for _, id := range ids {
		if id == ref {
			return id, nil
		}
		if strings.Contains(id, ref) {
			fits = append(fits, id)
		}
	}
	switch len(fits) {
	case 0:
		return "", fmt.Errorf("%q: %w", ref, ErrNoTape)
	case 1:
		return fits[0], nil
	}
	return "", fmt.Errorf("%q is %w: it matches %d tapes, such as %s and %s", ref, ErrAmbiguous, len(fits), fits[0], fits[1])
}
