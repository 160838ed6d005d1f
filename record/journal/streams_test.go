package journal

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/disk"
)

// writer begins a journal. read returns the records that it has by then, and how many
// segments need streams.
func writer(t *testing.T, start Start) (j *Writer, read func() ([]Record, int)) {
	t.Helper()
	files := FilesAt(filepath.Join(t.TempDir(), "tape"))
	j, err := Create(files, start, time.Now(), new(atomic.Int64), func(err error) { t.Log(err) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.Close)
	return j, func() (all []Record, needing int) {
		t.Helper()
		for _, p := range files.Segments() {
			b, err := os.ReadFile(files.Segment(p))
			if err != nil {
				t.Fatal(err)
			}
			head, off, err := decodeSegmentHead(b)
			if bytes.Contains(b[:min(len(b), pageSize)], []byte(`"needs":["streams"]`)) {
				needing++
			}
			if err != nil && !errors.Is(err, disk.ErrNewer) {
				continue // opened ahead
			}
			if head.Position != p || err != nil {
				off = pageSize
			}
			for {
				r, size, _, ok := parseHead(b[min(off, len(b)):])
				if !ok {
					break
				}
				r.Payload = b[off+recordHead : off+recordHead+size]
				all, off = append(all, r), off+recordHead+size
			}
		}
		return all, needing
	}
}

// A tape of a connection over stdio needs no more than before; with the first stream a
// segment begins that does.
func TestNeedBegins(t *testing.T) {
	j, read := writer(t, Start{})
	j.Append(wire.ClientToAgent, wire.Wire, []byte("{}\n"))
	if all, needing := read(); len(all) != 1 || needing != 0 {
		t.Fatalf("%d records, %d segments that need streams", len(all), needing)
	}
	s := j.Open(wire.HTTP{Method: "GET"})
	j.Open(wire.HTTP{Method: "GET"})
	j.EndStream(s, wire.ClientToAgent, wire.StreamEnd{})
	if all, needing := read(); len(all) != 4 || needing != 1 {
		t.Errorf("%d records, %d segments that need streams", len(all), needing)
	}
}

func TestSlots(t *testing.T) {
	j, read := writer(t, Start{Transport: "http"})
	end := func(s uint64) {
		j.EndStream(s, wire.AgentToClient, wire.StreamEnd{By: wire.ByServer})
		j.EndStream(s, wire.AgentToClient, wire.StreamEnd{By: wire.ByServer}) // told twice
		j.EndStream(s, wire.ClientToAgent, wire.StreamEnd{By: wire.ByClient})
	}
	one := j.Open(wire.HTTP{Method: "POST", Target: "/mcp"})
	two := j.Open(wire.HTTP{Method: "GET", Target: "/mcp"})
	j.AppendStream(one, wire.ClientToAgent, wire.Wire, []byte("{}"))
	j.EndStream(one, wire.ClientToAgent, wire.StreamEnd{By: wire.ByClient})
	if err := j.AppendStream(one, wire.ClientToAgent, wire.Wire, []byte("more")); err == nil {
		t.Error("bytes behind the end are taken")
	}
	three := j.Open(wire.HTTP{Method: "POST"}) // one is still open
	j.Head(one, wire.Injected, wire.HTTP{Status: 502})
	j.AppendStream(one, wire.AgentToClient, wire.Injected, []byte("no"))
	end(one)
	four := j.Open(wire.HTTP{Method: "POST"})
	end(two)
	j.Closed("idle")
	if one != 1 || two != 2 || three != 3 || four != 4 {
		t.Errorf("streams %d, %d, %d, %d", one, two, three, four)
	}
	all, _ := read()
	var got []string
	for _, r := range all {
		got = append(got, fmt.Sprint(r.Slot, " ", r.Dir, " ", r.Kind, " ", string(r.Payload)))
	}
	want := strings.TrimSpace(`
1 c2a 10 {"http":{"stream":1,"method":"POST","target":"/mcp"}}
2 c2a 10 {"http":{"stream":2,"method":"GET","target":"/mcp"}}
1 c2a 0 {}
1 c2a 10 {"ended":{"stream":1,"bytes":2,"by":"client"}}
3 c2a 10 {"http":{"stream":3,"method":"POST"}}
1 a2c 10 {"http":{"stream":1,"origin":"injected","status":502}}
1 a2c 2 no
1 a2c 10 {"ended":{"stream":1,"by":"server"}}
1 c2a 10 {"http":{"stream":4,"method":"POST"}}
2 a2c 10 {"ended":{"stream":2,"by":"server"}}
2 c2a 10 {"ended":{"stream":2,"by":"client"}}
0 a2c 7 {"closed":"idle"}`)
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// Beyond the slots there are, streams pass and are not recorded.
func TestNoSlot(t *testing.T) {
	j, read := writer(t, Start{Transport: "http"})
	j.streams.used = 1<<16 - 1
	s := j.Open(wire.HTTP{Method: "GET"})
	if err := j.AppendStream(s, wire.AgentToClient, wire.Wire, []byte("12345")); err == nil {
		t.Error("a stream without a slot is recorded")
	}
	j.EndStream(s, wire.AgentToClient, wire.StreamEnd{})
	j.EndStream(s, wire.ClientToAgent, wire.StreamEnd{})
	j.EOF(wire.AgentToClient)
	all, _ := read()
	if len(all) != 2 || all[0].Kind != KindGap || string(all[0].Payload) != `{"gap":5}` {
		t.Errorf("got %+v", all)
	}
	if len(j.streams.open) != 0 || len(j.streams.free) != 0 {
		t.Errorf("left: %+v", j.streams)
	}
}

// Whatever head a peer sends, its mark fits into a segment, shortened by the other limits.
func TestHugeHead(t *testing.T) {
	j, read := writer(t, Start{Transport: "http"})
	h := wire.HTTP{Method: "GET", Target: strings.Repeat("\x01", 1<<20)}
	for range 1000 {
		h.Headers = append(h.Headers, wire.Header{Name: "mcp-x", Value: strings.Repeat("\x01", 1<<10)})
	}
	h.Rewritten = &wire.HeadChange{Target: h.Target, Headers: h.Headers}
	j.Open(h)
	all, _ := read()
	if len(all) != 1 || len(all[0].Payload) > SegmentSize/2 {
		t.Fatalf("%d records", len(all))
	}
	m := wire.ReadMark(wire.Frame{Kind: wire.Mark, Raw: all[0].Payload})
	if m.HTTP == nil || len(m.HTTP.Headers) == 0 || len(m.HTTP.Target) < maxTarget {
		t.Errorf("got %+v", m.HTTP)
	}
}

// A process may write hundreds of tapes of connections over HTTP, so each of them opens
// its second segment late. Over stdio it is there from the start.
func TestSecondSegment(t *testing.T) {
	segments := func(start Start, n int) int {
		j, _ := writer(t, start)
		j.Append(wire.AgentToClient, wire.Wire, make([]byte, n))
		j.opening.Wait()
		j.Prepare()
		return len(j.files.Segments())
	}
	for _, tt := range []struct {
		transport string
		size      int
		want      int
	}{{"", 1, 2}, {"http", 1, 1}, {"http", sparingUntil - pageSize - 100, 1}, {"http", sparingUntil, 2}, {"ws", SegmentSize + 1, 3}} {
		if got := segments(Start{Transport: tt.transport}, tt.size); got != tt.want {
			t.Errorf("%q, %d bytes: %d segments, want %d", tt.transport, tt.size, got, tt.want)
		}
	}
}
