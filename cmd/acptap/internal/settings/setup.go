package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A Setup changes the settings of clients on one machine.
type Setup struct {
	Machine Machine
	Wrapper Wrapper
	Undo    Undo

	Programs []string // the paths by which entries may call this acptap; empty: unknown
}

// Do calls plan and writes the change that it returns, holding a lock against other
// acptaps. After an error nothing has changed.
func (s *Setup) Do(plan func() (*Change, error)) (*Change, error) {
	unlock, err := s.Undo.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	ch, err := plan()
	if err != nil {
		return nil, err
	}
	if !ch.IsEmpty() {
		if err := ch.file.check(); err != nil {
			return nil, ch.pasteInstead(err)
		}
	}
	return ch, s.write(ch)
}

// write stores records before it changes the file, so that every change has its record.
func (s *Setup) write(ch *Change) error {
	old, _ := s.Undo.Records()
	if err := s.Undo.put(ch.file, ch.put); err != nil {
		return fmt.Errorf("no place for what undoes this: %w; nothing was changed; use another --store", err)
	}
	if !ch.IsEmpty() {
		var data []byte
		if ch.doc != nil {
			data = ch.doc.bytes()
		}
		if err := ch.file.write(data); err != nil {
			old = slices.DeleteFunc(old, func(o Record) bool {
				return !slices.ContainsFunc(ch.put, func(r Record) bool { return r.name() == o.name() })
			})
			return errors.Join(err, s.Undo.drop(ch.put), s.Undo.put(ch.file, old))
		}
	}
	return s.Undo.drop(ch.drop)
}

// open reads a file of a client. name is the entry to change, for error messages.
func (s *Setup) open(c *Client, path, name string) (*File, *document, error) {
	f, err := Open(path)
	if err != nil {
		return nil, nil, err
	}
	doc, err := parse(f.read)
	if err != nil {
		return nil, nil, &PasteError{
			fmt.Errorf("%s cannot be read: %w; nothing was changed; acptap takes comments and trailing commas, but nothing else of JSON5: mend the file, or edit the entry by hand", s.Machine.Short(path), err),
			c.byHand(s.Wrapper, name) + "\n",
		}
	}
	return f, doc, nil
}

// Files returns the existing files of a client: those of the user and of the project.
func (s *Setup) Files(c *Client) (files []string) {
	files = slices.DeleteFunc(s.Machine.userFiles(c), func(path string) bool { return !isFile(path) })
	if path, exists := s.Machine.projectFile(c); exists && !slices.Contains(files, path) {
		files = append(files, path)
	}
	if path, ok := s.Machine.resolve(c.State); ok && isFile(path) {
		files = append(files, path)
	}
	return files
}

// FileFor returns the file of a client to use: the user's, or the project's. It need not
// exist.
func (s *Setup) FileFor(c *Client, project bool) (string, error) {
	if len(c.User) == 0 || project {
		if len(c.Project) == 0 {
			return "", fmt.Errorf("%s has no settings in projects", c.Name)
		}
		path, exists := s.Machine.projectFile(c)
		if state, ok := s.Machine.resolve(c.State); ok && !exists && !project && isFile(state) {
			return state, nil
		}
		return path, nil
	}
	files := s.Machine.userFiles(c)
	for _, path := range files {
		if isFile(path) {
			return path, nil
		}
	}
	if len(files) == 0 {
		return "", fmt.Errorf("acptap does not know where %s has its settings on this system; name the file with --file", c.Name)
	}
	// Take the first one whose directory exists.
	for _, path := range files {
		if info, err := os.Stat(filepath.Dir(path)); err == nil && info.IsDir() {
			return path, nil
		}
	}
	return files[0], nil
}

// Entries returns the entries in a file of a client.
func (s *Setup) Entries(c *Client, path string) ([]Entry, error) {
	c = s.inState(c, path)
	_, doc, err := s.open(c, path, "NAME")
	if err != nil {
		return nil, s.absentOr(c, path, err)
	}
	return doc.entries(c, path), nil
}

// absentOr adds advice to the error for a missing file.
func (s *Setup) absentOr(c *Client, path string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) || isFile(path) {
		return err
	}
	advice := fmt.Sprintf("acptap wrap %s --new NAME -- AGENT… makes it", c.Name)
	if len(c.Project) > 0 && len(c.User) > 0 {
		advice += "; --project is for the settings of the project"
	}
	return fmt.Errorf("there is no %s; if %s has its settings elsewhere, name them with --file; %s", s.Machine.Short(path), c.Name, advice)
}
