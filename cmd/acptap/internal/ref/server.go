package ref

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// server returns the tape of REF+NAME, the server NAME that the agent on the tape REF
// started, or of REF+NAME~2, its second start. It returns "" if there is none.
func (f *Finder) server(name string) (id string, err error) {
	parent, server := f.parentIn(name)
	if parent == "" {
		return "", nil
	}
	l, err := f.List()
	if err != nil {
		return "", err
	}
	return startOf(record.NestingOf(l.Tapes), parent, server), nil
}

// parentIn returns the tape that REF in REF+NAME names, and the rest of name. It returns ""
// if there is no such tape.
func (f *Finder) parentIn(name string) (parent, server string) {
	for i := range len(name) {
		if name[i] != '+' || i == 0 {
			continue
		}
		id, err := f.direct(name[:i])
		if errors.Is(err, ErrUnknown) {
			id, err = f.tagged(name[:i])
		}
		if err == nil {
			return id, name[i+1:]
		}
	}
	return "", ""
}

// startOf returns the tape of the server name below parent, or "" if there is none. name
// may continue with +NAME for a server of that server.
func startOf(n record.Nesting, parent, name string) (tape string) {
	children := n.Children(parent)
	for i, ref := range record.ServerRefs(children) {
		rest, ok := strings.CutPrefix("+"+name, ref)
		rest = strings.TrimPrefix(rest, "~1") // the first start needs no number
		switch {
		case !ok:
		case rest == "":
			return children[i].Tape
		case rest[0] == '+':
			if tape = startOf(n, children[i].Tape, rest[1:]); tape != "" {
				return tape
			}
		}
	}
	return ""
}

// noServer returns the error for REF+NAME if the tape REF has no such server.
func noServer(name, parent, server string, children []record.Info) error {
	base, _, _ := cutBack(server)
	started := map[string]int{}
	for i := range children {
		started[children[i].ServerName()]++
	}
	words := slices.Sorted(maps.Keys(started))
	near := termtext.Near(base, words)
	switch {
	case started[base] == 1:
		return fmt.Errorf("%q: the agent started %q once", name, base)
	case started[base] > 1:
		return fmt.Errorf("%q: the agent started %q %d times", name, base, started[base])
	case len(near) > 0:
		return fmt.Errorf("%q: no server %q was started on tape %s; did you mean %s?", name, base, parent, termtext.Line(strings.Join(near, " or ")))
	case len(words) > 0:
		return fmt.Errorf("%q: no server %q was started on tape %s, but %s", name, base, parent, termtext.Line(serverList(words)))
	}
	return fmt.Errorf("%q: tape %s has no tapes of servers", name, parent)
}

// serverList lists the names of servers in an error. It shortens long lists.
func serverList(names []string) string {
	const most = 8
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
