package record

import "unicode/utf8"

// The major types of CBOR, and two of the simple values.
const (
	cborUint = iota
	cborNegative
	cborBytes
	cborText
	cborArray
	cborMap
	cborTag
	cborSimple

	cborFalse = 20
	cborTrue  = 21
)

// appendHead appends the head of an item in its shortest form.
func appendHead(b []byte, major byte, n uint64) []byte {
	major <<= 5
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n < 1<<8:
		return append(b, major|24, byte(n))
	case n < 1<<16:
		return append(b, major|25, byte(n>>8), byte(n))
	case n < 1<<32:
		return append(b, major|26, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return append(b, major|27, byte(n>>56), byte(n>>48), byte(n>>40), byte(n>>32), byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
}

func appendNumber(b []byte, n int64) []byte {
	if n < 0 {
		return appendHead(b, cborNegative, uint64(^n))
	}
	return appendHead(b, cborUint, uint64(n))
}

// appendString appends text, or bytes if s is not UTF-8: directories and arguments may be
// anything.
func appendString(b []byte, s string) []byte {
	major := byte(cborText)
	if !utf8.ValidString(s) {
		major = cborBytes
	}
	return append(appendHead(b, major, uint64(len(s))), s...)
}

// head reads the head of an item. Items of indefinite length count as damage.
func (t *tags) head() (major byte, n uint64) {
	if t.left() == 0 {
		t.bad = true
		return 0, 0
	}
	major, n = t.in[t.pos]>>5, uint64(t.in[t.pos]&31)
	t.pos++
	if n < 24 {
		return major, n
	}
	size := 1 << (n - 24)
	if n > 27 || uint64(size) > t.left() {
		t.bad = true
		return 0, 0
	}
	n = 0
	for _, c := range []byte(t.in[t.pos : t.pos+size]) {
		n = n<<8 | uint64(c)
	}
	t.pos += size
	return major, n
}

func (t *tags) number() int64 {
	major, n := t.head()
	switch {
	case n >= 1<<63, major != cborUint && major != cborNegative:
		t.bad = true
		return 0
	case major == cborNegative:
		return ^int64(n)
	}
	return int64(n)
}

func (t *tags) string() string {
	major, n := t.head()
	if major != cborText && major != cborBytes || n > t.left() {
		t.bad = true
		return ""
	}
	s := t.in[t.pos : t.pos+int(n)]
	t.pos += int(n)
	return s
}

// count reads the number of items in an array. Each item occupies a byte or more, so a
// damaged count cannot ask for more memory than there are bytes.
func (t *tags) count() int {
	major, n := t.head()
	if major != cborArray || n > t.left() {
		t.bad = true
		return 0
	}
	return int(n)
}

// maxTagDepth bounds the nesting of an unknown value.
const maxTagDepth = 8

// skip skips an item at the given depth of nesting.
func (t *tags) skip(depth int) {
	major, n := t.head()
	if t.bad || depth > maxTagDepth {
		t.bad = true
		return
	}
	switch major {
	case cborBytes, cborText:
		if n > t.left() {
			t.bad = true
			return
		}
		t.pos += int(n)
	case cborTag:
		t.skip(depth + 1)
	case cborArray, cborMap:
		if n > t.left() {
			t.bad = true
			return
		}
		if major == cborMap {
			n *= 2
		}
		for ; n > 0 && !t.bad; n-- {
			t.skip(depth + 1)
		}
	}
}
