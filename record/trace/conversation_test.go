package trace_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/acptap/acptap/record/trace"
)

// outline writes a conversation with one line for each entity and turn.
func outline(c *trace.Conversation) string {
	var b strings.Builder
	for _, e := range c.Entities {
		fmt.Fprintf(&b, "%d ", e.Turn)
		if e.Replayed {
			b.WriteString("replayed ")
		}
		switch {
		case e.Message != nil:
			m := e.Message
			fmt.Fprintf(&b, "%s", m.Role)
			if m.MessageID != "" {
				fmt.Fprintf(&b, " (%s)", m.MessageID)
			}
			fmt.Fprintf(&b, " %q", m.Text())
			if n := len(m.Blocks.All()); n != 1 {
				fmt.Fprintf(&b, " in %d", n)
			}
		case e.ToolCall != nil:
			t := e.ToolCall
			fmt.Fprintf(&b, "tool %s %q %s %s", t.ID, t.Title, t.Kind, t.Status)
			for _, item := range t.Content {
				fmt.Fprintf(&b, " %s", item)
			}
			if t.RawOutput != nil {
				fmt.Fprintf(&b, " out=%s", t.RawOutput)
			}
			if t.Unannounced {
				b.WriteString(" unannounced")
			}
			for _, p := range t.Permissions {
				fmt.Fprintf(&b, " asked=%q", p.Choice())
			}
		case e.Plan != nil:
			fmt.Fprintf(&b, "plan %s", e.Plan.ID)
			for _, step := range e.Plan.Entries() {
				fmt.Fprintf(&b, " %s:%s", step.Content, step.Status)
			}
			if e.Plan.Removed {
				b.WriteString(" removed")
			}
		case e.Terminal != nil:
			t := e.Terminal
			fmt.Fprintf(&b, "terminal %s %q %q", t.ID, t.Command, t.Output)
			if t.Exit != nil && t.Exit.Code != nil {
				fmt.Fprintf(&b, " exit %d", *t.Exit.Code)
			}
			if t.Exit != nil && t.Exit.Signal != "" {
				fmt.Fprintf(&b, " signal %s", t.Exit.Signal)
			}
			if t.Truncated {
				b.WriteString(" truncated")
			}
			if t.Released {
				b.WriteString(" released")
			}
		case e.Compaction != nil:
			fmt.Fprintf(&b, "compaction %s %s %s", e.Compaction.ID, e.Compaction.Status, e.Compaction.Summary.All())
		case e.Permission != nil:
			fmt.Fprintf(&b, "permission %q %q asked=%q", e.Permission.Title, e.Permission.Command, e.Permission.Choice())
		case e.Notice != nil:
			fmt.Fprintf(&b, "notice %s %q", e.Notice.Severity, e.Notice.Title)
		case e.Change != nil:
			fmt.Fprintf(&b, "change %s", e.Change)
		case e.Other != nil:
			fmt.Fprintf(&b, "other %s %s", e.Other.Update, e.Other.Raw)
		}
		b.WriteByte('\n')
	}
	for _, t := range c.Turns {
		fmt.Fprintf(&b, "turn %d %s", t.Number, t.StopReason)
		if t.Error != nil {
			fmt.Fprintf(&b, " error %s", t.Error)
		}
		if t.Cancelled {
			b.WriteString(" cancelled")
		}
		if t.Open() {
			b.WriteString(" open")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// check compares lines, whatever their indentation.
func check(tb testing.TB, got, want string) {
	tb.Helper()
	trim := func(s string) string {
		var lines []string
		for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
			lines = append(lines, strings.TrimSpace(line))
		}
		return strings.Join(lines, "\n")
	}
	if got, want := trim(got), trim(want); got != want {
		tb.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Shorthands of the tables.

func said(text string) string {
	return update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + text + `"}`)
}

func saidAs(id, text string) string {
	return update(`"sessionUpdate":"agent_message_chunk","messageId":"` + id + `","content":{"type":"text","text":"` + text + `"}`)
}

func thought(text string) string {
	return update(`"sessionUpdate":"agent_thought_chunk","content":{"type":"text","text":"` + text + `"}`)
}

func echo(text string) string {
	return update(`"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"` + text + `"}`)
}

func idle(reason string) string {
	return update(`"sessionUpdate":"state_update","state":"idle","stopReason":"` + reason + `"`)
}

func ask(id, params string) string {
	return `< {"jsonrpc":"2.0","id":` + id + `,"method":"session/request_permission","params":{"sessionId":"s",` + params +
		`,"options":[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}}` + "\n"
}

func answer(id, result string) string {
	return `> {"jsonrpc":"2.0","id":` + id + `,"result":` + result + "}\n"
}

const (
	ended  = `{"stopReason":"end_turn"}`
	chose  = `{"outcome":{"outcome":"selected","optionId":"y"}}`
	cancel = `> {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}` + "\n"
)

func TestConversation(t *testing.T) {
	for _, tt := range []struct{ name, lines, want string }{
		{"v1 a run of chunks", v1 + prompt("2", "hi") + said("a") + said("b") + thought("c") + said("d") + reply("2", ended), `
			1 user "hi"
			1 agent "ab"
			1 thought "c"
			1 agent "d"
			turn 1 end_turn`},
		{"v1 what splits no run", v1 + prompt("2", "hi") +
			update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"T"`) + said("a") +
			update(`"sessionUpdate":"usage_update","used":1,"size":2`) +
			update(`"sessionUpdate":"available_commands_update","availableCommands":[]`) +
			update(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"`) +
			update(`"sessionUpdate":"plan","entries":[{"content":"p","status":"pending"}]`) + said("b"), `
			1 user "hi"
			1 tool c "T" other completed
			1 agent "ab"
			1 plan  p:pending
			turn 1  open`},
		{"v1 a tool call splits a run", v1 + prompt("2", "hi") + said("a") +
			update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"T"`) + said("b"), `
			1 user "hi"
			1 agent "a"
			1 tool c "T" other pending
			1 agent "b"
			turn 1  open`},
		{"v1 a turn splits a run", v1 + prompt("2", "hi") + said("a") + reply("2", ended) + said("b") + prompt("3", "ho") + said("c"), `
			1 user "hi"
			1 agent "a"
			1 agent "b"
			2 user "ho"
			2 agent "c"
			turn 1 end_turn
			turn 2  open`},
		{"v1 ids", v1 + prompt("2", "hi") + saidAs("m", "a") + saidAs("n", "b") + saidAs("m", "c") + said("d") +
			update(`"sessionUpdate":"agent_thought_chunk","messageId":"m","content":{"type":"text","text":"t"}`) +
			update(`"sessionUpdate":"agent_message_chunk","messageId":null,"content":{"type":"text","text":"e"}`), `
			1 user "hi"
			1 agent (m) "ac"
			1 agent (n) "b"
			1 agent "d"
			1 thought (m) "t"
			1 agent "e"
			turn 1  open`},
		{"text that is not plain stays a block of its own", v1 + prompt("2", "hi") + said("a") +
			update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"b","annotations":{}}`) + said("c") + said("") + said("d") +
			update(`"sessionUpdate":"agent_message_chunk","content":{"type":"image","data":"","mimeType":"image/png"}`), `
			1 user "hi"
			1 agent "abcd" in 4
			turn 1  open`},
		{"a surrogate pair over two chunks", v1 + prompt("2", "hi") + said(`\ud83d`) + said(`\ude00`), `
			1 user "hi"
			1 agent "😀"
			turn 1  open`},
		{"v1 echo", v1 + prompt("2", "hi there") + echo("hi ") + echo("there") + said("a") + reply("2", ended), `
			1 user "hi there"
			1 agent "a"
			turn 1 end_turn`},
		{"v1 no echo", v1 + prompt("2", "hi") + echo("hi, and more") + said("a") + echo("hi"), `
			1 user "hi"
			1 user "hi, and more"
			1 agent "a"
			1 user "hi"
			turn 1  open`},
		{"v1 patches: null changes nothing", v1 + prompt("2", "hi") +
			update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"T","kind":"read","status":"pending","content":[1],"rawOutput":{}`) +
			update(`"sessionUpdate":"tool_call_update","toolCallId":"c","title":null,"content":null,"rawOutput":null,"status":"failed"`), `
			1 user "hi"
			1 tool c "T" read failed 1 out={}
			turn 1  open`},
		{"v1 a call that was never announced", v1 + prompt("2", "hi") +
			update(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"`), `
			1 user "hi"
			1 tool c "" other completed unannounced
			turn 1  open`},
		{"v1 permission first", v1 + prompt("2", "hi") +
			ask("0", `"toolCall":{"toolCallId":"c","title":"Edit","kind":"edit"}`) + answer("0", chose) +
			update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"Edit it"`) +
			update(`"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"`), `
			1 user "hi"
			1 tool c "Edit it" edit completed asked="Yes"
			turn 1  open`},
		{"v1 permission cancelled and not answered", v1 + prompt("2", "hi") +
			ask("0", `"toolCall":{"toolCallId":"c","title":"A"}`) + ask("1", `"toolCall":{"toolCallId":"d","title":"B"}`) + cancel +
			answer("0", `{"outcome":{"outcome":"cancelled"}}`) + reply("2", `{"stopReason":"cancelled"}`), `
			1 user "hi"
			1 tool c "A" other pending unannounced asked="cancelled"
			1 tool d "B" other pending unannounced asked=""
			turn 1 cancelled cancelled`},
		{"v1 prompt fails after cancel", v1 + prompt("2", "hi") + cancel + `< {"id":2,"error":{"code":-32603,"message":"x"}}`, `
			1 user "hi"
			turn 1  error {"code":-32603,"message":"x"} cancelled`},
		{"v1 plans", v1 + prompt("2", "hi") +
			update(`"sessionUpdate":"plan","entries":[{"content":"a","status":"pending"}]`) + said("x") +
			update(`"sessionUpdate":"plan","entries":[{"content":"a","status":"completed"}]`) + reply("2", ended) +
			prompt("3", "ho") + update(`"sessionUpdate":"plan","entries":[{"content":"b","status":"pending"}]`), `
			1 user "hi"
			1 plan  a:completed
			1 agent "x"
			2 user "ho"
			2 plan  b:pending
			turn 1 end_turn
			turn 2  open`},
		{"v1 terminals", v1 + prompt("2", "hi") + `
			< {"id":5,"method":"terminal/create","params":{"sessionId":"s","command":"make"}}
			> {"id":5,"result":{"terminalId":"t"}}
			< {"id":6,"method":"terminal/output","params":{"sessionId":"s","terminalId":"t"}}
			> {"id":6,"result":{"output":"one","truncated":false}}
			< {"id":7,"method":"terminal/wait_for_exit","params":{"sessionId":"s","terminalId":"t"}}
			> {"id":7,"result":{"exitCode":2,"signal":null}}
			< {"id":8,"method":"terminal/output","params":{"sessionId":"s","terminalId":"t"}}
			> {"id":8,"result":{"output":"two","truncated":true,"exitStatus":{"exitCode":2}}}
			< {"id":9,"method":"terminal/release","params":{"sessionId":"s","terminalId":"t"}}
			> {"id":9,"result":null}`, `
			1 user "hi"
			1 terminal t "make" "two" exit 2 truncated released
			turn 1  open`},
		{"unknown updates, notices", v1 + prompt("2", "hi") + said("a") + update(`"sessionUpdate":"weather","sun":true`) + said("b") +
			update(`"sessionUpdate":"notice","severity":"warning","title":"W"`), `
			1 user "hi"
			1 agent "a"
			1 other weather {"sessionUpdate":"weather","sun":true}
			1 agent "b"
			1 notice warning "W"
			turn 1  open`},
		{"v1 overlapping prompts end alone", v1 + prompt("2", "a") + prompt("3", "b") + reply("3", ended) + said("x") + reply("2", ended), `
			1 user "a"
			2 user "b"
			1 agent "x"
			turn 1 end_turn
			turn 2 end_turn`},

		{"v2 the agent reports the user message", v2 + prompt("2", "hi") + reply("2", "{}") +
			update(`"sessionUpdate":"user_message","messageId":"u","content":[{"type":"text","text":"hi!"}]`) +
			update(`"sessionUpdate":"state_update","state":"running"`) + saidAs("m", "a") + saidAs("m", "b") + idle("end_turn"), `
			1 user (u) "hi!"
			1 agent (m) "ab"
			turn 1 end_turn`},
		{"v2 user message in chunks before the response", v2 + prompt("2", "hi") +
			update(`"sessionUpdate":"user_message_chunk","messageId":"u","content":{"type":"text","text":"h"}`) + reply("2", "{}") +
			update(`"sessionUpdate":"user_message_chunk","messageId":"u","content":{"type":"text","text":"i"}`), `
			1 user (u) "hi"
			turn 1  open`},
		{"v2 a queued prompt stands where the agent reports it", v2 + prompt("2", "a") + reply("2", "{}") +
			update(`"sessionUpdate":"user_message","messageId":"u","content":[{"type":"text","text":"a"}]`) + saidAs("m", "x") +
			prompt("3", "b") + reply("3", "{}") + saidAs("m", "y") +
			update(`"sessionUpdate":"user_message","messageId":"v"`) + saidAs("n", "z") + idle("end_turn"), `
			1 user (u) "a"
			1 agent (m) "xy"
			2 user (v) "b"
			2 agent (n) "z"
			turn 1 end_turn
			turn 2 end_turn`},
		{"v2 idle is of the prompts that were accepted", v2 + prompt("2", "a") + reply("2", "{}") + saidAs("m", "x") + prompt("3", "b") +
			idle("end_turn") + reply("3", "{}") + saidAs("n", "y") + idle("refusal"), `
			1 user "a"
			1 agent (m) "x"
			2 user "b"
			2 agent (n) "y"
			turn 1 end_turn
			turn 2 refusal`},
		{"v2 idle before the response", v2 + prompt("2", "a") + saidAs("m", "x") + idle("end_turn") + reply("2", "{}"), `
			1 user "a"
			1 agent (m) "x"
			turn 1 end_turn`},
		{"v2 a refused prompt", v2 + prompt("2", "a") + `< {"id":2,"error":{"code":1,"message":"no"}}`, `
			1 user "a"
			turn 1  error {"code":1,"message":"no"}`},
		{"v2 whole messages", v2 + prompt("2", "a") + reply("2", "{}") + saidAs("m", "x") +
			update(`"sessionUpdate":"agent_message","messageId":"m","content":[{"type":"text","text":"new"}]`) + saidAs("m", "!") +
			update(`"sessionUpdate":"agent_thought","messageId":"t","content":[{"type":"text","text":"gone"}]`) +
			update(`"sessionUpdate":"agent_thought","messageId":"t","content":null`) +
			update(`"sessionUpdate":"agent_message","messageId":"m"`) +
			update(`"sessionUpdate":"agent_thought_chunk","messageId":"m","content":{"type":"text","text":"?"}`), `
			1 user "a"
			1 agent (m) "new!?" in 2
			1 thought (t) "" in 0
			turn 1  open`},
		{"v2 patches: null clears", v2 + prompt("2", "a") + reply("2", "{}") +
			update(`"sessionUpdate":"tool_call_update","toolCallId":"c","title":"T","kind":"read","status":"pending","content":[1],"rawOutput":7`) +
			update(`"sessionUpdate":"tool_call_content_chunk","toolCallId":"c","content":{"type":"x"}`) +
			update(`"sessionUpdate":"tool_call_update","toolCallId":"c","title":null,"rawOutput":null`) +
			update(`"sessionUpdate":"tool_call_update","toolCallId":"d","content":[1]`) +
			update(`"sessionUpdate":"tool_call_update","toolCallId":"d","content":[]`), `
			1 user "a"
			1 tool c "" read pending 1 {"type":"x"}
			1 tool d ""
			turn 1  open`},
		{"v2 permissions", v2 + prompt("2", "a") +
			ask("0", `"title":"May I?","subject":{"type":"tool_call","toolCall":{"toolCallId":"c","title":"T","status":"pending"}}`) + answer("0", chose) +
			ask("1", `"title":"Run?","subject":{"type":"command","command":"ls","cwd":"/w"}`) + answer("1", `{"outcome":{"outcome":"selected","optionId":"n"}}`) +
			ask("2", `"title":"Run?","subject":{"type":"command","command":"ls","cwd":"/w","toolCallId":"c"}`), `
			1 user "a"
			1 tool c "T"  pending asked="Yes" asked=""
			1 permission "Run?" "ls" asked="No"
			turn 1  open`},
		{"v2 terminals", v2 + prompt("2", "a") +
			update(`"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"ww"`) +
			update(`"sessionUpdate":"terminal_update","terminalId":"t","command":"ls"`) +
			update(`"sessionUpdate":"terminal_output_chunk","terminalId":"t","data":"qQ=="`) +
			update(`"sessionUpdate":"terminal_update","terminalId":"u","output":{"data":"YQ=="},"exitStatus":{"signal":"KILL"}`) +
			update(`"sessionUpdate":"terminal_output_chunk","terminalId":"u","data":"Yg=="`) +
			update(`"sessionUpdate":"terminal_update","terminalId":"v","output":{"data":"YQ=="},"exitStatus":{"exitCode":0}`) +
			update(`"sessionUpdate":"terminal_update","terminalId":"v","output":null,"exitStatus":null`), `
			1 user "a"
			1 terminal t "ls" "é"
			1 terminal u "" "ab" signal KILL
			1 terminal v "" ""
			turn 1  open`},
		{"v2 plans", v2 + prompt("2", "a") +
			update(`"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[{"content":"a","status":"pending"}]}`) +
			update(`"sessionUpdate":"plan_update","plan":{"type":"markdown","planId":"q","content":"x"}`) +
			update(`"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[{"content":"a","status":"cancelled"}]}`) +
			update(`"sessionUpdate":"plan_removed","planId":"q"`), `
			1 user "a"
			1 plan p a:cancelled
			1 plan q removed
			turn 1  open`},
		{"v2 compaction", v2 + prompt("2", "a") +
			update(`"sessionUpdate":"compaction_update","compactionId":"k","status":"in_progress"`) +
			update(`"sessionUpdate":"compaction_summary_chunk","compactionId":"k","content":{"type":"text","text":"x"}`) +
			update(`"sessionUpdate":"compaction_summary_chunk","compactionId":"k","content":{"type":"text","text":"y"}`) +
			update(`"sessionUpdate":"compaction_update","compactionId":"k","status":"completed"`), `
			1 user "a"
			1 compaction k completed [{"type":"text","text":"xy"}]
			turn 1  open`},

		{"early, first stage", v2early + prompt("2", "a") +
			update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"T"`) + saidAs("m", "x") +
			update(`"sessionUpdate":"plan_update","plan":{"type":"items","id":"p","entries":[]}`) + reply("2", ended), `
			1 user "a"
			1 tool c "T"
			1 agent (m) "x"
			1 plan p
			turn 1 end_turn`},
		{"early, third stage", v2early + prompt("2", "a") + reply("2", "{}") +
			ask("0", `"toolCall":{"toolCallId":"c","title":"T"}`) + idle("end_turn"), `
			1 user "a"
			1 tool c "T"   asked=""
			turn 1 end_turn`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check(t, outline(&session(t, build(t, tt.lines), "s").Conversation), tt.want)
		})
	}
}
