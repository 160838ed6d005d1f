package record

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"github.com/acptap/acptap/record/disk"
)

// The facts of a tape and of a session, and checkpoints, are values that can grow: a byte
// with the version of the format, followed by fields in protobuf encoding, ordered by number.
// Each fact has a tag, which never changes its meaning; its field number is one higher,
// because protobuf has no field 0.
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
	t := &tags{writing: true, b: []byte{tagsVersion}}
	known := v.known()
	t.uint(1, &known)
	v.tags(t)
	return append(t.b, behindTag(old, known)...)
}

// behindTag returns the fields of a value starting with a tag, or nil if it is damaged.
func behindTag(value []byte, tag uint64) []byte {
	var t tags
	if !t.open(value) {
		return nil
	}
	for t.found && t.number <= tag {
		t.next()
	}
	kept := t.b[t.begin:]
	for t.found {
		t.next()
	}
	if t.bad {
		return nil
	}
	return kept
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
			t.next()
		}
	}
	if !ok || t.bad {
		return false, fmt.Errorf("%s: %w", v.what(), ErrDamaged)
	}
	return known >= v.known(), nil
}

// The types of fields, and the highest number of one.
const (
	numberType = 0
	bytesType  = 2

	maxNumber = 1<<29 - 1 // protobuf's limit
)

// tags writes or reads the fields of one value. Callers must call its methods in tag
// order. When writing, a method omits zero values; when reading, it leaves its argument
// alone if the tag is missing.
type tags struct {
	writing bool
	b       []byte // what is written, or read
	all     string // what is read: all texts share its memory
	pos     int    // position in b

	found  bool   // there is a current field
	begin  int    // where it begins
	number uint64 // its tag + 1
	kind   uint64
	n      uint64 // its number, or how many bytes it has, which are at pos
	bad    bool   // the value is damaged
}

// open begins to read a value. It returns false if the value is not of this version.
func (t *tags) open(value []byte) bool {
	if len(value) == 0 || value[0] != tagsVersion {
		return false
	}
	*t = tags{b: value[1:], all: string(value[1:])}
	t.next()
	return true
}

// next moves to the next field.
func (t *tags) next() {
	if t.kind == bytesType {
		t.pos += int(t.n)
	}
	t.begin = t.pos
	if t.found = t.pos < len(t.b); !t.found {
		return
	}
	last, key := t.number, t.varint()
	t.number, t.kind, t.n = key>>3, key&7, t.varint()
	t.bad = t.bad || t.number <= last || t.number > maxNumber || t.kind != numberType && t.kind != bytesType ||
		t.kind == bytesType && t.n > uint64(len(t.b)-t.pos)
	t.found = !t.bad
}

func (t *tags) varint() uint64 {
	v, n := binary.Uvarint(t.b[t.pos:])
	t.bad = t.bad || n <= 0
	t.pos += max(n, 0)
	return v
}

// at moves to the field with that tag, and reports whether there is one of that type.
func (t *tags) at(tag, kind uint64) bool {
	for t.found && t.number <= tag {
		t.next()
	}
	if !t.found || t.number != tag+1 {
		return false
	}
	t.bad = t.bad || t.kind != kind
	return t.kind == kind
}

// put begins a field with its number, or with how many bytes it has.
func (t *tags) put(tag, kind, n uint64) {
	t.b = binary.AppendUvarint(binary.AppendUvarint(t.b, (tag+1)<<3|kind), n)
}

func (t *tags) putBytes(tag uint64, s string) {
	t.put(tag, bytesType, uint64(len(s)))
	t.b = append(t.b, s...)
}

func (t *tags) uint(tag uint64, v *uint64) {
	switch {
	case t.writing && *v != 0:
		t.put(tag, numberType, *v)
	case !t.writing && t.at(tag, numberType):
		*v = t.n
	}
}

// int is stored as protobuf's sint64: small negative numbers are short too.
func (t *tags) int(tag uint64, v *int64) {
	n := uint64(*v<<1 ^ *v>>63)
	t.uint(tag, &n)
	*v = int64(n>>1) ^ -int64(n&1)
}

// float is stored as the bits of IEEE 754.
func (t *tags) float(tag uint64, v *float64) {
	n := math.Float64bits(*v)
	t.uint(tag, &n)
	*v = math.Float64frombits(n)
	t.bad = t.bad || math.IsNaN(*v)
}

func (t *tags) bool(tag uint64, v *bool) {
	n := uint64(0)
	if *v {
		n = 1
	}
	t.uint(tag, &n)
	*v = n == 1
	t.bad = t.bad || n > 1
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
	case t.writing && *v != "":
		t.putBytes(tag, *v)
	case !t.writing && t.at(tag, bytesType):
		*v = t.all[t.pos : t.pos+int(t.n)]
	}
}

// texts stores how many there are, and each after its length.
func (t *tags) texts(tag uint64, v *[]string) {
	switch {
	case t.writing && len(*v) > 0:
		list := binary.AppendUvarint(nil, uint64(len(*v)))
		for _, s := range *v {
			list = append(binary.AppendUvarint(list, uint64(len(s))), s...)
		}
		t.putBytes(tag, string(list))
	case !t.writing && t.at(tag, bytesType):
		r := varintReader{B: t.b[t.pos:][:t.n]}
		n := r.Count()
		*v = make([]string, 0, min(n, 64))
		for ; n > 0 && !r.Bad; n-- {
			size := len(r.Bytes(r.Uint()))
			end := t.pos + int(t.n) - len(r.B)
			*v = append(*v, t.all[end-size:end])
		}
		t.bad = t.bad || r.Bad || len(r.B) > 0
	}
}

// numbers stores all of v, and reads as many numbers as v has.
func (t *tags) numbers(tag uint64, v []int64) {
	switch {
	case t.writing:
		var list []byte
		for _, n := range v {
			list = binary.AppendVarint(list, n)
		}
		t.putBytes(tag, string(list))
	case t.at(tag, bytesType):
		r := varintReader{B: t.b[t.pos:][:t.n]}
		for i := 0; len(r.B) > 0; i++ {
			if n := r.Int(); i < len(v) {
				v[i] = n
			}
		}
		t.bad = t.bad || r.Bad
	}
}

// enum handles a number below 256 that has its own type.
func enum[T ~uint8](t *tags, tag uint64, v *T) {
	n := uint64(*v)
	t.uint(tag, &n)
	*v = T(n)
	t.bad = t.bad || n > 255
}
