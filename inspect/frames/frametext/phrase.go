package frametext

import (
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// Limits of what is shown, in characters.
const (
	MaxSummary = 500
	maxListed  = 8 // elements of a list
)

// Value returns a JSON value for reading: a string without its quotes, anything else
// as JSON, nothing for null.
func Value(v wire.Value) string {
	switch {
	case v.IsNull():
		return ""
	case v.IsString():
		return termtext.Piece(v.Text())
	}
	return termtext.Piece(v.Raw())
}

// empty reports whether there is nothing in a value.
func empty(v wire.Value) bool {
	none := true
	if v.IsObject() || v.IsArray() {
		v.ForEach(func(_, _ wire.Value) bool { none = false; return false })
		return none
	}
	return v.IsNull()
}

// bare returns params or a result as JSON, without what any of them may have;
// nothing if that is all.
func bare(v wire.Value) string {
	switch {
	case empty(v):
		return ""
	case !v.IsObject():
		return Value(v)
	}
	var members []string
	v.ForEach(func(key, value wire.Value) bool {
		if key.Text() != "_meta" && key.Text() != "resultType" {
			members = append(members, termtext.Piece(key.Raw()+":"+value.Raw()[:min(len(value.Raw()), 4*termtext.MaxPiece)]))
		}
		return len(members) < maxListed
	})
	if members == nil {
		return ""
	}
	return termtext.Piece("{" + strings.Join(members, ",") + "}")
}

// first returns the text of the first of some places that has any.
func first(v wire.Value, paths ...string) string {
	for _, path := range paths {
		if s := Value(v.Get(path)); s != "" {
			return s
		}
	}
	return ""
}

// at makes a phrase of the first of some places that has a text.
func at(paths ...string) phrase {
	return func(v wire.Value) string { return first(v, paths...) }
}

// counted makes a phrase of the number of elements in an array or object and
// the names of the first.
func counted(one string, of phrase) phrase {
	return func(v wire.Value) string {
		if !v.IsArray() && !v.IsObject() {
			return ""
		}
		var l list
		v.ForEach(func(_, element wire.Value) bool {
			l.add(func() string {
				return of(element)
			})
			return true
		})
		return l.text(one, one+"s", ", ")
	}
}

// A list is how many things there are, and the first of them.
type list struct {
	n     int
	parts []string
}

func (l *list) full() bool { return l.n >= maxListed }

// add counts one more. What is it is asked only if it will be shown.
func (l *list) add(what func() string) {
	if l.n++; l.n > maxListed {
		return
	}
	if s := what(); s != "" {
		l.parts = append(l.parts, s)
	}
}

func (l *list) text(one, many, between string) string {
	text := termtext.Grouped(int64(l.n)) + " " + many
	if l.n == 1 {
		text = "1 " + one
	}
	if len(l.parts) == 0 {
		return text
	}
	text += ": " + strings.Join(l.parts, between)
	if l.n > maxListed {
		text += between + "…"
	}
	return text
}

// each returns what a phrase tells about the first elements of an array.
func each(v wire.Value, of phrase) (parts []string) {
	if v.IsArray() {
		v.ForEach(func(_, element wire.Value) bool {
			parts = append(parts, of(element))
			return len(parts) < maxListed
		})
	}
	return parts
}

// names tells the members of an object that are neither false nor null.
func names(v wire.Value) string {
	return namesOf(v, func(_ string, value wire.Value) bool { return !value.IsFalse() && !value.IsNull() })
}

// offeredNames returns the names of offered capabilities. whose lists the sides that may
// have sent them.
func offeredNames(v wire.Value, whose ...sideKey) string {
	var known []string
	for _, side := range whose {
		known = append(known, specified()[side]...)
	}
	return namesOf(v, func(name string, value wire.Value) bool { return isOffered(known, name, value) })
}

// namesOf tells the members of an object that are wanted.
func namesOf(v wire.Value, wanted func(name string, value wire.Value) bool) string {
	var parts []string
	if v.IsObject() {
		v.ForEach(func(key, value wire.Value) bool {
			if key.Text() != "_meta" && wanted(key.Text(), value) {
				parts = append(parts, Value(key))
			}
			return len(parts) < maxListed
		})
	}
	return strings.Join(parts, ", ")
}
