package stats

import (
	"cmp"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Frames counts frames by name: their method, their variant of a session/update, or
// otherwise their kind. It ignores frames that acptap made and frames delivered again.
// Its zero value is empty.
type Frames struct{ names names[FrameCount] }

// A FrameCount is the number of frames with one name.
type FrameCount struct {
	Name   string
	Frames int
	Failed int
	Bytes  int64
}

// Take counts a frame.
func (s *Frames) Take(f *dialect.Frame) {
	if !f.Counts() && f.Kind != wire.Stderr {
		return
	}
	name := f.Annotation.Name()
	if name == "" {
		name = f.Kind.String()
	}
	c := s.names.of(name)
	c.Frames++
	c.Bytes += f.Size
	if f.Failed {
		c.Failed++
	}
}

// List returns the counts, most frequent first.
func (s *Frames) List() []FrameCount {
	list := make([]FrameCount, 0, len(s.names))
	for name, c := range s.names {
		one := *c
		one.Name = name
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b FrameCount) int {
		return cmp.Or(cmp.Compare(b.Frames, a.Frames), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// Uses counts how often each method, and each variant of a session/update, was used in
// requests and notifications.
type Uses map[string]int

// Take counts a frame.
func (u Uses) Take(f *dialect.Frame) {
	if !f.Counts() {
		return
	}
	if f.Kind == wire.Notification || f.Kind != wire.Response && f.Request == 0 {
		u.add(&f.Annotation)
	}
	for i := range f.Entries {
		if e := &f.Entries[i]; e.Request == 0 {
			u.add(e)
		}
	}
}

func (u Uses) add(a *dialect.Annotation) {
	name := a.Method
	if a.Update != "" && !dialect.Wraps(a.Method) {
		name = a.Update
	}
	if _, known := u[name]; known {
		u[name]++
	} else if name != "" && len(u) < maxNames {
		u[strings.Clone(name)] = 1
	}
}
