package settings

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
)

// A Status describes an entry that is or was wrapped.
type Status struct {
	Entry
	Bad    bool   `json:"bad"`              // its client cannot start it
	What   string `json:"what"`             // its condition
	Advice string `json:"advice,omitempty"` // what to do

	lost *Record // set if it is no longer wrapped
}

// IsLost reports whether the entry is no longer wrapped.
func (st Status) IsLost() bool { return st.lost != nil }

// Forget removes the record of an entry that is no longer wrapped.
func (s *Setup) Forget(st Status) error {
	unlock, err := s.Undo.lock()
	if err != nil {
		return err
	}
	defer unlock()
	return s.Undo.drop([]Record{*st.lost})
}

// Names reports whether a user may call the entry name: by its own name, or by that of
// the registry's agent that it records.
func (st Status) Names(name string) bool { return st.Name == name || st.Name == wrappedName(name) }

// Status returns the wrapped entries in all known files, and those that another program
// unwrapped. An error lists the unreadable records and files.
func (s *Setup) Status() (list []Status, err error) {
	records, err := s.Undo.Records()
	for _, c := range Clients() {
		if !c.IsFile() {
			continue
		}
		for _, path := range s.filesWith(c, records) {
			own := slices.DeleteFunc(slices.Clone(records), func(r Record) bool { return r.Client != c.Name || !sameFile(r.File, path) })
			entries, unread := s.Entries(c, path)
			if unread != nil && len(own) > 0 {
				err = errors.Join(err, unread)
			}
			for _, e := range entries {
				if e.State == Wrapped {
					list = append(list, s.status(e))
				}
			}
			for _, r := range own {
				if unread == nil && !slices.ContainsFunc(entries, func(e Entry) bool { return e.State == Wrapped && slices.Equal(e.path, r.Path) }) {
					list = append(list, lost(r))
				}
			}
		}
	}
	for _, r := range records {
		if !isFile(r.File) {
			list = append(list, lost(r))
		}
	}
	return list, err
}

// filesWith returns the existing files of a client, including those in the records.
func (s *Setup) filesWith(c *Client, records []Record) []string {
	files := s.Files(c)
	for _, r := range records {
		if r.Client == c.Name && isFile(r.File) && !slices.ContainsFunc(files, func(f string) bool { return sameFile(f, r.File) }) {
			files = append(files, r.File)
		}
	}
	return files
}

// lost returns the status of an entry that is no longer wrapped.
func lost(r Record) Status {
	name := r.Path[len(r.Path)-1]
	return Status{
		Entry:  Entry{Client: r.Client, File: r.File, Name: name, State: Plain, Agent: r.Agent},
		What:   "is wrapped no longer: another program has changed it",
		Advice: "wrap it again, or forget it: " + UnwrapLine(r.Client, nil, name),
		lost:   &r,
	}
}

func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// status reports whether the acptap of a wrapped entry can be started.
func (s *Setup) status(e Entry) Status {
	st := Status{Entry: e, What: "is wrapped"}
	name := ShellWords(e.Client, e.Name)
	path, err := exec.LookPath(e.Acptap[0])
	switch {
	case err != nil:
		st.Bad = true
		st.What = fmt.Sprintf("calls %s, which cannot be started", e.Acptap[0])
		st.Advice = fmt.Sprintf("until then its client cannot start it: acptap wrap %s, or %s", name, UnwrapLine(e.Client, nil, e.Name))
	case len(s.Programs) > 0 && !slices.ContainsFunc(s.Programs, func(own string) bool { return sameFile(path, own) }):
		st.What = fmt.Sprintf("calls %s, which is another acptap than this one", e.Acptap[0])
		st.Advice = fmt.Sprintf("acptap wrap %s takes this one", name)
	}
	return st
}
