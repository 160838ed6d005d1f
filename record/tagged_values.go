package record

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/record/disk"
)

// The facts of a tape and of a session, and how far a tape is sealed, are values
// that grow: a byte with the version of this form, and then a CBOR map of one level
// (RFC 8949, deterministic) with numbers as keys, the tags. No tag ever gets another
// meaning.
//
//	0        what a reader must know (package need); left out: nothing
//	1        how many tags the writer knew, from 0 on
//	2 …      a fact each; left out: zero
//
// A reader passes over tags that it does not know, and keeps them when it writes
// the value again. Since it cannot bring them up to date, tag 1 is then its own:
// who knows more finds there that the facts behind that number have to be counted
// again from the blocks (recount).
const (
	tagsVersion = 1
	maxVersion  = 31 // a higher first byte is no version: the value is damaged
)

// A tagged value names its facts, in the order of their tags, to who writes or
// reads them.
type tagged interface {
	what() string  // in errors
	known() uint64 // the first tag that is free
	tags(*tags)
}

// encodeTags returns a value that takes the place of old, which may be nil, with
// the tags of old that this version does not know.
func encodeTags(v tagged, old []byte) []byte {
	t := &tags{writing: true}
	known := v.known()
	t.uint(1, &known)
	v.tags(t)
	n, kept := behindTag(old, known)
	b := appendHead([]byte{tagsVersion}, cborMap, t.pairs+n)
	return append(append(b, t.b...), kept...)
}

// behindTag returns the pairs of a value from a tag on.
func behindTag(value []byte, tag uint64) (pairs uint64, b string) {
	var t tags
	if !t.open(value) {
		return 0, ""
	}
	if t.at(tag); !t.found {
		return 0, ""
	}
	pairs, b = t.pairs+1, t.in[t.pair:]
	for t.found {
		t.skip(0)
		t.next()
	}
	if t.bad || t.left() > 0 {
		return 0, ""
	}
	return pairs, b
}

// decode reads a value into v. all is false if its writer did not know all facts that v
// has.
func (t *tags) decode(value []byte, v tagged) (all bool, err error) {
	if len(value) > 0 && tagsVersion < value[0] && value[0] <= maxVersion {
		return false, fmt.Errorf("%s in version %d: %w", v.what(), value[0], ErrNewer)
	}
	var known uint64
	ok := t.open(value)
	if ok {
		var needs disk.Needs
		t.texts(0, (*[]string)(&needs))
		if err := needs.Check(v.what()); err != nil {
			return false, err
		}
		t.uint(1, &known)
		v.tags(t)
		for t.found {
			t.skip(0)
			t.next()
		}
	}
	if !ok || t.bad || t.left() > 0 {
		return false, fmt.Errorf("%s: %w", v.what(), ErrDamaged)
	}
	return known >= v.known(), nil
}

// tags writes or reads the pairs of one value. Its methods are called with rising
// tags. What they are given is written unless it is zero; or is set to what is read,
// and left as it is where the tag is missing.
type tags struct {
	writing bool
	b       []byte // what is written
	in      string // what is read; all text in it is a part of that
	pos     int    // in it
	pairs   uint64 // written, or left to read without the one at hand

	tag   uint64 // of the pair at hand
	found bool   // there is one, and its value is at pos
	pair  int    // where it begins
	bad   bool   // what is read is damaged
}

// open begins to read a value. It returns false if that is none of this version.
func (t *tags) open(value []byte) bool {
	if len(value) == 0 || value[0] != tagsVersion {
		return false
	}
	*t = tags{in: string(value[1:])}
	major, n := t.head()
	if t.bad || major != cborMap || n > t.left()/2 {
		return false
	}
	t.pairs = n
	t.next()
	return true
}

// left returns how many bytes are left to read.
func (t *tags) left() uint64 { return uint64(len(t.in) - t.pos) }

// next goes on to the next pair.
func (t *tags) next() {
	last, first := t.tag, t.pair == 0
	if t.found = t.pairs > 0 && !t.bad; !t.found {
		return
	}
	t.pairs--
	t.pair = t.pos
	major, tag := t.head()
	t.tag = tag
	if major != cborUint || !first && tag <= last {
		t.bad = true
	}
	t.found = !t.bad
}

// at goes on to the pair with that tag, and reports whether there is one.
func (t *tags) at(tag uint64) bool {
	for t.found && t.tag < tag {
		t.skip(0)
		t.next()
	}
	return t.found && t.tag == tag
}

// put begins a pair.
func (t *tags) put(tag uint64) {
	t.b = appendHead(t.b, cborUint, tag)
	t.pairs++
}

func (t *tags) uint(tag uint64, v *uint64) {
	switch {
	case !t.writing && t.at(tag):
		var major byte
		if major, *v = t.head(); major != cborUint {
			t.bad = true
		}
		t.next()
	case t.writing && *v != 0:
		t.put(tag)
		t.b = appendHead(t.b, cborUint, *v)
	}
}

func (t *tags) int(tag uint64, v *int64) {
	switch {
	case !t.writing && t.at(tag):
		*v = t.number()
		t.next()
	case t.writing && *v != 0:
		t.put(tag)
		t.b = appendNumber(t.b, *v)
	}
}

func (t *tags) bool(tag uint64, v *bool) {
	switch {
	case !t.writing && t.at(tag):
		major, n := t.head()
		*v = n == cborTrue
		t.bad = t.bad || major != cborSimple || n != cborTrue && n != cborFalse
		t.next()
	case t.writing && *v:
		t.put(tag)
		t.b = appendHead(t.b, cborSimple, cborTrue)
	}
}

// time is stored as ns since 1970; the zero time is left out.
func (t *tags) time(tag uint64, v *time.Time) {
	var n int64
	if t.writing && !v.IsZero() {
		n = v.UnixNano()
	}
	t.int(tag, &n)
	if !t.writing && n != 0 {
		*v = time.Unix(0, n)
	}
}

func (t *tags) text(tag uint64, v *string) {
	switch {
	case !t.writing && t.at(tag):
		*v = t.string()
		t.next()
	case t.writing && *v != "":
		t.put(tag)
		t.b = appendString(t.b, *v)
	}
}

func (t *tags) texts(tag uint64, v *[]string) {
	switch {
	case !t.writing && t.at(tag):
		n := t.count()
		*v = make([]string, 0, min(n, 64))
		for ; n > 0 && !t.bad; n-- {
			*v = append(*v, t.string())
		}
		t.next()
	case t.writing && len(*v) > 0:
		t.put(tag)
		t.b = appendHead(t.b, cborArray, uint64(len(*v)))
		for _, s := range *v {
			t.b = appendString(t.b, s)
		}
	}
}

// numbers are as many as v has; of more the first ones are read.
func (t *tags) numbers(tag uint64, v []int64) {
	if t.writing {
		t.put(tag)
		t.b = appendHead(t.b, cborArray, uint64(len(v)))
		for _, n := range v {
			t.b = appendNumber(t.b, n)
		}
		return
	}
	if !t.at(tag) {
		return
	}
	for n, i := t.count(), 0; n > 0 && !t.bad; n, i = n-1, i+1 {
		if k := t.number(); i < len(v) {
			v[i] = k
		}
	}
	t.next()
}

// enum is a number below 256 with a type of its own.
func enum[T ~uint8](t *tags, tag uint64, v *T) {
	n := uint64(*v)
	t.uint(tag, &n)
	*v = T(n)
	t.bad = t.bad || n > 255
}
