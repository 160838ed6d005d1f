package dialect_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// Requests that are answered, cancelled, or open until the connection ends do not
// wait; of very many the older half is forgotten.
func TestWaitingRequests(t *testing.T) {
	var w dialect.WaitingRequests
	ask := func(seq uint64, origin wire.Origin, method, session string) {
		w.Observe(&dialect.Frame{Frame: wire.Frame{Seq: seq, Kind: wire.Request, Origin: origin}, Annotation: dialect.Annotation{Method: method, Session: session}})
	}
	ask(1, wire.Wire, "session/prompt", "s")
	ask(2, wire.Wire, "subscriptions/listen", "")
	ask(3, wire.Wire, "session/load", "only named")
	ask(4, wire.Wire, "tools/call", "")
	ask(5, wire.Injected, "session/prompt", "the agent's")
	ask(6, wire.Rewritten, "session/prompt", "the agent's")
	ask(7, wire.Withheld, "session/prompt", "s")
	w.Observe(&dialect.Frame{Frame: wire.Frame{Seq: 8, Kind: wire.Notification}, Annotation: dialect.Annotation{Request: 4, Events: dialect.RequestCancelled}})
	w.Observe(&dialect.Frame{Frame: wire.Frame{Seq: 9, Kind: wire.Batch}, Annotation: dialect.Annotation{Entries: []dialect.Annotation{{Request: 1}}}})
	w.Observe(&dialect.Frame{Frame: wire.Frame{Seq: 10, Kind: wire.Request, Dir: wire.AgentToClient}, Annotation: dialect.Annotation{Method: "roots/list", Events: dialect.AskedNobody}})
	if want := (dialect.WaitingRequests{{Seq: 3}, {Seq: 5}, {Seq: 7, Session: "s"}}); !slices.Equal(w, want) {
		t.Errorf("got %v, want %v", w, want)
	}
	most := 0
	for seq := range uint64(2000) {
		ask(11+seq, wire.Wire, "session/prompt", strings.Repeat("<", 1000))
		state, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		most = max(most, len(state))
	}
	if most < 1<<20 || most > 2<<20 || w[len(w)-1].Seq != 2010 {
		t.Errorf("they take %d bytes, the last is %d", most, w[len(w)-1].Seq)
	}
}

// After the client has closed its end, it is unknown whom the agent asks; on the next
// connection of the tape all requests need answers again.
func TestAskedNobody(t *testing.T) {
	track := dialect.NewTracker(dialect.AnyProtocol)
	seq := uint64(0)
	needs := func(dir wire.Direction, line string) bool {
		seq++
		f := dialect.Frame{Frame: wire.Frame{Seq: seq, Kind: wire.Request, Dir: dir, Raw: []byte(line)}}
		f.Annotation, _ = track.Observe(&f.Frame, wire.Scan(f.Raw))
		return f.NeedsAnswer()
	}
	mark := func(m wire.Marked) {
		seq++
		track.Observe(&wire.Frame{Seq: seq, Kind: wire.Mark, Dir: wire.ClientToAgent, Raw: m.JSON()}, wire.Envelope{})
	}
	const roots, list = `{"jsonrpc":"2.0","id":1,"method":"roots/list"}`, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if !needs(wire.AgentToClient, roots) || !needs(wire.ClientToAgent, list) {
		t.Error("while both are there, a request needs no answer")
	}
	mark(wire.Marked{EOF: true})
	if needs(wire.AgentToClient, roots) {
		t.Error("a request to a client that has gone needs an answer")
	}
	if !needs(wire.ClientToAgent, list) {
		t.Error("a request of the client that comes late, as on an imported tape, needs no answer")
	}
	mark(wire.Marked{Exit: &wire.Exit{}})
	if !needs(wire.AgentToClient, roots) {
		t.Error("on the next connection, a request needs no answer")
	}
}
