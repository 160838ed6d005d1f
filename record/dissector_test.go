package record

import (
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
)

// A line that is unfinished at the end of the tape has the time and the origin of its last
// bytes, even if another dissector that continued after the last block finds the end.
func TestUnfinishedLineBehindBlock(t *testing.T) {
	d := newDissector(Info{})
	r := journal.Record{Dir: wire.AgentToClient, Kind: journal.KindInjected, At: time.Second, Payload: []byte(`{"jsonrpc`)}
	if !d.record(journal.Positioned{Record: r, Next: 100}) {
		t.Fatal("the block is full")
	}
	state, err := d.state()
	if err != nil {
		t.Fatal(err)
	}
	if d, err = restoreDissector(state); err != nil {
		t.Fatal(err)
	}
	d.next()
	d.flush()
	if len(d.build.entries) != 1 || d.build.entries[0].At != time.Second || d.build.entries[0].Origin != wire.Injected {
		t.Errorf("got %+v, want a line of 1s that acptap made", d.build.entries)
	}
}
