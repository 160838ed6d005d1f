package record

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/testdata/memtest"
)

// taggedValues are facts with each field set, and with none.
func taggedValues(t testing.TB) map[string]tagged {
	full, session := someFacts(7)
	full.Failed, full.Failures = 200, 201
	full.Lost, full.Invalid, full.Imported, full.Start.Proto = -1, math.MaxUint64, true, "acp"
	full.Rules, full.Streams, full.Closed, full.Guessed = 3, 4, "idle", true
	full.Changed = 5
	full.Start.Parent = Parent{Tape: "20260102T150405000-7k2m9p", Link: "kdjfhgas", Server: "everything", Claimed: true}
	full.Start.Transport, full.Start.Upstream = "http", "https://example.org/mcp"
	full.Start.Cwd = "/w/\xff" // a directory may be called so
	full.Exit = &wire.Exit{Code: -1, Signal: "killed", Error: "no such file", Delivered: [wire.Directions]int64{1, -2, math.MaxInt64}}
	full.Connection.Proposal, full.Connection.Hybrid = 1, true
	session.Title, session.Parent, session.Expires = strings.Repeat("title ", 60), "sess_0", "2026-01-02T15:04:05Z"
	session.Closed, session.Deleted = true, true
	worst := dialect.Outcome{How: dialect.Errored, Text: "Internal error (-32603)"}
	full.Worst, session.Runs[0].Worst, session.Runs[0].Missing = worst, worst, 2
	for what, v := range map[string]any{"tape": full, "start": full.Start, "parent": full.Start.Parent, "connection": full.Connection, "session": session, "run": session.Runs[0]} {
		fields := reflect.ValueOf(v)
		for i := range fields.NumField() {
			if name := fields.Type().Field(i).Name; fields.Field(i).IsZero() && name != "Live" && name != "Partial" && name != "Exit" && name != "Tags" && name != "Notes" {
				t.Errorf("%s: the test leaves out %s", what, name)
			}
		}
	}
	return map[string]tagged{
		"tape": &full, "no tape": &Info{}, "session": &session, "no session": &SessionInfo{Runs: make([]Run, 1)},
		"early": &Info{Start: Start{Time: time.Unix(-5, 1)}},
	}
}

// decodeLike decodes a value as one of the type of v.
func decodeLike(v tagged, value []byte) (tagged, bool, error) {
	if _, ok := v.(*Info); ok {
		i := new(Info)
		all, err := new(tags).decodeInfo(value, i)
		return i, all, err
	}
	s := new(SessionInfo)
	all, err := new(tags).decodeSession(value, s)
	return s, all, err
}

// fieldsOf returns the fields of a value, by number, as the library of protobuf reads them:
// each with its type and its bytes.
func fieldsOf(t testing.TB, value []byte) map[protowire.Number][]byte {
	t.Helper()
	fields := map[protowire.Number][]byte{}
	var last protowire.Number
	for b := value[1:]; len(b) > 0; {
		number, _, n := protowire.ConsumeField(b)
		if n < 0 || number <= last {
			t.Fatalf("field %d after %d in %x: %v", number, last, value, protowire.ParseError(n))
		}
		fields[number], b, last = b[:n], b[n:], number
	}
	return fields
}

// TagsOf returns the tags of a value: numbers and texts.
func TagsOf(t testing.TB, value []byte) map[uint64]any {
	t.Helper()
	tags := map[uint64]any{}
	for number, field := range fieldsOf(t, value) {
		_, kind, n := protowire.ConsumeTag(field)
		if tag := uint64(number - 1); kind == protowire.VarintType {
			tags[tag], _ = protowire.ConsumeVarint(field[n:])
		} else {
			text, _ := protowire.ConsumeBytes(field[n:])
			tags[tag] = string(text)
		}
	}
	return tags
}

// The stored values are protobuf, readable by another implementation, and are read back
// unchanged.
func TestTags(t *testing.T) {
	for name, v := range taggedValues(t) {
		value := encodeTags(v, nil)
		if again := WithTags(t, value, nil); !bytes.Equal(again, value) {
			t.Errorf("%s: got\n%x, want\n%x", name, value, again)
		}
		if got, all, err := decodeLike(v, value); err != nil || !all || !reflect.DeepEqual(got, v) {
			t.Errorf("%s: got\n%+v, want\n%+v: %v, %v", name, got, v, all, err)
		}
	}
}

// WithTags returns a value with other tags: numbers, texts and lists of texts.
func WithTags(t testing.TB, value []byte, change map[uint64]any) []byte {
	t.Helper()
	tags := TagsOf(t, value)
	maps.Copy(tags, change)
	b := []byte{tagsVersion}
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		number := protowire.Number(tag + 1)
		switch v := tags[tag].(type) {
		case uint64:
			b = protowire.AppendVarint(protowire.AppendTag(b, number, protowire.VarintType), v)
		case string:
			b = protowire.AppendString(protowire.AppendTag(b, number, protowire.BytesType), v)
		case []string:
			list := protowire.AppendVarint(nil, uint64(len(v)))
			for _, s := range v {
				list = protowire.AppendString(list, s)
			}
			b = protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), list)
		default:
			t.Fatalf("tag %d: %T", tag, v)
		}
	}
	return b
}

// Unknown tags are skipped, whatever they contain, and kept.
func TestUnknownTags(t *testing.T) {
	unknown := map[uint64]any{99: "text", 100: []string{"a", "b"}, 1 << 28: "\xff\x00", 101: uint64(math.MaxUint64), 102: uint64(0), 103: ""}
	for name, v := range taggedValues(t) {
		free := v.known()
		change := map[uint64]any{1: free + 1, free: uint64(5)}
		maps.Copy(change, unknown)
		newer := WithTags(t, encodeTags(v, nil), change)
		got, all, err := decodeLike(v, newer)
		if err != nil || !all || !reflect.DeepEqual(got, v) {
			t.Errorf("%s: got\n%+v, want\n%+v: %v, %v", name, got, v, all, err)
		}
		change[1] = v.known() // who writes it knows no more
		if got, want := encodeTags(v, newer), WithTags(t, newer, change); !bytes.Equal(got, want) {
			t.Errorf("%s: got\n%x, want\n%x", name, got, want)
		}
	}
	older := WithTags(t, encodeTags(&Info{Tape: "x"}, nil), map[uint64]any{1: uint64(20)})
	if _, all, err := decodeLike(&Info{}, older); all || err != nil {
		t.Errorf("of an earlier writer: all is %v, %v", all, err)
	}
}

// Values that no writer makes are damaged.
func TestDamagedTags(t *testing.T) {
	for what, fields := range map[string]string{
		"a key that is cut off":        "\x80",
		"a number that is cut off":     "\x10\x80",
		"a number of more than 64 bit": "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
		"a text that is cut off":       "\x1a\x05four",
		"a text of 2⁶⁴-1 bytes":        "\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"field 0":                      "\x00\x01",
		"a field twice":                "\x1a\x01a\x1a\x01a",
		"fields out of order":          "\x1a\x01a\x10\x01",
		"a text for a number":          "\x12\x01a",
		"a number for a text":          "\x18\x01",
		"a type that is not used here": "\x1d\x01\x02\x03\x04",
		"2 for true":                   "\xa0\x01\x02",
		"256 for a protocol":           "\xe0\x01\x80\x02",
		"fewer texts than said":        "\x2a\x03\x02\x01a",
		"more texts than said":         "\x2a\x05\x01\x01a\x01a",
	} {
		if _, _, err := decodeLike(&Info{}, []byte("\x01"+fields)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: got %v, want %v", what, err, ErrDamaged)
		}
	}
}

// An unknown need of a value is named in the error, whatever its other tags are.
func TestNeedsOfTags(t *testing.T) {
	for name, v := range taggedValues(t) {
		value := encodeTags(v, nil)
		for _, change := range []map[uint64]any{
			{0: []string{"tunnels"}},
			{0: []string{"rules", "tunnels"}, 2: uint64(17)},
		} {
			_, _, err := decodeLike(v, WithTags(t, value, change))
			if want := v.what() + ` needs "tunnels": written by a newer acptap; update acptap to read it`; !errors.Is(err, ErrNewer) || err.Error() != want {
				t.Errorf("%s: got %v, want %s", name, err, want)
			}
		}
		if _, _, err := decodeLike(v, WithTags(t, value, map[uint64]any{0: []string{"rules"}})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		value[0] = 9
		if _, _, err := decodeLike(v, value); !errors.Is(err, ErrNewer) {
			t.Errorf("%s in version 9: %v", name, err)
		}
	}
}

// FuzzTags reads any bytes that stand where facts should, in all forms. What can be
// read is written and read as the same again, and so can another implementation.
func FuzzTags(f *testing.F) {
	for _, v := range taggedValues(f) {
		f.Add(encodeTags(v, nil))
		f.Add(WithTags(f, encodeTags(v, nil), map[uint64]any{99: []string{"x"}}))
	}
	f.Add([]byte("\x01\x2a\x06\xff\xff\xff\xff\xff\x01"))
	f.Add([]byte("\x01\x0120260102T150405000\x00\xff\xff\xff\xff\x0f"))
	f.Fuzz(func(t *testing.T, value []byte) {
		memtest.Bound(t, func() { checkTags(t, value) })
	})
}

// checkTags reads a value in all ways.
func checkTags(t *testing.T, value []byte) {
	for _, like := range []tagged{&Info{}, &SessionInfo{}} {
		v, _, err := decodeLike(like, value)
		if err != nil {
			continue
		}
		var fields map[protowire.Number][]byte
		if value[0] == tagsVersion {
			fields = fieldsOf(t, value)
		}
		again := encodeTags(v, value)
		if got, all, err := decodeLike(like, again); err != nil || !all || !reflect.DeepEqual(got, v) {
			t.Errorf("got\n%+v, %v, %v, want\n%+v", got, all, err, v)
		}
		kept := fieldsOf(t, again)
		for number, field := range fields {
			if uint64(number) > v.known() && !bytes.Equal(kept[number], field) {
				t.Errorf("field %d: got %x, want %x", number, kept[number], field)
			}
		}
	}
}
