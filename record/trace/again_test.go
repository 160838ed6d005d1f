package trace_test

import "testing"

// announced and patched are updates of a tool call with the id c.
func announced(title string) string {
	return update(`"sessionUpdate":"tool_call","toolCallId":"c","title":"` + title + `"`)
}

func patched(fields string) string {
	return update(`"sessionUpdate":"tool_call_update","toolCallId":"c",` + fields)
}

// Agents of version 1 use ids again: both SDKs' example agents count their calls
// from call_1 in each turn.
func TestIDsAgain(t *testing.T) {
	const done = `"status":"completed"`
	for _, tt := range []struct{ name, lines, want string }{
		{"a call in each turn", v1 + prompt("2", "hi") + said("a") + announced("A") + patched(done) + said("b") + reply("2", ended) +
			prompt("3", "ho") + said("c") + announced("B") + patched(done+`,"content":[2]`) + said("d") + reply("3", ended), `
			1 user "hi"
			1 agent "a"
			1 tool c "A" other completed
			1 agent "b"
			2 user "ho"
			2 agent "c"
			2 tool c "B" other completed 2
			2 agent "d"
			turn 1 end_turn
			turn 2 end_turn`},
		{"a call that was cut off", v1 + prompt("2", "hi") + announced("A") + cancel + reply("2", `{"stopReason":"cancelled"}`) +
			prompt("3", "ho") + announced("B") + patched(done), `
			1 user "hi"
			1 tool c "A" other pending
			2 user "ho"
			2 tool c "B" other completed
			turn 1 cancelled cancelled
			turn 2  open`},
		{"in one turn, when it has ended", v1 + prompt("2", "hi") + announced("A") + patched(`"status":"failed"`) + announced("B") + patched(`"status":"in_progress"`), `
			1 user "hi"
			1 tool c "A" other failed
			1 tool c "B" other in_progress
			turn 1  open`},
		{"announced twice while it goes on", v1 + prompt("2", "hi") + announced("A") + announced("B") + patched(done), `
			1 user "hi"
			1 tool c "B" other completed
			turn 1  open`},
		{"patches are of the newest", v1 + prompt("2", "hi") + announced("A") + reply("2", ended) + prompt("3", "ho") + patched(done) +
			announced("B") + reply("3", ended) + prompt("4", "hu") + patched(`"content":[2]`), `
			1 user "hi"
			1 tool c "A" other completed
			2 user "ho"
			2 tool c "B" other pending 2
			3 user "hu"
			turn 1 end_turn
			turn 2 end_turn
			turn 3  open`},
		{"the question comes first", v1 + prompt("2", "hi") + announced("A") + patched(done) + reply("2", ended) +
			prompt("3", "ho") + ask("0", `"toolCall":{"toolCallId":"c","title":"B"}`) + answer("0", chose) + announced("C") + patched(`"status":"failed"`), `
			1 user "hi"
			1 tool c "A" other completed
			2 user "ho"
			2 tool c "C" other failed asked="Yes"
			turn 1 end_turn
			turn 2  open`},
		{"a prompt that waits begins its turn later", v1 + prompt("2", "hi") + announced("A") + prompt("3", "ho") + announced("B") + reply("2", ended) + announced("C"), `
			1 user "hi"
			1 tool c "B" other pending
			2 user "ho"
			2 tool c "C" other pending
			turn 1 end_turn
			turn 2  open`},
		{"in history", load + echo("hi") + announced("A") + said("a") + echo("ho") + announced("B") + patched(done) + announced("C") + reply("1", "{}") +
			prompt("2", "hu") + announced("D"), `
			0 replayed user "hi"
			0 replayed tool c "A" other pending
			0 replayed agent "a"
			0 replayed user "ho"
			0 replayed tool c "B" other completed
			0 replayed tool c "C" other pending
			1 user "hu"
			1 tool c "D" other pending
			turn 1  open`},
		{"messages", v1 + prompt("2", "hi") + saidAs("m", "a") + announced("A") + saidAs("m", "b") + reply("2", ended) + saidAs("m", "c") +
			prompt("3", "ho") + saidAs("m", "d"), `
			1 user "hi"
			1 agent (m) "abc"
			1 tool c "A" other pending
			2 user "ho"
			2 agent (m) "d"
			turn 1 end_turn
			turn 2  open`},
		{"messages in history", load + heardAs("u", "h") + heardAs("u", "i") + saidAs("m", "a") + heardAs("u", "ho") + saidAs("m", "b") + reply("1", "{}"), `
			0 replayed user (u) "hi"
			0 replayed agent (m) "a"
			0 replayed user (u) "ho"
			0 replayed agent (m) "b"`},
		{"echoes of the prompt", v1 + prompt("2", "hi") + heardAs("u", "hi") + saidAs("m", "a") + reply("2", ended) + prompt("3", "ho") + heardAs("u", "h") + heardAs("u", "o") + saidAs("m", "b"), `
			1 user (u) "hi"
			1 agent (m) "a"
			2 user (u) "ho"
			2 agent (m) "b"
			turn 1 end_turn
			turn 2  open`},
		{"version 2 has upserts", v2 + prompt("2", "hi") + reply("2", "{}") + patched(`"title":"A",`+done) + saidAs("m", "a") + idle("end_turn") +
			prompt("3", "ho") + reply("3", "{}") + patched(`"title":"B"`) + saidAs("m", "b") +
			ask("0", `"title":"?","subject":{"type":"tool_call","toolCall":{"toolCallId":"c","title":"C"}}`) + idle("end_turn"), `
			1 user "hi"
			1 tool c "C"  completed asked=""
			1 agent (m) "ab"
			2 user "ho"
			turn 1 end_turn
			turn 2 end_turn`},
		{"early, first stage", v2early + prompt("2", "hi") + announced("A") + patched(done) + reply("2", ended) + prompt("3", "ho") + announced("B") + patched(done), `
			1 user "hi"
			1 tool c "A"  completed
			2 user "ho"
			2 tool c "B"  completed
			turn 1 end_turn
			turn 2  open`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check(t, outline(&session(t, build(t, tt.lines), "s").Conversation), tt.want)
		})
	}
}

func heardAs(id, text string) string {
	return update(`"sessionUpdate":"user_message_chunk","messageId":"` + id + `","content":{"type":"text","text":"` + text + `"}`)
}

// State of one turn does not last until the next.
func TestSpansOfATurn(t *testing.T) {
	turn := announced("A") + patched(`"status":"completed"`) + update(`"sessionUpdate":"plan","entries":[]`)
	c := session(t, build(t, v1+prompt("2", "hi")+turn+reply("2", ended)+prompt("3", "ho")+turn+reply("3", ended)), "s").Conversation
	entities := 0
	for _, e := range c.Entities {
		if e.Message == nil {
			entities++
			if turn := c.Turns[e.Turn-1]; e.First < turn.First || e.Last > turn.Last || e.Ended > turn.Ended {
				t.Errorf("frames %d to %d are of turn %d, which has %d to %d", e.First, e.Last, e.Turn, turn.First, turn.Last)
			}
		}
	}
	if entities != 4 {
		t.Errorf("got %d entities, want 4", entities)
	}
}

// A client of version 1 may give a terminal the id of one that was released.
func TestTerminalsAgain(t *testing.T) {
	run := func(id, command, output string) string {
		return `< {"id":` + id + `,"method":"terminal/create","params":{"sessionId":"s","command":"` + command + `"}}
			> {"id":` + id + `,"result":{"terminalId":"t"}}
			` + announced(command) + patched(`"content":[{"type":"terminal","terminalId":"t"}]`) + `
			< {"id":` + id + `,"method":"terminal/output","params":{"sessionId":"s","terminalId":"t"}}
			> {"id":` + id + `,"result":{"output":"` + output + `","truncated":false}}
			< {"id":` + id + `,"method":"terminal/release","params":{"sessionId":"s","terminalId":"t"}}
			> {"id":` + id + `,"result":null}
			` + patched(`"status":"completed"`)
	}
	lines := v1
	for i, name := range []string{"a", "b", "c", "d"} {
		id := string(rune('2' + i))
		lines += prompt("1"+id, name) + run(id, name, name+name) + reply("1"+id, ended)
	}
	c := session(t, build(t, lines), "s").Conversation
	got := ""
	for _, e := range c.Entities {
		if e.ToolCall != nil {
			terminal := c.Terminal(e, "t")
			got += e.ToolCall.Title + " " + terminal.Command + " " + string(terminal.Output) + "\n"
		}
	}
	check(t, got, "a a aa\nb b bb\nc c cc\nd d dd")
}
