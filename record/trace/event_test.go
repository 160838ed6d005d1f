package trace_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/linediff"
	"github.com/acptap/acptap/record/trace"
)

// eventsOf traces tapes one after the other and returns all events.
func eventsOf(tb testing.TB, t *trace.Trace, tapes ...string) []trace.Event {
	tb.Helper()
	var all []trace.Event
	for _, text := range tapes {
		t.Next(dialect.Connection{})
		all = append(all, t.Events()...)
		for _, f := range tape(tb, text) {
			t.Add(&f)
			all = append(all, t.Events()...)
		}
	}
	t.End()
	return append(all, t.Events()...)
}

// line formats what a test looks at.
func line(e trace.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %s", e.Seq, e.Kind, e.Phase)
	for _, word := range []string{e.Method, e.ID, e.Reason, e.End.String()} {
		if word != "" {
			fmt.Fprintf(&b, " %s", word)
		}
	}
	if e.Phase != trace.Began {
		fmt.Fprintf(&b, " since %d", e.First)
	}
	if e.InTurn != 0 {
		fmt.Fprintf(&b, " turn %d", e.InTurn)
	}
	for _, flag := range []struct {
		is   bool
		word string
	}{{e.Cancelled, " asked to end"}, {e.Repeated, " repeated"}} {
		if flag.is {
			b.WriteString(flag.word)
		}
	}
	return b.String()
}

func lines(events []trace.Event) string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString(line(e) + "\n")
	}
	return b.String()
}

func TestEvents(t *testing.T) {
	const toolCall = `"sessionUpdate":"tool_call","toolCallId":"c","title":"T"`
	patch := func(status string) string {
		return update(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"` + status + `"`)
	}
	for _, tt := range []struct{ name, lines, want string }{
		{"turn with a tool call and a permission", v1 + prompt("2", "hi") + said("a") +
			update(toolCall) + patch("in_progress") + ask("7", `"toolCall":{"toolCallId":"c"}`) + answer("7", chose) + patch("completed") + reply("2", ended), `
			1 connection began
			1 connection changed since 1
			1 call began initialize 0
			2 connection changed since 1
			2 call ended initialize 0 completed since 1
			3 call began session/new 1
			4 session began
			4 session changed session/new since 4
			4 call ended session/new 1 completed since 3
			5 call began session/prompt 2
			5 turn began turn 1
			6 turn changed since 5 turn 1
			7 tool call began c pending turn 1
			8 tool call changed c in_progress since 7 turn 1
			9 call began session/request_permission 7 turn 1
			9 permission began turn 1
			10 permission ended selected completed since 9 turn 1
			10 call ended session/request_permission 7 completed since 9 turn 1
			11 tool call ended c completed completed since 7 turn 1
			12 turn ended end_turn completed since 5 turn 1
			12 call ended session/prompt 2 completed since 5
			12 session ended still open since 4
			12 connection ended still open since 1`},
		{"failure, cancellation, what the turn leaves, and a late end", v1 + prompt("2", "hi") + update(toolCall) +
			`> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}` + "\n" +
			`< {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"aborted"}}` + "\n" + patch("failed"), `
			5 call began session/prompt 2
			5 turn began turn 1
			6 turn changed since 5 turn 1
			6 tool call began c pending turn 1
			7 turn changed since 5 turn 1 asked to end
			7 call changed session/prompt 2 since 5 asked to end
			8 tool call ended c pending unfinished since 6 turn 1 asked to end
			8 turn ended -32603 failed since 5 turn 1 asked to end
			8 call ended session/prompt 2 -32603 failed since 5 asked to end
			9 tool call ended c failed cancelled since 6 turn 1 asked to end
			9 session ended still open since 4
			9 connection ended still open since 1`},
		{"a tool call that goes on in an overlapping turn", v1 + prompt("2", "hi") + update(toolCall) + prompt("3", "ho") + reply("2", ended) + patch("completed") + reply("3", ended), `
			5 call began session/prompt 2
			5 turn began turn 1
			6 turn changed since 5 turn 1
			6 tool call began c pending turn 1
			7 call began session/prompt 3
			7 turn began turn 2
			8 turn ended end_turn completed since 5 turn 1
			8 call ended session/prompt 2 completed since 5
			9 turn changed since 7 turn 2
			9 tool call ended c completed completed since 6 turn 1
			10 turn ended end_turn completed since 7 turn 2
			10 call ended session/prompt 3 completed since 7
			10 session ended still open since 4
			10 connection ended still open since 1`},
		{"a tool call that overlapping turns leave", v1 + prompt("2", "hi") + prompt("3", "ho") + update(toolCall) + reply("3", ended) + reply("2", ended), `
			5 call began session/prompt 2
			5 turn began turn 1
			6 call began session/prompt 3
			6 turn began turn 2
			7 turn changed since 5 turn 1
			7 tool call began c pending turn 1
			8 turn ended end_turn completed since 6 turn 2
			8 call ended session/prompt 3 completed since 6
			9 tool call ended c pending unfinished since 7 turn 1
			9 turn ended end_turn completed since 5 turn 1
			9 call ended session/prompt 2 completed since 5
			9 session ended still open since 4
			9 connection ended still open since 1`},
		{"still open, and an id that is used again", v1 + prompt("2", "hi") + update(toolCall) + ask("7", `"toolCall":{"toolCallId":"c"}`) +
			`> {"jsonrpc":"2.0","id":2,"method":"x","params":{}}`, `
			5 call began session/prompt 2
			5 turn began turn 1
			6 turn changed since 5 turn 1
			6 tool call began c pending turn 1
			7 call began session/request_permission 7 turn 1
			7 permission began turn 1
			8 call ended session/prompt 2 replaced since 5
			8 call began x 2
			8 permission ended still open since 7 turn 1
			8 call ended session/request_permission 7 still open since 7 turn 1
			8 call ended x 2 still open since 8
			8 tool call ended c pending still open since 6 turn 1
			8 turn ended still open since 5 turn 1
			8 session ended still open since 4
			8 connection ended still open since 1`},
		{"closed, and opened again", v1 + `
			> {"id":2,"method":"session/close","params":{"sessionId":"s"}}
			< {"id":2,"result":{}}
			> {"id":3,"method":"session/resume","params":{"sessionId":"s","cwd":"/w"}}
			< {"id":3,"result":{}}`, `
			5 call began session/close 2
			6 session ended session/close completed since 4
			6 call ended session/close 2 completed since 5
			7 call began session/resume 3
			8 session began
			8 session changed session/resume since 8
			8 call ended session/resume 3 completed since 7
			8 session ended still open since 8
			8 connection ended still open since 1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := lines(eventsOf(t, new(trace.Trace), tt.lines))
			if i := strings.Index(got, "5 "); i >= 0 && !strings.HasPrefix(strings.TrimSpace(tt.want), "1 ") {
				got = got[strings.Index(got, "\n5 ")+1:]
			}
			check(t, got, strings.ReplaceAll(strings.TrimSpace(tt.want), "\t", "")+"\n")
		})
	}
}

// A thing is what events said about a call, turn, tool call or permission.
type thing struct {
	kind         trace.Kind
	run          int
	first, ended uint64
	session, id  string
	reason       string
	cancelled    bool
}

// fold returns what events say, in the order in which it began.
func fold(t *testing.T, events []trace.Event) []thing {
	t.Helper()
	type key struct {
		kind  trace.Kind
		run   int
		first uint64
		entry int
	}
	var all []thing
	at := map[key]int{}
	for _, e := range events {
		if e.Kind == trace.ConnectionEvent || e.Kind == trace.SessionEvent {
			continue
		}
		k := key{e.Kind, e.Run, e.First, e.Entry}
		i, ok := at[k]
		if ok == (e.Phase == trace.Began) {
			t.Errorf("%s: begun before: %v", line(e), ok)
		}
		if !ok {
			i, at[k] = len(all), len(all)
			all = append(all, thing{kind: e.Kind, run: e.Run, first: e.First})
		}
		one := &all[i]
		one.id, one.session = e.ID, e.SessionID
		if e.Phase == trace.Ended && e.End < trace.Unfinished {
			one.ended = e.Seq
		}
		if e.Phase == trace.Ended || e.Kind == trace.ToolCallEvent {
			one.reason = e.Reason
		}
		one.cancelled = one.cancelled || e.Cancelled && e.End != trace.Unfinished
	}
	return all
}

// state returns the same of a Trace.
func state(t *trace.Trace) []thing {
	var all []thing
	for _, c := range t.Calls {
		all = append(all, thing{kind: trace.CallEvent, run: c.Run, first: c.Request, ended: c.Response, session: c.Session, id: string(c.ID), cancelled: c.Cancelled})
	}
	permission := func(s *trace.Session, e *trace.Entity, p *trace.Permission) {
		all = append(all, thing{kind: trace.PermissionEvent, run: e.Run, first: p.Request, ended: p.Response, session: s.ID, reason: p.Outcome})
	}
	for _, s := range t.Sessions {
		for _, turn := range s.Conversation.Turns {
			reason := turn.StopReason
			if turn.Error != nil {
				reason = wire.ValueAt(turn.Error, "code").Raw()
			}
			all = append(all, thing{kind: trace.TurnEvent, run: turn.Run, first: turn.Prompt, ended: turn.End, session: s.ID, reason: reason, cancelled: turn.Cancelled})
		}
		for _, e := range s.Conversation.Entities {
			if e.Permission != nil {
				permission(s, e, e.Permission)
			}
			if c := e.ToolCall; c != nil {
				all = append(all, thing{kind: trace.ToolCallEvent, run: e.Run, first: e.First, session: s.ID, id: c.ID, reason: c.Status})
				for _, p := range c.Permissions {
					permission(s, e, p)
				}
			}
		}
	}
	return all
}

// comparable leaves out what only one of the two has, and sorts.
func comparable(all []thing) []string {
	var lines []string
	for _, one := range all {
		switch one.kind {
		case trace.CallEvent:
			one.reason = ""
		case trace.ToolCallEvent:
			one.ended, one.cancelled = 0, false
		}
		lines = append(lines, fmt.Sprintf("%+v", one))
	}
	slices.Sort(lines)
	return lines
}

// What events say about calls, turns, tool calls and permissions is what the Trace holds in
// the end. A brief Trace emits the same events.
func TestEventsFold(t *testing.T) {
	for seed := range uint64(300) {
		text := traffic(rand.New(rand.NewPCG(seed, 1)))
		var tr trace.Trace
		events := eventsOf(t, &tr, text)
		got, want := comparable(fold(t, events)), comparable(state(&tr))
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d:\n%s\ngot and want\n%s", seed, text, strings.Join(linediff.Lines(got, want), "\n"))
		}
		brief := trace.Trace{Brief: true}
		check(t, lines(eventsOf(t, &brief, text)), lines(events))
		if len(brief.Calls) > 0 || slices.ContainsFunc(brief.Sessions, func(s *trace.Session) bool {
			return len(s.Conversation.Turns)+len(s.Conversation.Entities) > 0
		}) {
			t.Errorf("seed %d: a brief Trace has kept something", seed)
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, text)
		}
	}
}

// traffic makes lines in which calls, turns, tool calls and permissions begin,
// change and end in any order, with ids used again, and many that make no sense.
func traffic(r *rand.Rand) string {
	var b strings.Builder
	b.WriteString([]string{v1, v2early, v2, load}[r.IntN(4)])
	status := strings.Fields("pending in_progress completed failed cancelled odd")
	for range 10 + r.IntN(60) {
		id, tool := fmt.Sprint(r.IntN(6)), fmt.Sprint("c", r.IntN(3))
		switch r.IntN(14) {
		case 0, 1:
			b.WriteString(prompt(id, "hi"))
		case 2:
			b.WriteString(reply(id, ended))
		case 3:
			b.WriteString(reply(id, "{}"))
		case 4:
			b.WriteString(`< {"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32000,"message":"m"}}` + "\n")
		case 5:
			b.WriteString(idle("end_turn"))
		case 6:
			b.WriteString(update(`"sessionUpdate":"tool_call","toolCallId":"` + tool + `","title":"T","status":"` + status[r.IntN(len(status))] + `"`))
		case 7, 8:
			b.WriteString(update(`"sessionUpdate":"tool_call_update","toolCallId":"` + tool + `","status":"` + status[r.IntN(len(status))] + `"`))
		case 9:
			b.WriteString(ask(id, []string{`"toolCall":{"toolCallId":"` + tool + `"}`, `"subject":{"command":"x"}`}[r.IntN(2)]))
		case 10:
			b.WriteString(answer(id, []string{chose, `{"outcome":{"outcome":"cancelled"}}`, `{}`}[r.IntN(3)]))
		case 11:
			b.WriteString([]string{said("x"), update(`"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"u"}`),
				update(`"sessionUpdate":"user_message","messageId":"u` + id + `","content":[]`)}[r.IntN(3)])
		case 12:
			b.WriteString([]string{`> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}` + "\n",
				`> {"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":` + id + `}}` + "\n"}[r.IntN(2)])
		case 13:
			b.WriteString(`> {"id":` + id + `,"method":"session/` + []string{"load", "close", "resume"}[r.IntN(3)] + `","params":{"sessionId":"s","cwd":"/w"}}` + "\n")
		}
	}
	return b.String()
}

// A Trace of several tapes emits the events of each of them.
func TestEventsNext(t *testing.T) {
	first, second := v1+prompt("2", "hi"), load+reply("1", "{}")+prompt("2", "more")
	both := eventsOf(t, new(trace.Trace), first, second)
	cut := slices.IndexFunc(both, func(e trace.Event) bool { return e.Run == 1 })
	check(t, lines(both[:cut]), lines(eventsOf(t, new(trace.Trace), first)))
	var numbers []int
	for _, e := range both {
		if e.Kind == trace.TurnEvent && e.Phase == trace.Began {
			numbers = append(numbers, e.InTurn)
		}
	}
	if !reflect.DeepEqual(numbers, []int{1, 2}) {
		t.Errorf("got turns %v, want 1 and 2", numbers)
	}
}
