package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"
)

// Add plans a new entry that starts agent through acptap. It creates a missing file, but
// not its directory.
func (s *Setup) Add(c *Client, path, name string, agent []string) (*Change, error) {
	f, doc, err := s.open(c, path, name)
	fresh := errors.Is(err, fs.ErrNotExist) && !isFile(path)
	if fresh {
		if f, err = absent(path); err == nil {
			doc, err = parse([]byte("{\n}\n"))
		}
	}
	if err != nil {
		return nil, err
	}
	ch := &Change{Client: c, file: f, doc: doc}
	for _, e := range doc.entries(c, path) {
		if e.Name == name {
			return nil, fmt.Errorf("%s: there is an entry %s already; acptap wrap %s %s puts acptap before it", s.Machine.Short(path), quote(name), c.Name, shellWord(name))
		}
	}
	step, err := s.add(ch, name, s.Wrapper.Words(name), agent, "")
	if err != nil {
		return nil, err
	}
	step.Client, step.File, step.Entry, step.Agent = c.Name, path, name, agent
	ch.Steps = []Step{step}
	return ch, nil
}

// add appends a new entry. env is the JSON of its env member; empty for none.
func (s *Setup) add(ch *Change, name string, own, agent []string, env string) (Step, error) {
	list := ch.doc.listFor(ch.Client)
	path := append(slices.Clone(list), name)
	fields := newFields(ch.Client, slices.Concat(own, agent), env)
	r := Record{
		Format: recordFormat, Time: time.Now().UTC().Truncate(time.Millisecond),
		Client: ch.Client.Name, File: ch.file.real, Path: path, Agent: agent,
		Added: true, NewFile: !ch.file.exists,
	}
	r.Around = list
	if ch.doc.at(list...) == nil {
		r.NewList, r.Around = true, list[:len(list)-1]
	}
	if r.NewFile {
		r.Around = []string{}
	}
	r.Before = slices.Clone(ch.doc.of(ch.doc.at(r.Around...)))
	after, err := ch.doc.insert(list, name, fields)
	if err != nil {
		return Step{}, err
	}
	if err := added(ch.doc, after, ch.Client, path, slices.Concat(own, agent)); err != nil {
		return Step{}, err
	}
	r.After = slices.Clone(after.of(after.at(r.Around...)))
	ch.doc = after
	ch.put = append(ch.put, r)
	return Step{Did: DidAdd, Acptap: own, Undo: filepath.Join(s.Undo.Dir, r.name())}, nil
}

// added returns an error unless the only difference in after is the new entry at path.
func added(before, after *document, c *Client, path, words []string) error {
	bare, err := after.without(path)
	if err != nil {
		return err
	}
	list := path[:len(path)-1]
	if before.at(list...) == nil {
		if bare, err = bare.without(list); err != nil {
			return err
		}
	}
	now, err := commandOf(after.at(path...), c.Forms)
	if err != nil || now == nil || !slices.Equal(now.words, words) || !sameBut(before, bare, path) {
		return errors.New("the settings would not be what they should be; please report this")
	}
	return nil
}

// listFor returns the path of the object for a new entry: the first existing one, otherwise
// the first at the top level.
func (d *document) listFor(c *Client) []string {
	for _, list := range c.Lists {
		if v := d.at(list...); v != nil && v.Value.Kind() == '{' && (len(list) == 1 || isMap(v)) {
			return list
		}
	}
	for _, list := range c.Lists {
		if len(list) == 1 {
			return list
		}
	}
	return c.Lists[0]
}

// newFields returns the members of a new entry.
func newFields(c *Client, words []string, env string) (fields []string) {
	if c.Fields != nil {
		d, _ := parse(c.Fields) // cannot fail: Clients has parsed it
		for _, m := range membersOf(&d.root) {
			fields = append(fields, quote(text(&m.Name))+": "+string(d.of(&m.Value)))
		}
	}
	fields = append(fields, c.Forms[0].members(words, "")...)
	if env != "" {
		fields = append(fields, `"env": `+env)
	}
	return fields
}
