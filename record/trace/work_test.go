package trace_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/acptap/acptap/record/trace"
)

// The first output is what a user waits for; what the client shows elsewhere is not.
func TestFirstOutput(t *testing.T) {
	unseen := update(`"sessionUpdate":"available_commands_update","availableCommands":[]`) +
		update(`"sessionUpdate":"usage_update","used":1,"size":2`) +
		update(`"sessionUpdate":"current_mode_update","currentModeId":"m"`) +
		update(`"sessionUpdate":"session_info_update","title":"T"`) +
		update(`"sessionUpdate":"config_option_update","configOptions":[]`) +
		update(`"sessionUpdate":"notice","severity":"warning","message":"overloaded"`) +
		update(`"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}`)
	for _, first := range []string{
		said("a"), thought("a"), toolUpdate("c", "pending"), asks("7", "fs/read_text_file"), ask("7", `"toolCall":{"toolCallId":"c"}`),
		update(`"sessionUpdate":"plan","entries":[]`), update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"T"`),
	} {
		tr := build(t, v1+"@1s\n"+prompt("2", "hi")+"@2s\n"+unseen+"@5s\n"+first+"@9s\n"+reply("2", ended))
		turn := session(t, tr, "s").Conversation.Turns[0]
		if turn.FirstOutput != 5*time.Second || turn.Title != "hi" {
			t.Errorf("%s: got %v of %q, want 5s of hi", first, turn.FirstOutput, turn.Title)
		}
	}
}

// What the agent does in a turn is counted, and its requests by outcome.
func TestWork(t *testing.T) {
	permission := func(id string) string {
		return `< {"jsonrpc":"2.0","id":` + id + `,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"yes","kind":"allow_once"},{"optionId":"no","kind":"reject_once"}]}}` + "\n"
	}
	failed := func(id string) string {
		return `> {"jsonrpc":"2.0","id":` + id + `,"error":{"code":1,"message":"x"}}` + "\n"
	}
	for _, tt := range []struct {
		name, lines string
		want        trace.Work
	}{
		{"nothing", "", trace.Work{}},
		{"tools", toolUpdate("a", "pending") + toolUpdate("b", "failed") + toolUpdate("a", "in_progress") + toolUpdate("a", "completed") + toolUpdate("c", "failed") + toolUpdate("c", "failed"),
			trace.Work{Tools: 3, FailedTools: 2}},
		{"a tool that fails again", toolUpdate("a", "failed") + toolUpdate("a", "pending") + toolUpdate("a", "failed"), trace.Work{Tools: 1, FailedTools: 1}},
		{"permissions", permission("0") + answer("0", `{"outcome":{"outcome":"selected","optionId":"yes"}}`) + permission("1") + answer("1", `{"outcome":{"outcome":"selected","optionId":"no"}}`) +
			permission("3") + answer("3", `{"outcome":{"outcome":"cancelled"}}`) + permission("4"),
			trace.Work{Tools: 1, CancelledTools: 1, Requests: trace.Requests{Sent: 4, Done: 1, Refused: 1, Cancelled: 1}}},
		{"elicitations", asks("0", "elicitation/create") + answer("0", `{"action":"accept"}`) + asks("1", "elicitation/create") + answer("1", `{"action":"decline"}`) +
			asks("3", "elicitation/create") + answer("3", `{"action":"cancel"}`), trace.Work{Requests: trace.Requests{Sent: 3, Done: 1, Refused: 1, Cancelled: 1}}},
		{"files", asks("0", "fs/read_text_file") + answer("0", `{}`) + asks("1", "fs/read_text_file") + failed("1"), trace.Work{Requests: trace.Requests{Sent: 2, Done: 1, Failed: 1}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tr := build(t, v1+prompt("2", "hi")+tt.lines+reply("2", ended)+prompt("3", "ho")+reply("3", ended))
			turns := session(t, tr, "s").Conversation.Turns
			if got := turns[0].Work; got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
			if got := turns[1].Work; got != (trace.Work{}) {
				t.Errorf("the second turn: got %+v", got)
			}
		})
	}
}

func TestConfirmed(t *testing.T) {
	const gone = `{"stopReason":"cancelled"}`
	for _, tt := range []struct{ name, lines, want string }{
		{"not cancelled", "@3s\n" + reply("2", ended), "0s false"},
		{"cancelled", "@3s\n" + cancel + "@3500ms\n" + reply("2", gone), "500ms true"},
		{"cancelled twice", "@3s\n" + cancel + "@4s\n" + cancel + "@5s\n" + reply("2", ended), "2s true"},
		{"cancelled in vain", "@3s\n" + cancel + "@4s\n" + said("a"), "0s false"},
		{"nobody knows when", "@?\n" + cancel + "@4s\n" + reply("2", gone), "0s false"},
	} {
		took, ok := session(t, build(t, v1+"@1s\n"+prompt("2", "hi")+tt.lines), "s").Conversation.Turns[0].Confirmed()
		check(t, tt.name+" "+fmt.Sprint(took, " ", ok), tt.name+" "+tt.want)
	}
}

// Chunks come as fast as they follow each other, without the time that others took.
func TestRate(t *testing.T) {
	tr := build(t, v1+"@0s\n"+prompt("2", "hi")+"@10s\n"+thought("t")+"@11s\n"+said("a")+toolUpdate("c", "pending")+"@60s\n"+toolUpdate("c", "completed")+
		"@61s\n"+said("b")+"@90s\n"+reply("2", ended)+prompt("3", "ho")+said("a")+"@95s\n"+reply("3", ended))
	turns := session(t, tr, "s").Conversation.Turns
	if rate, ok := turns[0].Pace.Rate(); !ok || rate != 1 {
		t.Errorf("got %v, %v; want 2 chunks in 2 s", rate, ok)
	}
	if rate, ok := turns[1].Pace.Rate(); ok {
		t.Errorf("of a single chunk: got %v", rate)
	}
}

// A turn has the fill of the context at its end, and the highest one.
func TestTurnContext(t *testing.T) {
	usage := func(used string) string {
		return update(`"sessionUpdate":"usage_update","used":` + used + `,"size":100`)
	}
	tr := build(t, v1+prompt("2", "hi")+usage("40")+usage("20")+reply("2", ended)+prompt("3", "ho")+usage("30")+reply("3", ended)+prompt("4", "ho"))
	var got string
	for _, turn := range session(t, tr, "s").Conversation.Turns {
		got += fmt.Sprintf("%v of %v; ", turn.Usage.Context, turn.Usage.Peak)
	}
	check(t, got, "{20 true} of {40 true}; {30 true} of {30 true}; {0 false} of {0 false}; ")
}
