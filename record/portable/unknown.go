package portable

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// unknownFields reports each meaningless member of the header and of the lines of a
// portable file once.
type unknownFields struct {
	name   string // of the file
	note   func(string)
	header []string // members of a header
	known  []string // members of a line
	stream []string // members of a line of a stream
	told   map[string]bool
}

func newUnknownFields(name string, note func(string)) *unknownFields {
	known := append([]string{"seq", "at", "dir", "origin", "end", "notes", "frame", "text", "base64"}, members(reflect.TypeFor[wire.Marked]())...)
	return &unknownFields{
		name:   name,
		note:   note,
		header: members(reflect.TypeFor[header]()),
		known:  known,
		stream: slices.Concat(known, framingMembers),
		told:   map[string]bool{},
	}
}

// members returns the JSON names of the fields of a struct.
func members(t reflect.Type) (names []string) {
	for _, f := range reflect.VisibleFields(t) {
		member, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, member)
	}
	return names
}

// maxTold limits the names reported per file.
const maxTold = 8

// see checks the members of a line, which is JSON.
func (u *unknownFields) see(n int, line []byte) {
	known := u.known
	if wire.ValueAt(line, "stream").Exists() {
		known = u.stream
	}
	u.each(line, known, func(member string) {
		u.note(fmt.Sprintf("%s:%d: %.40q means nothing in a line and is left out; did you mean %q?", u.name, n, member, u.nearest(member)))
	})
}

// seeHeader checks the members of a header.
func (u *unknownFields) seeHeader(n int, header []byte) {
	u.each(header, u.header, func(member string) {
		u.note(fmt.Sprintf("%s:%d: %.40q means nothing in a header and is left out; there are %s", u.name, n, member, strings.Join(u.header, ", ")))
	})
}

// each calls tell with the members of an object that are unknown and not yet reported.
func (u *unknownFields) each(object []byte, known []string, tell func(member string)) {
	wire.ValueOf(object).ForEach(func(key, _ wire.Value) bool {
		if slices.Contains(known, key.Text()) || u.told[key.Text()] || len(u.told) == maxTold {
			return true
		}
		u.told[key.Text()] = true
		tell(key.Text())
		return true
	})
}

// nearest returns the member that is probably meant: one that other tools call so, or the
// one with the most similar spelling.
func (u *unknownFields) nearest(name string) string {
	switch strings.ToLower(name) {
	case "t", "ts", "time", "timestamp":
		return "at"
	case "n", "id", "number", "index":
		return "seq"
	case "direction", "from", "side":
		return "dir"
	case "message", "msg", "raw", "payload", "data", "body", "json":
		return "frame"
	}
	return slices.MinFunc(u.stream, func(a, b string) int { return termtext.Distance(name, a) - termtext.Distance(name, b) })
}
