// Package config reads default values for flags from a file in the store's directory:
//
//	color = "never"          # of every command that has the flag
//
//	[show]                   # of acptap show
//	mcp = true
//
//	[sessions.check-load]    # of acptap sessions check-load
//	json = true
//
// A flag on the command line takes precedence over an environment variable for the same
// thing, that over the table of the command, and that over the settings for all commands.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// A File is the content of a configuration file.
type File struct {
	Path     string
	Settings []Setting // in file order
}

// A Setting is the default of a flag.
type Setting struct {
	Command []string // names of the command below the root; empty: every command that has the flag
	Flag    string
	value   value
	at      Place
}

// A value is the value of a setting.
type value struct {
	kind  unstable.Kind
	texts []string // a single value, or the elements of an array
}

// A Place is a position in the file.
type Place struct {
	Path         string
	Line, Column int // from 1
}

// String returns the path and the line.
func (p Place) String() string { return fmt.Sprintf("%s:%d", p.Path, p.Line) }

func (p Place) errorf(format string, args ...any) error {
	return fmt.Errorf("%s:%d:%d: %w", p.Path, p.Line, p.Column, fmt.Errorf(format, args...))
}

// Read reads a file. A missing file, or one in a missing directory, has no settings.
func Read(path string) (*File, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return &File{Path: path}, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // reading a pipe might block forever
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parse(path, text)
}

func parse(path string, text []byte) (*File, error) {
	r := reader{file: &File{Path: path}}
	r.Reset(text)
	for r.NextExpression() {
		if err := r.expression(r.Expression()); err != nil {
			return nil, err
		}
	}
	var all map[string]any // this also finds duplicate tables
	if err := toml.Unmarshal(text, &all); err != nil {
		at, what := path, strings.TrimPrefix(err.Error(), "toml: ")
		var wrong *toml.DecodeError
		if errors.As(err, &wrong) {
			line, column := wrong.Position()
			at = fmt.Sprintf("%s:%d:%d", path, line, column)
		}
		return nil, fmt.Errorf("%s: %s; see acptap help config", at, what)
	}
	return r.file, nil
}

// A reader reads the settings of a file.
type reader struct {
	unstable.Parser
	file  *File
	table []string // names of the current table
}

func (r *reader) expression(e *unstable.Node) error {
	switch e.Kind {
	case unstable.KeyValue:
		return r.setting(r.table, e)
	case unstable.Table:
		r.table, _ = r.key(e)
	case unstable.ArrayTable:
		name, at := r.key(e)
		return at.errorf("[[%s]] is a list of tables, but a command has one table: [%s]", joined(name), joined(name))
	}
	return nil
}

// key returns the names in a key or in the head of a table, and their place.
func (r *reader) key(e *unstable.Node) (names []string, at Place) {
	for i := e.Key(); i.Next(); {
		if names == nil {
			start := r.Shape(i.Node().Raw).Start
			at = Place{r.file.Path, start.Line, start.Column}
		}
		names = append(names, string(i.Node().Data))
	}
	return names, at
}

// setting reads the value of a key in a table.
func (r *reader) setting(table []string, e *unstable.Node) error {
	names, at := r.key(e)
	names = append(table[:len(table):len(table)], names...)
	v := e.Value()
	if v.Kind == unstable.InlineTable {
		for i := v.Children(); i.Next(); {
			if err := r.setting(names, i.Node()); err != nil {
				return err
			}
		}
		return nil
	}
	last := len(names) - 1
	s := Setting{Command: names[:last], Flag: names[last], at: at, value: value{kind: v.Kind}}
	if v.Kind != unstable.Array {
		s.value.texts = []string{string(v.Data)}
	}
	for i := v.Children(); v.Kind == unstable.Array && i.Next(); {
		if i.Node().Kind != unstable.String {
			return at.errorf("the elements of %s are texts in quotes", s.Flag)
		}
		s.value.texts = append(s.value.texts, string(i.Node().Data))
	}
	for _, other := range r.file.Settings {
		if other.Flag == s.Flag && slices.Equal(other.Command, s.Command) {
			return at.errorf("%s is set twice, first in line %d", s.Flag, other.at.Line)
		}
	}
	r.file.Settings = append(r.file.Settings, s)
	return nil
}
