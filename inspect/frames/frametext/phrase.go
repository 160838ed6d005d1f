package frametext

import (
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// Display limits, in characters.
const (
	MaxSummary = 500
	maxListed  = 8 // list elements
)

// Value returns a JSON value in readable form: a string without its quotes, "" for null,
// anything else as JSON.
func Value(v wire.Value) string {
	switch {
	case v.IsNull():
		return ""
	case v.IsString():
		return termtext.Piece(v.Text())
	}
	return termtext.Piece(v.Raw())
}

// empty reports whether a value contains nothing.
func empty(v wire.Value) bool {
	none := true
	if v.IsObject() || v.IsArray() {
		v.ForEach(func(_, _ wire.Value) bool { none = false; return false })
		return none
	}
	return v.IsNull()
}

// bare returns params or a result as JSON, omitting the members that any of them may
// have, or "" if that leaves nothing.
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

// first returns the first text found at one of the paths.
func first(v wire.Value, paths ...string) string {
	for _, path := range paths {
		if s := Value(v.Get(path)); s != "" {
			return s
		}
	}
	return ""
}

// at returns a phrase that yields the first text found at one of the paths.
func at(paths ...string) phrase {
	return func(v wire.Value) string { return first(v, paths...) }
}

// counted returns a phrase that yields the number of elements in an array or object, and
// the names of the first ones.
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

// A list is a count of things together with the first of them.
type list struct {
	n     int
	parts []string
}

// add counts one more thing. It calls what only if the text will be shown.
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

// each returns the phrase of each of the first elements of an array.
func each(v wire.Value, of phrase) (parts []string) {
	if v.IsArray() {
		v.ForEach(func(_, element wire.Value) bool {
			parts = append(parts, of(element))
			return len(parts) < maxListed
		})
	}
	return parts
}

// names returns the names of an object's members that are neither false nor null.
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

// namesOf returns the names of an object's members that are wanted.
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
