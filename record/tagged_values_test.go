package record

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

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
	worst := dialect.Outcome{How: dialect.Errored, Text: "-32603 Internal error"}
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

// What is stored is CBOR in its deterministic form, as another implementation has
// it, and is read as it was.
func TestTags(t *testing.T) {
	enc, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range taggedValues(t) {
		value := encodeTags(v, nil)
		var tags map[uint64]any
		if err := cbor.Unmarshal(value[1:], &tags); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again, err := enc.Marshal(tags); err != nil || !bytes.Equal(again, value[1:]) {
			t.Errorf("%s: got\n%x, want\n%x: %v", name, value[1:], again, err)
		}
		if got, all, err := decodeLike(v, value); err != nil || !all || !reflect.DeepEqual(got, v) {
			t.Errorf("%s: got\n%+v, want\n%+v: %v, %v", name, got, v, all, err)
		}
	}
}

// WithTags returns a value with other tags.
func WithTags(t testing.TB, value []byte, change map[uint64]any) []byte {
	t.Helper()
	var tags map[uint64]any
	if err := cbor.Unmarshal(value[1:], &tags); err != nil {
		t.Fatal(err)
	}
	for tag, v := range change {
		tags[tag] = v
	}
	enc, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		t.Fatal(err)
	}
	b, err := enc.Marshal(tags)
	if err != nil {
		t.Fatal(err)
	}
	return append([]byte{tagsVersion}, b...)
}

// Tags that nobody knows here are passed over, whatever they are, and kept.
func TestUnknownTags(t *testing.T) {
	unknown := map[uint64]any{
		99: "text", 100: []any{1, []string{"a", "b"}, map[string]any{"x": -1.5}}, 1 << 40: cbor.Tag{Number: 1, Content: 7},
		101: []byte{1}, 102: nil, 103: true, 104: -1,
	}
	for name, v := range taggedValues(t) {
		free := v.known()
		change := map[uint64]any{1: free + 1, free: uint64(5)}
		for tag, u := range unknown {
			change[tag] = u
		}
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

// What a value needs is refused by its name, whatever became of the other tags.
func TestNeedsOfTags(t *testing.T) {
	for name, v := range taggedValues(t) {
		value := encodeTags(v, nil)
		for _, change := range []map[uint64]any{
			{0: []string{"tunnels"}},
			{0: []string{"rules", "tunnels"}, 2: 17},
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
		f.Add(WithTags(f, encodeTags(v, nil), map[uint64]any{99: []any{"x"}}))
	}
	f.Add([]byte("\x01\xbb\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte("\x01\xa1\x04\x9b\x00\x00\x00\x00\xff\xff\xff\xff"))
	f.Add([]byte("\x01\xa1\x18\x63" + strings.Repeat("\x81", 1000)))
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
		var tags map[uint64]cbor.RawMessage
		if value[0] == tagsVersion {
			if err := cbor.Wellformed(value[1:]); err != nil {
				t.Errorf("another implementation: %v", err)
			}
			cbor.Unmarshal(value[1:], &tags) // none where it minds what is passed over here
		}
		again := encodeTags(v, value)
		if got, all, err := decodeLike(like, again); err != nil || !all || !reflect.DeepEqual(got, v) {
			t.Errorf("got\n%+v, %v, %v, want\n%+v", got, all, err, v)
		}
		for tag, raw := range tags {
			var kept map[uint64]cbor.RawMessage
			if tag < v.known() {
				continue
			}
			if err := cbor.Unmarshal(again[1:], &kept); err != nil || !bytes.Equal(kept[tag], raw) {
				t.Errorf("tag %d: got %x, want %x: %v", tag, kept[tag], raw, err)
			}
		}
	}
}
