package record

import (
	"bytes"
	"reflect"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
	"github.com/acptap/acptap/record/testdata/memtest"
)

// FuzzState restores a block's state from any bytes: they are rejected as damage, or
// dissecting continues.
func FuzzState(f *testing.F) {
	d := newDissector(Info{Tape: "20260102T150405000-aaaaaa"})
	d.record(journal.Positioned{Record: journal.Record{Dir: wire.AgentToClient, Kind: journal.KindInjected, Payload: []byte(`{"jsonrpc":"2.0","id":1,"method":"initialize"}` + "\n{")}, Next: 4200})
	state, err := d.state()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(state, []byte("\"a\":1}\n{}\n"))
	for _, odd := range [][2]string{
		{`"Taken":0`, `"Taken":-5`}, {`"Seq":2`, `"Seq":18446744073709551615`}, {`"Position":4200`, `"Position":-4096`},
		{`"Index":0`, `"Index":-2`}, {`"Long":[null,null,null]`, `"Long":[{"Began":7,"Size":-3},{},{}]`}, {`"Offsets":[0,`, `"Offsets":[-9,`},
	} {
		if changed := bytes.Replace(state, []byte(odd[0]), []byte(odd[1]), 1); !bytes.Equal(changed, state) {
			f.Add(changed, []byte("{}\n"))
		} else {
			f.Fatalf("no %s in %s", odd[0], state)
		}
	}
	f.Fuzz(func(t *testing.T, state, payload []byte) {
		memtest.Bound(t, func() {
			d, err := restoreDissector(state)
			if err != nil {
				return
			}
			for dir := range wire.Directions {
				r := journal.Positioned{Record: journal.Record{Dir: dir, At: time.Second, Payload: payload}, Next: d.Position + 100}
				for !d.record(r) {
					d.next()
				}
			}
			d.flush()
			var c codec
			if _, err := d.state(); err != nil {
				t.Error(err)
			}
			c.encode(blockHead{Tape: d.Info.Tape, First: d.first, Index: d.Index}, &d.build, nil)
		})
	})
}

// FuzzRecords dissects records with valid checksums and any content. A dissector that is
// stopped and restored at each record gives the same result.
func FuzzRecords(f *testing.F) {
	f.Add(streamRecords)
	f.Add([]byte("\x01\x00\x05{}\n[]\x01\x04\x09{\"gap\":7}"))
	f.Add([]byte("\x00\x07\x22{\"exit\":{\"code\":3,\"signal\":\"killed\"}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		memtest.Bound(t, func() {
			d, stopped := newDissector(Info{}), newDissector(Info{})
			var given encodedEntries
			last := uint64(0)
			for at := int64(1); len(data) >= 3; at++ {
				size := min(int(data[2]), len(data)-3)
				r := journal.Record{
					Dir: wire.Direction(data[0]&3) % wire.Directions, Kind: journal.Kind(data[1]) % 16, Slot: uint16(data[0] >> 2 & 3),
					At: time.Duration(at), Offset: uint32(data[0]>>4) << 20, Payload: data[3 : 3+size],
				}
				for _, d := range []*dissector{d, stopped} {
					for !d.record(journal.Positioned{Record: r, Next: at, Skipped: int64(data[1] >> 4)}) {
						t.Fatal("a block is full")
					}
				}
				if stopped = given.resume(t, stopped); d.Streams != nil && d.Streams.Len() > 3 {
					t.Fatalf("%d streams in 3 slots", d.Streams.Len())
				}
				data = data[3+size:]
			}
			d.end(never)
			stopped.end(never)
			given.take(stopped)
			var whole encodedEntries
			if whole.take(d); !reflect.DeepEqual(given, whole) {
				t.Errorf("stopped at each record: got\n%q, want\n%q", given, whole)
			}
			for _, e := range d.build.entries {
				if e.Seq < last {
					t.Fatalf("frame %d behind frame %d", e.Seq, last)
				}
				last = e.Seq
			}
		})
	})
}
