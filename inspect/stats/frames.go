package stats

import (
	"cmp"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Frames counts frames by what they are called: their method, their variant of a
// session/update, or what they are if they have neither. What acptap made of a frame, and
// what came again, is not counted once more. Its zero value has none.
type Frames struct{ names names[FrameCount] }

// A FrameCount is how many frames are called the same.
type FrameCount struct {
	Name   string
	Frames int
	Failed int
	Bytes  int64
}

// Take counts a frame.
func (s *Frames) Take(f *dialect.Frame) {
	if !counts(f) {
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

// counts reports whether a frame is one that a side has sent, for the first time.
func counts(f *dialect.Frame) bool {
	return f.Kind != wire.Mark && f.Origin.Sent() && !f.Redelivered
}

// List returns what was counted, most first.
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

// Uses is how often each method, and each variant of a session/update, was used: requests
// and notifications are counted.
type Uses map[string]int

// Take counts a frame.
func (u Uses) Take(f *dialect.Frame) {
	if !counts(f) {
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
