package filter_test

import (
	"cmp"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// frames returns the frames of lines as they stand on a tape, 10 ms apart. A line
// begins with > from the client, < from the agent; with - or ~ behind that if it
// was withheld, or put in place of a withheld one.
func frames(lines string) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		tracker := dialect.NewTracker(dialect.AnyProtocol)
		for i, line := range strings.Split(strings.TrimSpace(lines), "\n") {
			f := wire.Frame{Seq: uint64(i + 1), At: time.Duration(i) * 10 * time.Millisecond, Raw: []byte(strings.TrimLeft(line, "><-~"))}
			if line[0] == '<' {
				f.Dir = wire.AgentToClient
			}
			switch line[1] {
			case '-':
				f.Origin = wire.Withheld
			case '~':
				f.Origin = wire.Rewritten
			}
			f.Size = int64(len(f.Raw))
			e := wire.Scan(f.Raw)
			f.Kind = e.Kind
			about, _ := tracker.Observe(&f, e)
			if !yield(dialect.Frame{Frame: f, Annotation: about}, nil) {
				return
			}
		}
	}
}

const talk = `
>{"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
<{"id":0,"result":{"protocolVersion":1}}
>{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
<{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Read it"}}}
<{"id":9,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}
>{"id":9,"result":{"outcome":{"outcome":"cancelled"}}}
<{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"}}}
<{"id":1,"result":{"stopReason":"end_turn"}}
<{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"session_info_update","title":"t"}}}
>{"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
<{"id":10,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/x"}}
`

func TestTracker(t *testing.T) {
	var tr filter.Tracker
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tr.Next(start)
	tr.LookAhead(frames(talk), true)
	var got strings.Builder
	for f := range frames(talk) {
		s := tr.Observe(&f)
		if !s.Start.Equal(start) {
			t.Errorf("frame %d: start is %v", f.Seq, s.Start)
		}
		fmt.Fprintf(&got, "%d turn %d, %v, tool %q %q, open %t, %s\n", s.Seq, s.Turn, s.Latency, s.Tool.ID, s.Tool.Title, s.Open, cmp.Or(s.Failure().String(), "no failure"))
	}
	want := `1 turn 0, 0s, tool "" "", open false, no failure
2 turn 0, 10ms, tool "" "", open false, no failure
3 turn 1, 0s, tool "" "", open false, no failure
4 turn 1, 0s, tool "c" "Read it", open false, no failure
5 turn 1, 0s, tool "c" "Read it", open false, no failure
6 turn 1, 10ms, tool "c" "Read it", open false, no failure
7 turn 1, 0s, tool "c" "Read it", open false, tool
8 turn 1, 50ms, tool "" "", open false, no failure
9 turn 0, 0s, tool "" "", open false, no failure
10 turn 2, 0s, tool "" "", open true, unanswered
11 turn 2, 0s, tool "" "", open true, unanswered
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}

	// On a further tape numbers of turns go on, and nothing is open.
	tr.Next(time.Time{})
	for f := range frames(`<{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan"}}}
>{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`) {
		s := tr.Observe(&f)
		if want := map[uint64]int{1: 0, 2: 3}[f.Seq]; s.Turn != want {
			t.Errorf("frame %d of the next tape: turn %d, want %d", f.Seq, s.Turn, want)
		}
	}
}

// Who takes a request back waits for it no more, in either protocol; whose it is
// follows from who takes it back.
func TestTrackerCancelled(t *testing.T) {
	for name, lines := range map[string]string{
		"acp": `
>{"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
<{"id":0,"result":{"protocolVersion":1}}
>{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
<{"id":1,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[]}}
<{"method":"$/cancel_request","params":{"requestId":1}}`,
		"mcp": `
>{"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
<{"id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
>{"id":1,"method":"tools/call","params":{"name":"a"}}
<{"id":1,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}
<{"method":"notifications/cancelled","params":{"requestId":1}}`,
	} {
		var tr filter.Tracker
		tr.LookAhead(frames(lines), false)
		var open []uint64
		for f := range frames(lines) {
			if s := tr.Observe(&f); s.Open {
				open = append(open, s.Seq)
			}
		}
		if fmt.Sprint(open) != "[3]" {
			t.Errorf("%s: got frames %v open, want 3", name, open)
		}
	}
}

// In version 2 prompts may be sent while others are worked on, and the end is an
// update.
func TestTrackerV2(t *testing.T) {
	var tr filter.Tracker
	var got []int
	for f := range frames(`
>{"id":0,"method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}}
<{"id":0,"result":{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{}}}
>{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
<{"id":1,"result":{}}
>{"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
<{"id":2,"result":{}}
<{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"x"}}}}
<{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"state_update","state":"idle"}}}
<{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"usage_update"}}}
>{"id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
`) {
		s := tr.Observe(&f)
		got = append(got, s.Turn)
	}
	if want := "[0 0 1 1 2 2 1 1 0 3]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// A prompt that the agent gets in another form, or later, is one turn.
func TestTrackerRewritten(t *testing.T) {
	var tr filter.Tracker
	var got []int
	for f := range frames(`
>{"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
<{"id":0,"result":{"protocolVersion":1}}
>-{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
>-{"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
>~{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
>~{"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
<{"id":1,"result":{"stopReason":"end_turn"}}
<{"id":2,"result":{"stopReason":"end_turn"}}
>{"id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
`) {
		s := tr.Observe(&f)
		got = append(got, s.Turn)
	}
	if want := "[0 0 1 2 1 2 1 2 3]"; fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// A tool call that is announced has not the title of one that had its id before.
func TestTrackerToolsAgain(t *testing.T) {
	var tr filter.Tracker
	var got []string
	for f := range frames(`
>{"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
<{"id":0,"result":{"protocolVersion":1}}
<{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"A"}}}
<{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c"}}}
<{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c"}}}
<{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c"}}}
<{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"B"}}}
`) {
		if s := tr.Observe(&f); s.Tool.ID != "" {
			got = append(got, s.Tool.Title)
		}
	}
	if want := `["A" "A" "" "" "B"]`; fmt.Sprintf("%q", got) != want {
		t.Errorf("got %q, want %s", got, want)
	}
}

// A question names its tool call in version 1, and in version 2 as its subject.
func TestToolOf(t *testing.T) {
	for params, want := range map[string]filter.Tool{
		`{"toolCall":{"toolCallId":"c","title":"Read"}}`:                                  {ID: "c", Title: "Read"},
		`{"title":"May I?","subject":{"type":"tool_call","toolCall":{"toolCallId":"c"}}}`: {ID: "c"},
		`{"title":"May I?","subject":{"type":"command","command":"ls","toolCallId":"c"}}`: {ID: "c"},
		`{"title":"May I?","subject":{"type":"command","command":"ls","terminalId":"t"}}`: {},
	} {
		for f := range frames(`<{"id":1,"method":"session/request_permission","params":` + params + "}\n") {
			if got := filter.ToolOf(&f); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: got %+v, want %+v", params, got, want)
			}
		}
	}
}

// A request is known however many have had their response since.
func TestTrackerForgets(t *testing.T) {
	var tr filter.Tracker
	see := func(f dialect.Frame) filter.Subject { return tr.Observe(&f) }
	request := func(seq uint64) dialect.Frame {
		return dialect.Frame{Frame: wire.Frame{Seq: seq, At: time.Duration(seq), Kind: wire.Request}}
	}
	response := func(seq, to uint64) dialect.Frame {
		return dialect.Frame{Frame: wire.Frame{Seq: seq, At: time.Duration(seq), Kind: wire.Response}, Annotation: dialect.Annotation{Request: to}}
	}
	see(request(1))
	for seq := uint64(2); seq < 300_000; seq += 2 {
		see(request(seq))
		if s := see(response(seq+1, seq)); s.Latency != 1 {
			t.Fatalf("latency of %d is %v", seq, s.Latency)
		}
	}
	if s := see(response(300_000, 1)); s.Latency != 299_999 {
		t.Errorf("latency of the first is %v", s.Latency)
	}
}

// A request that is recorded after the look ahead is open when it comes.
func TestTrackerMeanwhile(t *testing.T) {
	var tr filter.Tracker
	tr.LookAhead(func(yield func(dialect.Frame, error) bool) {
		for f, err := range frames(talk) {
			if f.Seq > 4 || !yield(f, err) {
				return
			}
		}
	}, false)
	var open []uint64
	for f := range frames(talk) {
		if s := tr.Observe(&f); s.Open {
			open = append(open, s.Seq)
		}
	}
	if want := "[3 5 10 11]"; fmt.Sprint(open) != want {
		t.Errorf("got frames %v open, want %s", open, want)
	}
}

// TestManySessions: a session whose turn is open keeps its number, however many other
// sessions come and go before the limit is reached again.
func TestManySessions(t *testing.T) {
	var tr filter.Tracker
	seq := uint64(0)
	turn := func(session string, events dialect.Events) int {
		seq++
		f := dialect.Frame{Frame: wire.Frame{Seq: seq}, Annotation: dialect.Annotation{Session: session, Events: events}}
		s := tr.Observe(&f)
		return s.Turn
	}
	for want := 1; want <= 3; want++ {
		if got := turn("s", dialect.TurnBegan); got != want {
			t.Fatalf("a prompt begins turn %d, want %d", got, want)
		}
		for i := range 60_000 {
			turn(fmt.Sprint(want, "-", i), dialect.TurnBegan)
		}
	}
	if got := turn("s", 0); got != 1 { // of several open turns, the first
		t.Errorf("a frame is in turn %d, want 1", got)
	}
}
