package settings

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Wrap plans to insert acptap before the named entries, or before all.
func (s *Setup) Wrap(c *Client, path string, names []string, all bool) (*Change, error) {
	return s.plan(c, path, names, all, s.wrapEntry)
}

// Unwrap plans to remove acptap from the named entries, or from all.
func (s *Setup) Unwrap(c *Client, path string, names []string, all bool) (*Change, error) {
	return s.plan(c, path, names, all, s.unwrapEntry)
}

func (s *Setup) plan(c *Client, path string, names []string, all bool, do func(*Change, Entry) (Step, error)) (*Change, error) {
	c = s.inState(c, path)
	f, doc, err := s.open(c, path, slices.Concat(names, []string{"NAME"})[0])
	if err != nil {
		return nil, s.absentOr(c, path, err)
	}
	ch := &Change{Client: c, file: f, doc: doc}
	if all {
		for _, e := range doc.entries(c, path) {
			names = append(names, e.Name)
		}
	}
	for _, name := range names {
		if ch.doc == nil {
			break // the whole file is removed
		}
		e, err := s.entry(ch.doc, c, path, name)
		if err != nil && all {
			continue // it was removed with another one
		}
		if err != nil {
			return nil, err
		}
		step, err := do(ch, e)
		if err != nil {
			if !all {
				return nil, fmt.Errorf("%s: entry %s: %w", s.Machine.Short(path), quote(name), err)
			}
			step.Did, step.Why = DidSkip, err.Error()
		}
		step.Client, step.File, step.Entry, step.Agent = c.Name, path, e.Name, e.Agent
		if step.Did == DidAdd {
			step.Entry = wrappedName(e.Name)
		}
		ch.Steps = append(ch.Steps, step)
	}
	if s.isState(c, path) {
		return nil, s.byCommand(ch)
	}
	return ch, nil
}

// entry returns the entry with a name, or an error that lists the existing ones.
func (s *Setup) entry(doc *document, c *Client, path, name string) (Entry, error) {
	list := doc.entries(c, path)
	var names []string
	for _, e := range list {
		if e.Name == name {
			return e, nil
		}
		names = append(names, quote(e.Name))
	}
	there := "it has none"
	if len(names) > 0 {
		there = "there are " + strings.Join(names, ", ")
	}
	return Entry{}, fmt.Errorf("%s: no entry %s; %s", s.Machine.Short(path), quote(name), there)
}

// wrapEntry inserts acptap before an entry.
func (s *Setup) wrapEntry(ch *Change, e Entry) (Step, error) {
	switch e.State {
	case Registry:
		return s.addRegistered(ch, e)
	case Remote, Other:
		return Step{}, errors.New(e.Why)
	case Wrapped:
		return s.rewrapEntry(ch, e)
	}
	words := s.Wrapper.Words(e.Name)
	r, err := s.putBefore(ch, e, words)
	if err != nil {
		return Step{}, err
	}
	ch.put = append(ch.put, *r)
	return Step{Did: DidWrap, Acptap: words, Undo: filepath.Join(s.Undo.Dir, r.name())}, nil
}

// rewrapEntry updates the path and flags of acptap.
func (s *Setup) rewrapEntry(ch *Change, e Entry) (Step, error) {
	at := flagsAt(e.Acptap)
	store := e.Acptap[1:max(at-1, 1)] // before the word proxy
	words := slices.Concat(s.Wrapper.Recorder, store, e.Acptap[at:])
	if s.Wrapper.With != nil {
		words = s.Wrapper.Words(nameOf(e))
	}
	if slices.Equal(words, e.Acptap) {
		return Step{Did: DidNothing, Acptap: words}, nil
	}
	old := s.Undo.find(ch.file.real, e.path)
	if _, err := s.takeAway(ch, e, nil); err != nil {
		return Step{}, err
	}
	bare, err := s.entry(ch.doc, ch.Client, e.File, e.Name)
	if err != nil {
		return Step{}, err
	}
	r, err := s.putBefore(ch, bare, words)
	if err != nil {
		return Step{}, err
	}
	if old != nil && old.Added {
		// Unwrapping removes an added entry by its name, so keep what originally
		// surrounded it.
		r.Added, r.NewList, r.NewFile, r.Around, r.Before, r.Pieces = true, old.NewList, old.NewFile, old.Around, old.Before, nil
		r.After = slices.Clone(ch.doc.of(ch.doc.at(old.Around...)))
	}
	ch.put = append(ch.put, *r)
	return Step{Did: DidRewrap, Acptap: words, Undo: filepath.Join(s.Undo.Dir, r.name())}, nil
}

// nameOf returns the name under which listings show a wrapped entry's agent.
func nameOf(e Entry) string {
	for i, w := range e.Acptap[:len(e.Acptap)-1] {
		if w == "--name" {
			return e.Acptap[i+1]
		}
		if name, ok := strings.CutPrefix(w, "--name="); ok {
			return name
		}
	}
	return e.Name
}

// putBefore inserts words before the command of an entry.
func (s *Setup) putBefore(ch *Change, e Entry, words []string) (*Record, error) {
	if e.command.form == program && len(ch.Client.Forms) > 1 && ch.Client.Forms[0] == argv && strings.ContainsAny(words[0], " \t'\"") {
		return nil, fmt.Errorf("%s takes no blanks or quotes in a command beside args, and there are some in %s; write it as argv first", ch.Client.Name, words[0])
	}
	edits := ch.doc.lead(e.command, words, s.Machine.Home)
	r := &Record{
		Format: recordFormat, Time: time.Now().UTC().Truncate(time.Millisecond),
		Client: ch.Client.Name, File: ch.file.real, Path: e.path, Agent: e.Agent,
		Before: slices.Clone(ch.doc.of(e.value)),
	}
	for _, ed := range edits {
		r.Pieces = append(r.Pieces, piece{slices.Clone(ch.doc.text[ed.from:ed.to]), []byte(ed.text)})
	}
	agent := slices.Clone(e.Agent)
	agent[0] = expandIn(e.command, agent[0], s.Machine.Home)
	after, err := ch.doc.splice(edits...)
	if err == nil {
		err = meant(ch.doc, after, ch.Client, e.path, slices.Concat(words, agent))
	}
	if err != nil {
		return nil, err
	}
	ch.doc = after
	r.After = slices.Clone(after.of(after.at(e.path...)))
	return r, nil
}

func expandIn(c *command, program, home string) string {
	if c.form == commandLine {
		return program
	}
	return expand(program, home)
}

// meant returns an error unless after differs only in the command of the entry at path,
// which must be words.
func meant(before, after *document, c *Client, path, words []string) error {
	v := after.at(path...)
	if v == nil {
		return errors.New("the entry would be gone; please report this")
	}
	now, err := commandOf(v, c.Forms)
	if err != nil || now == nil || !slices.Equal(now.words, words) {
		return errors.New("its command would not be what it should be; please report this")
	}
	if !sameBut(before, after, path) {
		return errors.New("something else would change with it; please report this")
	}
	return nil
}

// sameBut reports whether documents say the same, except for the command of the entry at path.
func sameBut(a, b *document, path []string) bool {
	was, err1 := a.meaning()
	is, err2 := b.meaning()
	forget(was, path)
	forget(is, path)
	return err1 == nil && err2 == nil && reflect.DeepEqual(was, is)
}

// forget removes the command of the entry at path from a decoded document.
func forget(v any, path []string) {
	for _, name := range path {
		object, ok := v.(map[string]any)
		if !ok {
			return
		}
		v = object[name]
	}
	entry, ok := v.(map[string]any)
	if !ok {
		return
	}
	if inner, ok := entry["command"].(map[string]any); ok {
		maps.DeleteFunc(inner, func(name string, _ any) bool { return name == "path" || name == "args" })
		return
	}
	maps.DeleteFunc(entry, func(name string, _ any) bool { return name == "command" || name == "args" || name == "argv" })
}
