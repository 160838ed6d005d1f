package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
)

// FuzzMarkJSON: a mark is written as encoding/json would write it.
func FuzzMarkJSON(f *testing.F) {
	f.Add(uint64(1), 200, int64(3), "GET", "a\"b<c>&é\u2028\x00\xff", true, uint8(0), uint8(7))
	f.Add(uint64(0), 0, int64(0), "", "", false, uint8(0), uint8(0))
	f.Add(uint64(70000), -1, int64(-1), "x", "", true, uint8(2), uint8(15))
	f.Add(uint64(1), 2, int64(1), "x", "y", false, uint8(1), uint8(6))
	f.Fuzz(func(t *testing.T, stream uint64, number int, bytes int64, a, b string, yes bool, origin, parts uint8) {
		headers := []wire.Header{{Name: a, Value: b}, {Name: b, Length: number, Scheme: a, Cookies: []string{a, b}, Fingerprint: b}}[:parts&3%3]
		h := &wire.HTTP{
			Stream: stream, Origin: wire.Origin(origin), Method: a, Target: b, Protocol: a, Guessed: yes, Status: number, Headers: headers,
		}
		if parts&4 != 0 {
			h.Rewritten = &wire.HeadChange{Headers: headers}
		}
		if parts&8 != 0 {
			h.Rewritten = &wire.HeadChange{Target: b, Status: number, Removed: []string{a, b}}
		}
		for _, m := range []wire.Marked{
			{HTTP: h},
			{End: &wire.StreamEnd{Stream: stream, Bytes: bytes, By: wire.Peer(a), Error: b, Trailers: headers}},
			{Closed: b},
		} {
			want, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if got := m.JSON(); string(got) != string(want) {
				t.Errorf("got\n%s, want\n%s", got, want)
			}
		}
	})
}
