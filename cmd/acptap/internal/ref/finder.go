package ref

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// A Finder finds what names name in a store, as that is when it is first asked. It
// lists the store only for names that are not ids.
type Finder struct {
	store   *record.Store
	ids     []string
	listing *record.Listing
}

// In returns a Finder of what is in the store.
func In(store *record.Store) *Finder { return &Finder{store: store} }

// ErrUnknown is that nothing has that name. It comes wrapped.
var ErrUnknown = errors.New("no such tape")

// Tape returns the id of the tape that is meant by a name: last, last~1, a tape's id or
// the letters at its end, the name of an agent, of which it is the newest tape, or
// NAME~1 for the one before, REF+NAME for a server that the agent on a tape started, or
// any part of an id. A name is exact, so it goes before a part of an id, which may have
// it by chance; so does the id of a session, which is the name of no tape.
func (f *Finder) Tape(name string) (id string, err error) {
	if id, err = f.direct(name); errors.Is(err, ErrUnknown) {
		if nested, failed := f.server(name); nested != "" || failed != nil {
			return nested, failed
		}
	}
	return id, err
}

// direct is Tape for all names but REF+NAME.
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

// isSession reports whether a name is the whole id of a session.
func (f *Finder) isSession(name string) (bool, error) {
	l, err := f.List()
	if err != nil {
		return false, err
	}
	has := func(s record.SessionInfo) bool { return s.ID == name }
	return slices.ContainsFunc(l.Sessions, has) || slices.ContainsFunc(l.Deleted, has), nil
}

// last returns the newest tape that is nested in none, or the n-th before it.
func (f *Finder) last(n int) (string, error) {
	there := 0
	for id := range f.store.Outer(f.ids) {
		if there == n {
			return id, nil
		}
		there++
	}
	switch there {
	case 0:
		return "", fmt.Errorf("there are no tapes in %s", f.store.Dir())
	case 1:
		return "", fmt.Errorf("\"last~%d\": %w: there is one tape", n, record.ErrNoTape)
	}
	return "", fmt.Errorf("\"last~%d\": %w: there are %d tapes", n, record.ErrNoTape, there)
}

// byLetters returns the tape with that id, or the only one whose id ends with a hyphen
// and those letters; "" if there is none.
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

// back is what stands behind a name for an earlier tape.
var back = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+)~(0|[1-9][0-9]{0,8})$`) })

// cutBack splits NAME~N.
func cutBack(name string) (base string, n int, ok bool) {
	m := back().FindStringSubmatch(name)
	if m == nil {
		return name, 0, false
	}
	n, _ = strconv.Atoi(m[2]) // it has so few digits
	return m[1], n, true
}

// named returns the newest tape of a name, or for NAME~N the N-th before it; "" if no
// tape has that name.
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

// tapesNamed returns the tapes of a name, by time: those that are nested in none, else
// the nested ones.
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

// unknown is the error for what nothing is called.
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
