package ref

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// A Finder finds what names refer to in a store, as of its first use. It lists the store
// only for names that are not IDs.
type Finder struct {
	store   *record.Store
	ids     []string
	listing *record.Listing
}

// In returns a Finder for a store.
func In(store *record.Store) *Finder { return &Finder{store: store} }

// ErrUnknown means that nothing has that name. It is returned wrapped.
var ErrUnknown = errors.New("no such tape")

// Tape returns the ID of the tape that name means. It tries, in this order: last or last~N;
// a tape's ID or the letters at its end; a name, which means its newest tape, or NAME~N for
// the N-th before that; any part of an ID; and REF+NAME for a server that the agent on a
// tape started. Names precede parts of IDs, because an ID may contain a name by chance. For
// the same reason the whole ID of a session is never read as a part of a tape's ID.
func (f *Finder) Tape(name string) (id string, err error) {
	if id, err = f.direct(name); errors.Is(err, ErrUnknown) {
		if nested, failed := f.server(name); nested != "" || failed != nil {
			return nested, failed
		}
	}
	return id, err
}

// direct does what Tape does, for all names except REF+NAME.
func (f *Finder) direct(name string) (id string, err error) {
	if f.ids == nil {
		if f.ids, err = f.store.Tapes(); err != nil {
			return "", err
		}
	}
	if base, n, _ := cutBack(name); base == "last" {
		return f.last(n)
	}
	if id := f.byLetters(name); id != "" {
		return id, nil
	}
	if id, err := f.named(name); id != "" || err != nil {
		return id, err
	}
	if session, err := f.isSession(name); err != nil {
		return "", err
	} else if session || strings.HasPrefix(name, "last") {
		return "", fmt.Errorf("%q: %w", name, ErrUnknown)
	}
	id, err = record.TapeID(f.ids, name)
	if errors.Is(err, record.ErrNoTape) {
		err = fmt.Errorf("%q: %w", name, ErrUnknown)
	}
	return id, err
}

// isSession reports whether name is the whole ID of a session.
func (f *Finder) isSession(name string) (bool, error) {
	l, err := f.List()
	if err != nil {
		return false, err
	}
	has := func(s record.SessionInfo) bool { return s.ID == name }
	return slices.ContainsFunc(l.Sessions, has) || slices.ContainsFunc(l.Deleted, has), nil
}

// last returns the n-th tape before the newest one, not counting nested and empty ones, and
// those of acptap probe.
func (f *Finder) last(n int) (string, error) {
	there := 0
	for id := range f.store.Outer(f.ids) {
		if there == n {
			return id, nil
		}
		there++
	}
	switch {
	case len(f.ids) == 0:
		return "", fmt.Errorf("there are no tapes in %s", f.store.Dir())
	case there == 0:
		return "", fmt.Errorf("the tapes in %s are empty, or of acptap probe; see acptap ls", f.store.Dir())
	case there == 1:
		return "", fmt.Errorf("\"last~%d\": %w: there is one tape", n, record.ErrNoTape)
	}
	return "", fmt.Errorf("\"last~%d\": %w: there are %d tapes", n, record.ErrNoTape, there)
}

// byLetters returns the tape with that ID, or the only one whose ID ends with a hyphen and
// those letters, or "".
func (f *Finder) byLetters(name string) string {
	found := ""
	for _, id := range f.ids {
		switch {
		case id == name:
			return id
		case name == "" || !strings.HasSuffix(id, "-"+name):
		case found != "":
			return ""
		default:
			found = id
		}
	}
	return found
}

// back matches NAME~N.
var back = lazyregexp.New(`^(.+)~(0|[1-9][0-9]{0,8})$`)

// cutBack splits NAME~N.
func cutBack(name string) (base string, n int, ok bool) {
	m := back().FindStringSubmatch(name)
	if m == nil {
		return name, 0, false
	}
	n, _ = strconv.Atoi(m[2]) // cannot fail: at most 9 digits
	return m[1], n, true
}

// named returns the newest tape with a name or, for NAME~N, the N-th before it, or "" if
// no tape has that name.
func (f *Finder) named(name string) (id string, err error) {
	if name == "" {
		return "", nil
	}
	l, err := f.List()
	if err != nil {
		return "", err
	}
	if tapes := tapesNamed(l, name); len(tapes) > 0 {
		return tapes[len(tapes)-1], nil
	}
	base, n, ok := cutBack(name)
	tapes := tapesNamed(l, base)
	switch {
	case !ok || len(tapes) == 0:
		return "", nil
	case n >= len(tapes):
		return "", fmt.Errorf("%q: there is no tape so far back, %d have the name %q", name, len(tapes), base)
	}
	return tapes[len(tapes)-1-n], nil
}

// tapesNamed returns the tapes with a name, in time order. It returns nested tapes only
// if there are no others.
func tapesNamed(l *record.Listing, name string) (ids []string) {
	var nested []string
	nesting := record.NestingOf(l.Tapes)
	for _, i := range l.Tapes {
		switch {
		case i.Start.Name != name:
		case nesting.Parent(i.Tape) != "":
			nested = append(nested, i.Tape)
		default:
			ids = append(ids, i.Tape)
		}
	}
	if len(ids) == 0 {
		return nested
	}
	return ids
}

// tagged returns the only tape that has a tag.
func (f *Finder) tagged(tag string) (string, error) {
	l, err := f.List()
	if err != nil {
		return "", err
	}
	var ids []string
	for _, i := range l.Tapes {
		if slices.Contains(i.Tags, tag) {
			ids = append(ids, i.Tape)
		}
	}
	switch len(ids) {
	case 0:
		return "", ErrUnknown
	case 1:
		return ids[0], nil
	}
	return "", fmt.Errorf("%q is %w: it is a tag of %d tapes, such as %s and %s; see acptap ls --tag", tag, record.ErrAmbiguous, len(ids), ids[len(ids)-1], ids[len(ids)-2])
}

// List lists the store, once.
func (f *Finder) List() (*record.Listing, error) {
	if f.listing == nil {
		l, err := f.store.List()
		if err != nil {
			return nil, err
		}
		f.listing = &l
	}
	return f.listing, nil
}

// unknown returns the error for a name that matches nothing.
func (f *Finder) unknown(name string) error {
	l, err := f.List()
	if err != nil {
		return err
	}
	if len(f.ids) == 0 {
		return fmt.Errorf("%q is not a tape, name, session, tag or file; there are no tapes in %s", name, f.store.Dir())
	}
	var words []string
	for _, i := range slices.Backward(l.Tapes) {
		words = append(append(words, i.Start.Name), i.Tags...)
	}
	for _, s := range slices.Backward(l.Sessions) {
		words = append(words, s.ID)
	}
	if parent, server := f.parentIn(name); parent != "" {
		return noServer(name, parent, server, record.NestingOf(l.Tapes).Children(parent))
	}
	advice := "see acptap ls and acptap sessions"
	base, _, _ := cutBack(name)
	if near := termtext.Near(base, words); len(near) > 0 {
		for i := range near {
			near[i] = termtext.Line(near[i])
		}
		advice = "did you mean " + strings.Join(near, " or ") + "?"
	}
	if slices.ContainsFunc(l.Tapes, func(i record.Info) bool {
		return base != "" && (base == i.Connection.Agent || base == i.Connection.AgentTitle)
	}) {
		advice = fmt.Sprintf("an agent calls itself so, and acptap ls --agent %q lists its tapes", base)
	}
	return fmt.Errorf("%q is not a tape, name, session, tag or file; %s", name, advice)
}
