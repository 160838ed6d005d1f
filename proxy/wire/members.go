package wire

import (
	"slices"
	"strconv"
	"strings"
)

// Get returns the value at a path in a message, or nil if there is none. Keys select
// members of objects, indexes elements of arrays. If a member occurs twice, the last one
// counts, as in Scan and Set.
func Get(message []byte, path ...string) []byte {
	if len(path) == 0 {
		return message
	}
	r := Reader{Text: message}
	r.Skip(' ')
	return r.at(path)
}

// Set returns a message with a value set at a path. Keys select members of objects,
// indexes elements of arrays. Set creates what is missing, and replaces values of the
// wrong type, such as an array instead of an object: peers whose language writes an empty
// map as a list send those. All other bytes stay as they are. If a member occurs twice,
// the last one counts, as in Scan.
func Set(message, value []byte, path ...string) []byte {
	at := wholly(message)
	for len(path) > 0 {
		w := partsOf(message, at)
		found, end := spot{}, at.start+1
		for w.next() {
			end = w.end
			if w.is(path[0]) {
				found = w.spot
			}
		}
		if found.end > 0 {
			at, path = found, path[1:]
			continue
		}
		if w.open != '{' {
			break
		}
		added := slices.Concat(Encode(path[0]), []byte{':'}, nest(value, path[1:]))
		if end > at.start+1 {
			added = slices.Concat([]byte{','}, added)
		}
		return slices.Concat(message[:end], added, message[end:])
	}
	return slices.Concat(message[:at.start], nest(value, path), message[at.end:])
}

// Delete returns a message without the value at a path, which must not be empty. It removes
// every occurrence.
func Delete(message []byte, path ...string) []byte {
	at := opened(message)
	for ; len(path) > 1; path = path[1:] {
		at = memberAt(message, at, path[0])
	}
	var kept []byte
	done, first := 0, true // position up to which bytes are copied; nothing of the object or array has been kept yet
	for w := partsOf(message, at); w.next(); {
		switch {
		case w.is(path[0]):
			kept, done = append(kept, message[done:w.begin]...), w.end
		case first && done > 0: // the preceding part is removed, and so is its comma
			r := Reader{message, w.begin}
			r.Skip(',')
			done, first = r.Pos, false
		default:
			first = false
		}
	}
	if done == 0 {
		return message
	}
	return append(kept, message[done:]...)
}

// A spot is the position of a value in a text.
type spot struct {
	begin int // where the previous part ended, before the comma and the key
	start int // of the value
	end   int
}

// Find returns the positions of the values at a path: keys separated by dots, with a
// backslash before each dot in a key, and # for each element of an array. If a member
// occurs twice, the last one counts.
func Find(message []byte, path string) []Span {
	return find(nil, message, opened(message), path)
}

func find(found []Span, message []byte, at spot, path string) []Span {
	switch {
	case at.end == 0:
		return found
	case path == "":
		return append(found, Span{at.start, at.end})
	}
	key, path := CutKey(path)
	if key != "#" {
		return find(found, message, memberAt(message, at, key), path)
	}
	for w := partsOf(message, at); w.open == '[' && w.next(); {
		found = find(found, message, w.spot, path)
	}
	return found
}

// A Span is the position of a value in a message, from its first byte to just after its
// last.
type Span struct{ Start, End int }

// wholly returns the position of the only value in text.
func wholly(text []byte) spot {
	r := Reader{Text: text}
	r.Skip(' ')
	start := r.Pos
	return spot{0, start, start + len(r.Value())}
}

// opened is wholly for callers that read the parts of the value and do not need its end,
// which would take a second pass (BenchmarkPass in replay/shim).
func opened(text []byte) spot {
	r := Reader{Text: text}
	r.Skip(' ')
	return spot{0, r.Pos, len(text)}
}

// memberAt returns the position of the member or element with a key or index, or the zero
// spot if there is none or the value is neither object nor array.
func memberAt(text []byte, at spot, name string) (found spot) {
	for w := partsOf(text, at); w.next(); {
		if w.is(name) {
			found = w.spot
		}
	}
	return found
}

// parts iterates over the members of an object or the elements of an array. Any other value
// has none.
type parts struct {
	Reader
	open byte // of the object or array
	spot      // of the current value
	key  []byte
	n    int // elements before the next one
}

func partsOf(text []byte, at spot) parts {
	w := parts{Reader: Reader{text[:at.end], at.start + 1}}
	if at.start < at.end {
		w.open = text[at.start]
	}
	return w
}

func (w *parts) next() (ok bool) {
	var value []byte
	w.begin = w.Pos
	switch w.open {
	case '{':
		w.key, value, ok = w.Member()
	case '[':
		value, ok = w.Element()
		w.n++
	}
	w.start, w.end = w.Pos-len(value), w.Pos
	return ok
}

// is reports whether the current value has a key or an index.
func (w *parts) is(name string) bool {
	if w.open == '{' {
		return string(w.key) == name
	}
	n, err := strconv.Atoi(name)
	return err == nil && n == w.n-1
}

// nest wraps a value in objects with these keys.
func nest(value []byte, path []string) []byte {
	for _, key := range slices.Backward(path) {
		value = slices.Concat([]byte{'{'}, Encode(key), []byte{':'}, value, []byte{'}'})
	}
	return value
}

// CutKey splits the first key off a path of Find.
func CutKey(path string) (key, rest string) {
	i := 0
	for ; i < len(path) && path[i] != '.'; i++ {
		if path[i] == '\\' {
			i++
		}
	}
	if i >= len(path) {
		return strings.ReplaceAll(path, `\.`, "."), ""
	}
	return strings.ReplaceAll(path[:i], `\.`, "."), path[i+1:]
}
