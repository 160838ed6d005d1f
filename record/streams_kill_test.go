//go:build linux

package record_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// relayStreams is how many streams of events relayRole has at once.
const relayStreams = 16

// relayEvent returns the n-th event of a stream.
func relayEvent(stream, n int) []byte {
	return fmt.Appendf(nil, "id: %d-%d\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"text\":\"%0*d\"}}\n\n", stream, n, 1+n*37%900, n)
}

// relayRole records streams of events into the store args[0] until it is killed. It prints
// the tape's id, and then the stream of each recorded event, as if a client had received it.
func relayRole(args []string) error {
	store := record.OpenStore(args[0])
	j, err := store.Record(record.Start{Transport: "http"})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintln(out, j.Tape())
	for i := range relayStreams {
		s := j.Open(wire.HTTP{Method: "GET"})
		if s != uint64(i+1) {
			return fmt.Errorf("stream %d is %d", i+1, s)
		}
		j.Head(s, wire.Wire, answer(200, "text/event-stream"))
	}
	for n := 0; ; n++ {
		for i := range relayStreams {
			if err := j.AppendStream(uint64(i+1), wire.AgentToClient, wire.Wire, relayEvent(i+1, n)); err != nil {
				return err
			}
			fmt.Fprintln(out, i+1)
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
}

// A relay that is killed has written all that its clients have got.
func TestKilledRelay(t *testing.T) {
	for round := range 4 {
		store := record.OpenStore(t.TempDir())
		p := play(t, "relay", store.Dir())
		tape := p.line(t)
		var got [relayStreams + 1]int
		take := func(line string) {
			var stream int
			if _, err := fmt.Sscan(line, &stream); err == nil && 0 < stream && stream <= relayStreams {
				got[stream]++
			}
		}
		for range 1000 + round*2500 {
			take(p.line(t))
		}
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for p.lines.Scan() {
			take(p.lines.Text())
		}
		p.Wait()
		sealAll(t, store)
		opened := open(t, store, tape)
		for stream := 1; stream <= relayStreams; stream++ {
			var b bytes.Buffer
			if err := opened.WriteStream(&b, uint64(stream), wire.AgentToClient); err != nil {
				t.Fatal(err)
			}
			var want []byte
			for n := 0; n < got[stream] || len(want) < b.Len(); n++ {
				want = append(want, relayEvent(stream, n)...)
			}
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("stream %d: %d bytes on the tape, %d events reached its client", stream, b.Len(), got[stream])
			}
		}
		if info, err := opened.Info(); err != nil || info.Lost != 0 || !info.Complete || info.Closed != "" {
			t.Errorf("got %+v, %v", info, err)
		}
	}
}
