package record

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/record/disk"
)

// The facts of a tape and of a session, and checkpoints, are values that can grow: a byte
// with the version of this form, and then a flat CBOR map (RFC 8949, deterministic) with
// numbers as keys, the tags. A tag never changes its meaning.
//
//	0        what a reader must know (package need); left out: nothing
//	1        how many tags the writer knew, from 0 on
//	2 …      a fact each; left out: zero
//
// A reader ignores unknown tags, but keeps them when it writes the value again. Since it
// cannot update them, it writes its own tag 1: a reader that knows more sees from that
// which facts it has to count again from the blocks (recount).
const (
	tagsVersion = 1
	maxVersion  = 31 // a higher first byte is damage, not a version
)

// A tagged value passes its facts, in the order of their tags, to a tags that writes or
// reads them.
type tagged interface {
	what() string  // for errors
	known() uint64 // the first free tag
	tags(*tags)
}

// encodeTags returns the value that replaces old, which may be nil. It keeps the tags of
// old that this version does not know.
func encodeTags(v tagged, old []byte) []byte {
	t := &tags{writing: true}
	known := v.known()
	t.uint(1, &known)
	v.tags(t)
	n, kept := behindTag(old, known)
	b := appendHead([]byte{tagsVersion}, cborMap, t.pairs+n)
	return append(append(b, t.b...), kept...)
}

// behindTag returns the pairs of a value starting with a tag.
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

// decode reads a value into v. all is false if its writer did not know all of v's facts.
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

// tags writes or reads the pairs of one value. Callers must call its methods in tag
// order. When writing, a method omits zero values; when reading, it leaves its argument
// alone if the tag is missing.
type tags struct {
	writing bool
	b       []byte // output
	in      string // input; all texts share its memory
	pos     int    // position in the input
	pairs   uint64 // written, or still to be read after the current one

	tag   uint64 // of the current pair
	found bool   // there is a current pair, and its value is at pos
	pair  int    // where the current pair begins
	bad   bool   // the value is damaged
}

// open begins to read a value. It returns false if the value is not of this version.
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

// left returns the number of bytes left to read.
func (t *tags) left() uint64 { return uint64(len(t.in) - t.pos) }

// next moves to the next pair.
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

// at moves to the pair with that tag, and reports whether there is one.
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

// time is stored as ns since 1970; the zero time is omitted.
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

// numbers writes all of v, or reads as many numbers as v has.
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

// enum handles a number below 256 that has its own type.
func enum[T ~uint8](t *tags, tag uint64, v *T) {
	n := uint64(*v)
	t.uint(tag, &n)
	*v = T(n)
	t.bad = t.bad || n > 255
}
