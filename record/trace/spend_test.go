package trace_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/record/trace"
)

func asks(id, method string) string {
	return `< {"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"sessionId":"s"}}` + "\n"
}

func toolUpdate(id, status string) string {
	return update(`"sessionUpdate":"tool_call_update","toolCallId":"` + id + `","status":"` + status + `"`)
}

func TestSpend(t *testing.T) {
	permission := `"toolCall":{"toolCallId":"c"}`
	for _, tt := range []struct{ name, lines, want string }{
		{"nothing but the agent", v1 + "@1s\n" + prompt("2", "hi") + "@3s\n" + said("a") + "@4s\n" + reply("2", ended), "agent 3s"},
		{"one inside the other", v1 + "@0s\n" + prompt("2", "hi") +
			"@2s\n" + toolUpdate("c", "pending") + "@3s\n" + ask("0", permission) + "@10s\n" + answer("0", chose) +
			"@10500ms\n" + asks("1", "fs/read_text_file") + "@11s\n" + answer("1", "{}") +
			"@14s\n" + toolUpdate("c", "completed") + "@15s\n" + reply("2", ended),
			"user 7s, client 500ms, tool 3.5s, agent 4s"},
		{"two questions at once", v1 + "@0s\n" + prompt("2", "hi") + "@1s\n" + ask("0", permission) + "@2s\n" + asks("1", "elicitation/create") +
			"@3s\n" + answer("0", chose) + "@5s\n" + answer("1", "{}") + reply("2", ended), "user 4s, agent 1s"},
		{"two tool calls", v1 + "@0s\n" + prompt("2", "hi") + "@1s\n" + toolUpdate("c", "in_progress") + "@2s\n" + toolUpdate("d", "in_progress") +
			"@3s\n" + toolUpdate("c", "completed") + "@4s\n" + toolUpdate("d", "failed") + "@5s\n" + reply("2", ended), "tool 3s, agent 2s"},
		{"a call that the agent writes down first", v1 + "@0s\n" + prompt("2", "hi") + "@1s\n" + toolUpdate("c", "pending") +
			"@2s\n" + update(`"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":{"command":"go"}`) + "@3s\n" + update(`"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":{"command":"go test"}`) +
			"@7s\n" + toolUpdate("c", "completed") + "@8s\n" + reply("2", ended), "tool 4s, agent 4s"},
		{"a title that the agent writes down first", v1 + "@0s\n" + prompt("2", "hi") + "@1s\n" + update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"Shell","status":"in_progress"`) +
			"@2s\n" + update(`"sessionUpdate":"tool_call_update","toolCallId":"c","title":"Shell: go","status":"in_progress"`) + "@7s\n" + toolUpdate("c", "completed") + "@8s\n" + reply("2", ended), "tool 5s, agent 3s"},
		{"a call that says late that it has begun", v1 + "@0s\n" + prompt("2", "hi") + "@1s\n" + toolUpdate("c", "pending") + "@2s\n" + ask("0", permission) + "@4s\n" + answer("0", chose) +
			"@6s\n" + toolUpdate("c", "in_progress") + "@7s\n" + toolUpdate("c", "completed") + reply("2", ended), "user 2s, tool 3s, agent 2s"},
		{"a call that is written down while another runs", v1 + "@0s\n" + prompt("2", "hi") + "@1s\n" + toolUpdate("c", "in_progress") + "@2s\n" + toolUpdate("d", "pending") +
			"@4s\n" + toolUpdate("c", "completed") + "@5s\n" + toolUpdate("d", "in_progress") + "@7s\n" + toolUpdate("d", "completed") + reply("2", ended), "tool 5s, agent 2s"},
		{"a terminal", v1 + "@0s\n" + prompt("2", "hi") + asks("1", "terminal/create") + "@1s\n" + answer("1", `{"terminalId":"t"}`) +
			asks("2", "terminal/wait_for_exit") + "@5s\n" + asks("3", "terminal/output") + "@6s\n" + answer("3", "{}") + "@8s\n" + answer("2", "{}") +
			reply("2", ended), "client 2s, tool 6s"},
		{"a request of nobody knows what", v1 + "@0s\n" + prompt("2", "hi") + asks("1", "_own/thing") + "@1s\n" + answer("1", `{}`) + reply("2", ended), "client 1s"},
		{"a call that is left open", v1 + "@0s\n" + prompt("2", "hi") + "@1s\n" + toolUpdate("c", "pending") + "@3s\n" + reply("2", ended) +
			"@5s\n" + prompt("3", "ho") + "@7s\n" + reply("3", ended), "tool 2s, agent 1s; agent 2s"},
		{"a question that is never answered", v1 + "@0s\n" + prompt("2", "hi") + ask("0", permission) + "@1s\n" + cancel + reply("2", `{"stopReason":"cancelled"}`) +
			"@2s\n" + prompt("3", "ho") + "@4s\n" + ask("1", permission) + "@5s\n" + answer("1", chose) + "@6s\n" + answer("0", chose) + "@7s\n" + reply("3", ended),
			"user 1s; user 1s, tool 2s, agent 2s"},
		{"a question that is never answered, of a turn that is cancelled and ends late", v1 + "@0s\n" + prompt("2", "hi") + ask("0", permission) + "@1s\n" + cancel +
			"@1500ms\n" + prompt("3", "ho") + "@3500ms\n" + reply("2", `{"stopReason":"cancelled"}`) + "@8500ms\n" + reply("3", ended),
			"user 1.5s, agent 2s; agent 7s"},
		{"a question that is open when the next prompt is queued", v1 + "@0s\n" + prompt("2", "hi") + ask("0", permission) +
			"@1s\n" + prompt("3", "ho") + "@3s\n" + answer("0", chose) + reply("2", ended) + "@4s\n" + reply("3", ended),
			"user 3s; user 2s, agent 1s"},
		{"a question whose id is used again", v1 + "@0s\n" + prompt("2", "hi") + ask("0", permission) + "@1s\n" + asks("0", "fs/read_text_file") +
			"@3s\n" + answer("0", "{}") + "@4s\n" + reply("2", ended), "user 1s, client 2s, tool 1s"},
		{"a call that goes on late", v1 + "@0s\n" + prompt("2", "hi") + toolUpdate("c", "pending") + "@1s\n" + reply("2", ended) + "@2s\n" + toolUpdate("c", "in_progress") +
			"@3s\n" + prompt("3", "ho") + "@5s\n" + reply("3", ended), "tool 1s; agent 2s"},
		{"a call of the history", load + "@1s\n" + toolUpdate("c", "pending") + reply("1", "{}") + "@2s\n" + prompt("2", "hi") + "@3s\n" + reply("2", ended), "agent 1s"},
		{"early 2", v2early + "@0s\n" + prompt("2", "hi") + reply("2", "{}") + "@1s\n" + toolUpdate("c", "in_progress") + "@2s\n" + ask("0", permission) +
			"@4s\n" + answer("0", chose) + "@5s\n" + toolUpdate("c", "completed") + "@6s\n" + idle("end_turn"), "user 2s, tool 1s, agent 3s"},
		{"2, two prompts at once", v2 + "@0s\n" + prompt("2", "hi") + reply("2", "{}") + "@1s\n" + toolUpdate("c", "in_progress") + "@2s\n" + prompt("3", "ho") +
			reply("3", "{}") + "@3s\n" + toolUpdate("c", "completed") + "@4s\n" + idle("end_turn"), "tool 2s, agent 2s; tool 1s, agent 1s"},
		{"early 2, answered after it has ended", v2early + "@0s\n" + prompt("2", "hi") + toolUpdate("c", "in_progress") + "@1s\n" + idle("end_turn") +
			prompt("3", "ho") + prompt("4", "ho") + reply("4", ended) + "@3s\n" + reply("2", ended), "tool 1s, agent 2s; agent 1m39s; agent 1m39s"},
		{"no end", v1 + "@0s\n" + prompt("2", "hi") + "@1s\n" + toolUpdate("c", "in_progress") + "@2s\n" + said("a"), "tool 1m39s, agent 1s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := build(t, tt.lines)
			var got []string
			for _, turn := range session(t, tr, "s").Conversation.Turns {
				got = append(got, spendText(turn.Spend(100*time.Second)))
			}
			check(t, strings.Join(got, "; "), tt.want)
		})
	}
}

func spendText(s trace.Spend) string {
	var parts []string
	for _, p := range []struct {
		name string
		time time.Duration
	}{{"user", s.User}, {"client", s.Client}, {"tool", s.Tool}, {"agent", s.Agent}} {
		if p.time != 0 {
			parts = append(parts, fmt.Sprint(p.name, " ", p.time))
		}
	}
	return strings.Join(parts, ", ")
}

// A turn that goes on on the next tape does not: its time is that of its own tape.
func TestSpendOfTwoTapes(t *testing.T) {
	tr := build(t, v1+"@1s\n"+prompt("2", "hi"), load+reply("1", "{}")+"@500s\n"+prompt("2", "ho")+"@502s\n"+said("a"))
	turns := session(t, tr, "s").Conversation.Turns
	check(t, spendText(turns[0].Spend(3*time.Second)), "agent 2s")
	check(t, spendText(turns[1].Spend(503*time.Second)), "agent 3s")
}

func TestPace(t *testing.T) {
	tr := build(t, v1+"@0s\n"+prompt("2", "hi")+"@31s\n"+thought("t")+"@32s\n"+said("")+"@72s\n"+said("a")+"@77s\n"+said("b")+
		"@78s\n"+ask("0", `"toolCall":{"toolCallId":"c"}`)+"@110s\n"+answer("0", chose)+"@160s\n"+toolUpdate("c", "completed")+
		"@195s\n"+update(`"sessionUpdate":"usage_update","used":1,"size":2`)+"@199s\n"+reply("2", ended)+"@300s\n"+prompt("3", "ho"))
	turns := session(t, tr, "s").Conversation.Turns
	got := turns[0].Pace
	want := trace.Pace{Text: 8, FirstText: 72 * time.Second, Chunks: 4, Streaming: 46 * time.Second, Silences: 3, Silence: 40 * time.Second, Before: 7}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := turns[1].Pace; got != (trace.Pace{}) {
		t.Errorf("the second turn: got %+v, want nothing", got)
	}
}

// Frames with unknown times end no silence.
func TestPaceUntimed(t *testing.T) {
	tr := build(t, v1+"@0s\n"+prompt("2", "hi")+"@?\n"+said("a")+"@31s\n"+said("b")+"@62s\n"+said("c")+reply("2", ended))
	turn := session(t, tr, "s").Conversation.Turns[0]
	if !turn.Untimed || turn.Pace.Silences != 1 {
		t.Errorf("got untimed %v, %d silences; want true, 1", turn.Untimed, turn.Pace.Silences)
	}
}

// Whatever the traffic, the parts of a turn are not negative and add up to it, and a brief
// Trace gives the same result.
func FuzzSpend(f *testing.F) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		program := make([]byte, 20+rng.IntN(200))
		for i := range program {
			program[i] = byte(rng.Uint32())
		}
		f.Add(uint8(seed), program)
	}
	f.Fuzz(func(t *testing.T, begin uint8, program []byte) {
		lines, last := someTraffic(begin, program)
		full, brief := trace.Trace{}, trace.Trace{Brief: true}
		var told, briefly []string
		for _, frame := range tape(t, lines) {
			full.Add(&frame)
			brief.Add(&frame)
			told, briefly = append(told, turnsEnded(full.Events(), last)...), append(briefly, turnsEnded(brief.Events(), last)...)
		}
		check(t, strings.Join(briefly, "\n"), strings.Join(told, "\n"))
		for _, one := range full.Sessions {
			for _, turn := range one.Conversation.Turns {
				addsUp(t, turn, last, lines)
				covered(t, turn, last, lines)
			}
		}
	})
}

// covered fails if the waits of a turn do not cover it, or are not what it was spent on.
func covered(t *testing.T, turn *trace.Turn, now time.Duration, lines string) {
	t.Helper()
	end := now
	if !turn.Open() {
		end = turn.Ended
	}
	at, spend := turn.Began, trace.Spend{}
	for _, w := range turn.Waits(now) {
		if w.From != at || w.To <= w.From || w.Quiet && (w.Part != trace.ForAgent || w.Took() < trace.QuietTime) {
			t.Errorf("turn %d: after %v comes %+v\n%s", turn.Number, at, w, lines)
		}
		at = w.To
		spend = spend.Plus(w.Spend())
	}
	if at != end || spend != turn.Spend(now) {
		t.Errorf("turn %d: the waits end at %v and are %+v; want %v, %+v\n%s", turn.Number, at, spend, end, turn.Spend(now), lines)
	}
}

// addsUp fails if the parts of a turn do not add up to it.
func addsUp(t *testing.T, turn *trace.Turn, now time.Duration, lines string) {
	t.Helper()
	spend, took := turn.Spend(now), now-turn.Began
	if !turn.Open() {
		took = turn.Ended - turn.Began
	}
	if spend.Sum() != took || min(spend.User, spend.Client, spend.Tool, spend.Agent) < 0 {
		t.Errorf("turn %d took %v, its parts are %+v\n%s", turn.Number, took, spend, lines)
	}
	if turn.Pace.Streaming < 0 || turn.Pace.Streaming > spend.Agent {
		t.Errorf("turn %d: chunks in %v of %v\n%s", turn.Number, turn.Pace.Streaming, spend.Agent, lines)
	}
	if w, r := turn.Work, turn.Work.Requests; w.FailedTools > w.Tools || r.Done+r.Refused+r.Cancelled+r.Failed > r.Sent {
		t.Errorf("turn %d: impossible counts %+v\n%s", turn.Number, w, lines)
	}
	if turn.Pace.Silence > spend.Agent {
		t.Errorf("turn %d: a silence of %v in %v\n%s", turn.Number, turn.Pace.Silence, spend.Agent, lines)
	}
}

// turnsEnded describes the turns that have ended according to events.
func turnsEnded(events []trace.Event, now time.Duration) []string {
	var told []string
	for _, e := range events {
		if e.Kind == trace.TurnEvent && e.Phase == trace.Ended {
			told = append(told, turnText(e.Turn, now))
		}
	}
	return told
}

func turnText(turn *trace.Turn, now time.Duration) string {
	return fmt.Sprintf("%d %q %+v %+v %+v %+v", turn.Number, turn.Title, turn.Spend(now), turn.Pace, turn.Work, turn.Usage)
}

// someTraffic makes lines from a program, each byte of which picks what comes and when, and
// returns the time of the last line.
func someTraffic(begin uint8, program []byte) (lines string, last time.Duration) {
	var b strings.Builder
	b.WriteString([]string{v1, v2early, v2, load}[begin%4] + "@1s\n")
	now := time.Second
	for i, op := range program {
		id := strconv.Itoa(2 + int(op>>4)%6)
		now += []time.Duration{0, time.Millisecond, 700 * time.Millisecond, 6 * time.Second}[op%4]
		fmt.Fprintf(&b, "@%s\n", now)
		switch (int(op) + i) % 14 {
		case 0, 1:
			b.WriteString(prompt(id, "hi"))
		case 2:
			b.WriteString(reply(id, ended))
		case 3:
			b.WriteString(idle("end_turn"))
		case 4:
			b.WriteString(ask(id, `"toolCall":{"toolCallId":"`+id+`"}`))
		case 5, 6:
			b.WriteString(answer(id, chose))
		case 7:
			b.WriteString(asks(id, "fs/read_text_file"))
		case 8:
			b.WriteString(asks(id, "terminal/wait_for_exit"))
		case 9:
			b.WriteString(toolUpdate(id, "in_progress"))
		case 10:
			b.WriteString(toolUpdate(id, "completed"))
		case 11:
			b.WriteString(cancel)
		case 12:
			b.WriteString(update(`"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":` + strconv.Itoa(i) + `,"currency":"USD"}`))
		default:
			b.WriteString(said("a"))
		}
	}
	return b.String(), now
}
