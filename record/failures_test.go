package record

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/journal"
)

// unhappy is a connection on which everything fails once. A line is the second in
// which it crosses, > or <, and the frame or the mark.
const unhappy = `
0 > {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}
0 < {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
1 > {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
1 < {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
2 > {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
2 < {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"a","title":"t"}}}
3 < {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"failed"}}}
3 < {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"failed"}}}
3 < {"jsonrpc":"2.0","id":0,"method":"session/request_permission","params":{"sessionId":"s","options":[{"optionId":"x","kind":"reject_once"}]}}
60 > {"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"x"}}}
75 < {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"late"}}}}
75 < panic: no JSON
76 < {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no"}}
77 > {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
77 < {"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/w/x"}}
77 > {"jsonrpc":"2.0","id":4,"method":"session/list","params":{}}
78 > {"signal":"window changed"}
79 < {"exit":{"code":2}}
`

// unhappyFailures counts the failures of unhappy by kind, and whether they count for the
// session s too.
var (
	unhappyFailures = map[string]int{"error": 1, "tool": 1, "invalid": 1, "exit": 1, "unanswered": 3}
	unhappySession  = uint64(1 + 1 + 2) // not the invalid line, the exit and session/list
)

// records returns the records of a connection in the journal.
func records(text string) (list []journal.Positioned) {
	for line := range strings.Lines(strings.TrimSpace(text)) {
		at, frame, _ := strings.Cut(strings.TrimSpace(line), " ")
		seconds, err := time.ParseDuration(at + "s")
		if err != nil {
			panic(err)
		}
		r := journal.Record{Kind: journal.KindWire, At: seconds, Payload: []byte(frame[2:] + "\n")}
		if frame[0] == '<' {
			r.Dir = wire.AgentToClient
		}
		switch m := wire.ReadMark(wire.Frame{Kind: wire.Mark, Raw: r.Payload}); {
		case m.Signal != "":
			r.Kind = journal.KindSignal
		case m.Exit != nil:
			r.Kind = journal.KindExit
		}
		list = append(list, journal.Positioned{Record: r, Next: int64(len(list) + 1)})
	}
	offsets := [wire.Directions]uint32{}
	for i := range list {
		r := &list[i]
		r.Offset = offsets[r.Dir]
		if r.Kind.IsBytes() {
			offsets[r.Dir] += uint32(len(r.Payload))
		}
	}
	return list
}

// Failures, including requests unanswered at the end, are counted the same wherever blocks
// end, and whether the proxy saw the agent's end or was killed.
func TestFailuresAreCounted(t *testing.T) {
	all := records(unhappy)
	for _, killed := range []bool{false, true} {
		want, list := 0, all
		for _, n := range unhappyFailures {
			want += n
		}
		if killed {
			list, want = all[:len(all)-1], want-1
		}
		for every := 1; every <= len(list); every++ {
			t.Run(fmt.Sprintf("killed %v, blocks of %d", killed, every), func(t *testing.T) {
				got, sessions, found := dissectIn(t, list, every)
				if got != uint64(want) {
					t.Errorf("got %d failures, want %d", got, want)
				}
				if s := sessions["s"]; s.Runs[0].Failures != unhappySession || len(sessions) != 1 {
					t.Errorf("got %+v, want one session with %d failures", sessions, unhappySession)
				}
				for kind, n := range unhappyFailures {
					if kind != "unanswered" && found[kind] != n && !(killed && kind == "exit") {
						t.Errorf("%s: found %d in the frames, want %d", kind, found[kind], n)
					}
				}
			})
		}
	}
}

// dissectIn dissects a tape in blocks of that many records, each by a separate dissector, as
// by another process.
func dissectIn(t *testing.T, list []journal.Positioned, every int) (failures uint64, sessions map[string]SessionInfo, found map[string]int) {
	t.Helper()
	d := newDissector(Info{})
	sessions, found = map[string]SessionInfo{}, map[string]int{}
	take := func() {
		mergeSessions(sessions, d.sessionChanges)
		for _, e := range d.build.entries {
			found[e.Failure().String()]++
		}
	}
	for block := range slices.Chunk(list, every) {
		for _, r := range block {
			if !d.record(r) {
				t.Fatal("a block is full")
			}
		}
		state, err := d.state()
		if err != nil {
			t.Fatal(err)
		}
		take()
		if d, err = restoreDissector(state); err != nil {
			t.Fatal(err)
		}
		d.next()
	}
	d.end(never)
	take()
	return d.info().Failures, sessions, found
}

// A tape that is still recorded has open requests, and none unanswered.
func TestOpenIsNoFailure(t *testing.T) {
	d := newDissector(Info{})
	for _, r := range records(`0 > {"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`) {
		d.record(r)
	}
	if n := d.info().Failures; n != 0 {
		t.Errorf("got %d failures, want none", n)
	}
	if d.end(never); d.info().Failures != 1 {
		t.Errorf("at the end: got %d failures, want 1", d.info().Failures)
	}
	if d.end(never); d.info().Failures != 1 {
		t.Errorf("at another end: got %d failures, want 1", d.info().Failures)
	}
}

// A tape whose facts are lost, or were written by an acptap that did not count
// failures, is counted again with what its frames tell.
func TestFailuresAreCountedAgain(t *testing.T) {
	store := OpenStore(t.TempDir())
	var text strings.Builder
	for _, r := range records(unhappy) {
		switch payload := strings.TrimSpace(string(r.Payload)); {
		case !strings.HasPrefix(payload, "{"):
			fmt.Fprintf(&text, `{"at":%v,"dir":%q,"text":%q}`+"\n", r.At.Seconds(), r.Dir, payload)
		case r.Kind != journal.KindWire:
			fmt.Fprintf(&text, `{"at":%v,"dir":%q,%s`+"\n", r.At.Seconds(), r.Dir, payload[1:])
		default:
			fmt.Fprintf(&text, `{"at":%v,"dir":%q,"frame":%s}`+"\n", r.At.Seconds(), r.Dir, payload)
		}
	}
	tape, err := store.Import(strings.NewReader(text.String()), "unhappy", nil)
	if err != nil {
		t.Fatal(err)
	}
	facts, err := storedFacts(store.tapeFile(tape))
	if err != nil {
		t.Fatal(err)
	}
	again, err := recount(store.tapeFile(tape))
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for n := range maps.Values(unhappyFailures) {
		want += n
	}
	if facts.info.Failures != uint64(want) || again.info.Failures != uint64(want) {
		t.Errorf("got %d failures, and %d counted again, want %d", facts.info.Failures, again.info.Failures, want)
	}
	if n, m := facts.sessions[0].Runs[0].Failures, again.sessions[0].Runs[0].Failures; n != unhappySession || m != n {
		t.Errorf("the session: got %d failures, and %d counted again, want %d", n, m, unhappySession)
	}
}
