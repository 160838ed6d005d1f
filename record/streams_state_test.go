package record

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
)

// encodedEntries are entries of blocks with all that they say.
type encodedEntries []string

// take takes the entries of the block at hand.
func (l *encodedEntries) take(d *dissector) {
	for _, e := range d.build.block(d.head()).entries {
		e.Entries = nil
		*l = append(*l, fmt.Sprintf("%+v", e))
	}
}

// resume takes the current block and returns a dissector that continues after it.
func (l *encodedEntries) resume(t testing.TB, d *dissector) *dissector {
	t.Helper()
	l.take(d)
	state, err := d.state()
	if err != nil {
		t.Fatal(err)
	}
	again, err := restoreDissector(state)
	if err != nil {
		t.Fatalf("%v: %s", err, state)
	}
	again.next()
	return again
}

// streamRecords is what FuzzRecords takes for records of streams: a head, and bytes of
// both directions, in slot 1.
var streamRecords = func() (b []byte) {
	for _, r := range []struct {
		dir  byte
		kind journal.Kind
		text string
	}{
		{0, journal.KindStream, `{"http":{"stream":1,"method":"POST"}}`},
		{0, journal.KindWire, `{"jsonrpc":"2.0","id":1,"method":"m"}`},
		{0, journal.KindStream, `{"ended":{"stream":1,"by":"client"}}`},
		{1, journal.KindStream, `{"http":{"stream":1,"status":200,"headers":[{"name":"Content-Type","value":"text/event-stream"}]}}`},
		{1, journal.KindWire, "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,"},
		{1, journal.KindWire, "\"result\":{}}\n\nid: 2\ndata:"},
		{1, journal.KindStream, `{"http":{"stream":2,"status":101,"headers":[{"name":"Upgrade","value":"websocket"}]}}`},
		{1, journal.KindWire, "\x81\x02{}\x01\x01["},
		{1, journal.KindGap, `{"gap":5}`},
		{0, journal.KindWire, "\x81\x82\x01\x02\x03\x04zz"},
	} {
		b = append(append(b, r.dir|1<<2, byte(r.kind), byte(len(r.text))), r.text...)
	}
	return b
}()

// The memory for idle streams does not add up: many may be open.
func TestIdleStreams(t *testing.T) {
	d := newDissector(Info{Start: Start{Transport: "http"}})
	take := func(slot int, dir wire.Direction, kind journal.Kind, text string) {
		d.record(journal.Positioned{Record: journal.Record{Dir: dir, Kind: kind, Slot: uint16(slot), At: time.Second, Payload: []byte(text), Offset: uint32(d.Offsets[dir])}})
	}
	const many = 1000
	for i := 1; i <= many; i++ {
		take(i, wire.ClientToAgent, journal.KindStream, fmt.Sprintf(`{"http":{"stream":%d,"method":"GET"}}`, 1_000_000+i))
		take(i, wire.ClientToAgent, journal.KindStream, fmt.Sprintf(`{"ended":{"stream":%d,"by":"client"}}`, 1_000_000+i))
		take(i, wire.AgentToClient, journal.KindStream, fmt.Sprintf(`{"http":{"stream":%d,"status":200,"headers":[{"name":"Content-Type","value":"text/event-stream"}]}}`, 1_000_000+i))
		take(i, wire.AgentToClient, journal.KindWire, "data: {}\n\n")
	}
	state, err := d.state()
	if err != nil || len(state) > many*100 {
		t.Errorf("%d bytes for %d streams: %v", len(state), many, err)
	}
}

// A state that no dissector can have come to is damage.
func TestImpossibleStreams(t *testing.T) {
	long := strings.Repeat("A", 4*(wire.MaxChecked/3+3))
	for name, state := range map[string]string{
		"none":              `[null]`,
		"no slot":           `[{"s":0,"n":1}]`,
		"a slot twice":      `[{"s":1,"n":1},{"s":1,"n":2}]`,
		"too much waits":    `[{"s":1,"n":1,"h":[{"sse":{"p":"` + long + `"}},{}]}]`,
		"less than nothing": `[{"s":1,"n":1,"h":[{"ws":{"m":{"left":-1}}},{"ws":{"Message":{"left":-1},"message":{"left":-1}}}]}]`,
	} {
		if err := new(streamSet).UnmarshalJSON([]byte(state)); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}
