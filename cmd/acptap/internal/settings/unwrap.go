package settings

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/tailscale/hujson"
)

// unwrapEntry removes acptap from an entry, or removes an entry that acptap added.
func (s *Setup) unwrapEntry(ch *Change, e Entry) (Step, error) {
	r := s.Undo.find(ch.file.real, e.path)
	if e.State != Wrapped {
		if added := s.Undo.find(ch.file.real, append(slices.Clone(e.path[:len(e.path)-1]), wrappedName(e.Name))); added != nil {
			return Step{}, fmt.Errorf("is not wrapped itself; what records it is %s", quote(wrappedName(e.Name)))
		}
		if r != nil {
			ch.drop = append(ch.drop, *r)
			return Step{Did: DidNothing, Why: "acptap no longer precedes it: someone else has removed it"}, nil
		}
		why := "acptap is not before it"
		if e.Why != "" && e.State == Other {
			why = e.Why
		}
		return Step{}, errors.New(why)
	}
	did, err := s.takeAway(ch, e, r)
	if err != nil {
		return Step{}, err
	}
	if r != nil {
		ch.drop = append(ch.drop, *r)
	}
	return Step{Did: did}, nil
}

// takeAway removes acptap from the document. r is the record of the entry. If r is nil,
// takeAway looks the record up, and keeps an added entry.
func (s *Setup) takeAway(ch *Change, e Entry, r *Record) (Did, error) {
	if r != nil && r.Added {
		return DidRemove, ch.remove(r)
	}
	if r == nil {
		r = s.Undo.find(ch.file.real, e.path)
	}
	for _, restore := range []func(*document, Entry, *Record) (*document, error){wholeEntry, pieces, fromBehind} {
		doc, err := restore(ch.doc, e, r)
		if doc == nil && err == nil {
			continue
		}
		if err == nil {
			err = meant(ch.doc, doc, ch.Client, e.path, restored(doc, ch.Client, e, s.Machine.Home))
		}
		if err != nil {
			return "", err
		}
		ch.doc = doc
		return DidUnwrap, nil
	}
	return "", errors.New("there is no command after acptap")
}

// restored returns the command that the entry must have afterwards: the agent's, with ~
// if it had one.
func restored(doc *document, c *Client, e Entry, home string) []string {
	want := slices.Clone(e.Agent)
	if v := doc.at(e.path...); v != nil {
		if now, err := commandOf(v, c.Forms); err == nil && now != nil && expandIn(now, now.words[0], home) == want[0] {
			want[0] = now.words[0]
		}
	}
	return want
}

// wholeEntry restores the old bytes of an entry that has not changed since.
func wholeEntry(d *document, e Entry, r *Record) (*document, error) {
	if r == nil || r.Added || !bytes.Equal(d.of(e.value), r.After) {
		return nil, nil
	}
	return d.splice(edit{e.value.StartOffset, e.value.EndOffset, string(r.Before)})
}

// pieces restores the old bytes of the command, if the entry has changed but not the
// agent's command.
func pieces(d *document, e Entry, r *Record) (*document, error) {
	if r == nil || r.Added || !slices.Equal(r.Agent, e.Agent) {
		return nil, nil
	}
	entry := d.of(e.value)
	var edits []edit
	for _, p := range r.Pieces {
		if bytes.Count(entry, p.After) != 1 {
			return nil, nil
		}
		at := e.value.StartOffset + bytes.Index(entry, p.After)
		edits = append(edits, edit{at, at + len(p.After), string(p.Before)})
	}
	for i := range edits {
		for j := range i {
			if edits[i].from < edits[j].to && edits[j].from < edits[i].to {
				return nil, nil
			}
		}
	}
	return d.splice(edits...)
}

// fromBehind keeps only the command after --.
func fromBehind(d *document, e Entry, _ *Record) (*document, error) {
	return d.splice(d.trail(e.command, len(e.Acptap))...)
}

// remove removes an added entry, and the list and file that were created for it.
func (ch *Change) remove(r *Record) error {
	d := ch.doc
	around := d.at(r.Around...)
	if around != nil && bytes.Equal(d.of(around), r.After) {
		if r.NewFile && len(r.Around) == 0 {
			ch.doc = nil
			return nil
		}
		doc, err := d.splice(edit{around.StartOffset, around.EndOffset, string(r.Before)})
		if err == nil {
			ch.doc = doc
		}
		return err
	}
	doc, err := d.without(r.Path)
	if err != nil {
		return err
	}
	if list := r.Path[:len(r.Path)-1]; r.NewList && len(membersOf(doc.at(list...))) == 0 {
		if doc, err = doc.without(list); err != nil {
			return err
		}
	}
	ch.doc = doc
	return nil
}

// without returns the document without the member at path and one of its commas.
func (d *document) without(path []string) (*document, error) {
	owner := d.at(path[:len(path)-1]...)
	m := member(owner, path[len(path)-1])
	members := membersOf(owner)
	i := slices.IndexFunc(members, func(other hujson.ObjectMember) bool { return other.Name.StartOffset == m.Name.StartOffset })
	from, to := m.Name.StartOffset, m.Value.EndOffset
	if blanks := m.Name.BeforeExtra; blanks.IsStandard() {
		from -= len(blanks)
	}
	edits := []edit{{from, to, ""}}
	switch comma := to + len(m.Value.AfterExtra); {
	case d.text[comma] == ',':
		edits = append(edits, edit{comma, comma + 1, ""})
	case i > 0:
		previous := members[i-1].Value
		comma = previous.EndOffset + len(previous.AfterExtra)
		edits = append(edits, edit{comma, comma + 1, ""})
	}
	return d.splice(edits...)
}
