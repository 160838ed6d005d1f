package dialect_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// TestIDKey: the same value has the same key, however it is written.
func TestIDKey(t *testing.T) {
	for _, tt := range []struct {
		id, other string
		same      bool
	}{
		{`2.0`, `2`, true},
		{`2e0`, `2`, true},
		{`2.5`, `2`, false},
		{`9007199254740993.0`, `9007199254740992`, false},
		{`"a\/b"`, `"a/b"`, true},
		{`"\u00e9"`, `"é"`, true},
		{`"2.0"`, `"2"`, false},
		{`"2"`, `2`, false},
		{`"\u0032"`, `2`, false},
		{`"a\`, `"a`, false},
		{`null`, `"null"`, false},
	} {
		a, b := dialect.IDKey([]byte(tt.id)), dialect.IDKey([]byte(tt.other))
		if got := a == b; got != tt.same {
			t.Errorf("%s and %s: the same %v, want %v", tt.id, tt.other, got, tt.same)
		}
	}
}

func TestOpenRequests(t *testing.T) {
	const c, a = wire.ClientToAgent, wire.AgentToClient
	long := `"` + strings.Repeat("x", 1000)
	var open dialect.OpenRequests[string]
	open.Ask(c, 0, []byte(`1`), "client's 1")
	open.Ask(a, 0, []byte(`1`), "agent's 1")
	open.Ask(c, 0, []byte(`"1"`), "client's text 1")
	open.Ask(c, 0, []byte(long+`1"`), "long 1")
	open.Ask(c, 0, []byte(long+`2"`), "long 2")
	if got := slices.Collect(open.All()); len(got) != 5 || got[0] != "client's 1" || got[4] != "long 2" {
		t.Errorf("all: got %q", got)
	}
	for _, tt := range []struct {
		dir  wire.Direction // of the response
		id   string
		want string
	}{
		{c, `1`, "agent's 1"},
		{c, `1`, ""},
		{c, `"1"`, ""},
		{a, long + `2"`, "long 2"},
		{a, `"1"`, "client's text 1"},
		{a, `1`, "client's 1"},
		{a, long + `1"`, "long 1"},
	} {
		if got := open.Answer(tt.dir, 0, []byte(tt.id)); got != tt.want {
			t.Errorf("%v %.20s: got %q, want %q", tt.dir, tt.id, got, tt.want)
		}
	}
}

// Two clients over HTTP may use the same id at once.
func TestOpenRequestsOnStreams(t *testing.T) {
	const c, a = wire.ClientToAgent, wire.AgentToClient
	id := []byte(`1`)
	for _, tt := range []struct {
		name      string
		asked, by []uint64 // streams of the requests with one id, and of their answers
		want      string   // the streams that are answered; 0: no request
	}{
		{"each on its own", []uint64{3, 4, 5}, []uint64{4, 3, 5}, "4 3 5"},
		{"elsewhere: the newest first", []uint64{3, 4, 5}, []uint64{9, 9, 9, 9}, "5 4 3 0"},
		{"elsewhere, when the newest is answered", []uint64{3, 4, 5}, []uint64{5, 9, 3}, "5 4 3"},
		{"the middle one", []uint64{3, 4, 5}, []uint64{4, 9, 9}, "4 5 3"},
		{"asked again, and so the newest", []uint64{3, 4, 3}, []uint64{9, 9, 9}, "3 4 0"},
		{"not of HTTP: stream 0", []uint64{100}, []uint64{9, 9}, "100 0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var open dialect.OpenRequests[uint64]
			for i, stream := range tt.asked {
				replaced, forgotten := open.Ask(c, stream%100, id, stream)
				if again := slices.Contains(tt.asked[:i], stream); (replaced == stream) != again || forgotten != 0 {
					t.Errorf("on stream %d: %d replaced, %d forgotten", stream, replaced, forgotten)
				}
			}
			open.Ask(a, 9, id, 77) // of the other side
			var got []string
			for _, stream := range tt.by {
				found := open.Find(c, stream, id)
				if v := open.Answer(a, stream, id); v != found {
					t.Errorf("on stream %d: found %d, answered %d", stream, found, v)
				}
				got = append(got, strconv.FormatUint(found, 10))
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// A forgotten request leaves nothing behind that another stream would find.
func TestOpenRequestsOnStreamsForget(t *testing.T) {
	const c, a = wire.ClientToAgent, wire.AgentToClient
	open := dialect.OpenRequests[int]{Limit: 2}
	for stream := 1; stream <= 3; stream++ {
		if _, forgotten := open.Ask(c, uint64(stream), []byte(`1`), stream); forgotten != stream/3 {
			t.Errorf("stream %d: %d forgotten", stream, forgotten)
		}
	}
	if got := slices.Collect(open.All()); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("all: got %v", got)
	}
	for _, want := range []int{3, 2, 0} {
		if got := open.Answer(a, 1, []byte(`1`)); got != want {
			t.Errorf("got %d, want %d", got, want)
		}
	}
}

// BenchmarkOpenRequests measures a request and its answer, while 8 others are open.
func BenchmarkOpenRequests(b *testing.B) {
	for _, tt := range []struct {
		name    string
		streams uint64
	}{{"stdio", 0}, {"http", 1}} {
		b.Run(tt.name, func(b *testing.B) {
			var open dialect.OpenRequests[int]
			var ids [9][]byte
			for i := range ids {
				ids[i] = strconv.AppendInt(nil, int64(i), 10)
				open.Ask(wire.ClientToAgent, uint64(i)*tt.streams, ids[i], i+1)
			}
			b.ReportAllocs()
			for n := 9; b.Loop(); n++ {
				open.Ask(wire.ClientToAgent, uint64(n)*tt.streams, ids[n%9], n)
				if open.Answer(wire.AgentToClient, uint64(n)*tt.streams, ids[n%9]) != n {
					b.Fatal("another answered")
				}
			}
		})
	}
}

// A request takes the place of one with its id; beyond the bound it takes that of
// the oldest.
func TestOpenRequestsForget(t *testing.T) {
	var open dialect.OpenRequests[int]
	const most = 1 << 16
	for n := 1; n <= most; n++ {
		if replaced, forgotten := open.Ask(wire.ClientToAgent, 0, strconv.AppendInt(nil, int64(n), 10), n); replaced != 0 || forgotten != 0 {
			t.Fatalf("request %d: got %d replaced, %d forgotten", n, replaced, forgotten)
		}
	}
	if replaced, forgotten := open.Ask(wire.ClientToAgent, 0, []byte("1"), -1); replaced != 1 || forgotten != 0 {
		t.Errorf("the same id: got %d replaced, %d forgotten", replaced, forgotten)
	}
	if replaced, forgotten := open.Ask(wire.ClientToAgent, 0, []byte("0"), -2); replaced != 0 || forgotten != 2 {
		t.Errorf("one too many: got %d replaced, %d forgotten", replaced, forgotten)
	}
	if got := open.Find(wire.ClientToAgent, 0, []byte("1")); got != -1 {
		t.Errorf("the newer: got %d", got)
	}
}
