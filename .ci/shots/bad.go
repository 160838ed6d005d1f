package main

import (
	"fmt"
	"strings"
)

// What is bad about these tapes is allowed, or happens: every view must stand it.

func badTitles(t *tape) {
	t.startClaude("0.100.0")
	turn := t.prompt(textBlock("Explain " + strings.Repeat("again and again ", 625) + "why this is slow."))
	t.wait(1)
	c := bash("psql -c 'select "+strings.Repeat("account_id, ", 830)+"1'", strings.Repeat("| 42 ", 2000), 1.2)
	t.do(c)
	c = read(strings.Repeat("very/deep/", 1000)+"file.go", 1, 10, "package file")
	t.do(c)
	c = bash(strings.Repeat("x", 10_000), strings.Repeat("y", 10_000), 0.5)
	c.failed, c.asks = true, 2
	t.do(c)
	t.say(strings.Repeat("W", 3_000) + " is one word.")
	t.fail(turn, 1, -32603, "Overloaded: "+strings.Repeat("try again later, ", 600), nil)
	t.close()
}

func badText(t *tape) {
	t.startClaude("0.100.0")
	turn := t.prompt(textBlock("שלום, למה הבדיקה TestBalance נכשלת? 🙏 תודה"))
	t.wait(1)
	t.say("הפונקציה Balance אינה בודקת אם החשבון סגור. אוסיף בדיקה.")
	for _, title := range []string{
		"قراءة الملف balance.go", "读取 账户/余额.go 并检查", "👩‍👩‍👧‍👦 run the 🏳️‍🌈 tests 👍🏽 1️⃣", "", "   ", "two\nlines\tand a tab",
		"\u202eevil.exe\u202c read", "Z̸̛͔a̷l̶g̵o̸ ̶t̷e̸x̵t̸", "<script>alert(1)</script> & \"quotes\"", "[red]tview tags[-] [\"b\"]", "%s %d {{.}}",
	} {
		t.do(call{tool: "Bash", kind: "execute", title: title, input: object{"command": title}, output: title, took: 0.4, failed: title == ""})
	}
	t.update("tool_call", object{"toolCallId": "untitled-1", "status": "pending"})
	t.wait(0.3)
	t.update("tool_call_update", object{"toolCallId": "untitled-1", "status": "completed"})
	t.update("tool_call_update", object{"toolCallId": "never-announced", "status": "failed"})
	t.answer(turn, 0.2, object{"stopReason": "end_turn"})
	turn = t.prompt(textBlock(""))
	t.answer(turn, 0.4, object{"stopReason": "end_turn"})
	turn = t.prompt(textBlock("日本語で、残高の計算がどこで行われるかを説明してください。"))
	t.wait(1)
	t.say("残高は ledger/balance.go の Balance で計算されます。😀🎉")
	t.answer(turn, 0.2, object{"stopReason": "a_reason_of_its_own"})
	t.close()
}

func badTurns(t *tape) {
	t.startClaude("0.100.0")
	for n := range 5000 {
		turn := t.prompt(textBlock(fmt.Sprintf("Convert invoice %d of 5000 to the new form.", n+1)))
		t.wait(0.4)
		if n%10 == 0 {
			c := bash(fmt.Sprintf("convert %d.xml", n+1), "", 0.2)
			c.failed = n%250 == 0
			t.do(c)
		}
		t.update("agent_message_chunk", object{"content": textBlock("Done.")})
		if n%700 == 699 {
			t.fail(turn, 0.1, -32603, "Overloaded", nil)
		} else {
			t.answer(turn, 0.1, object{"stopReason": "end_turn"})
		}
		t.wait(0.2)
	}
	t.close()
}

// badTimes has turns of 0 ms and one of 30 hours.
func badTimes(t *tape) {
	t.startClaude("0.100.0")
	for range 3 {
		turn := t.prompt(textBlock("/compact"))
		t.answer(turn, 0, object{"stopReason": "end_turn"})
	}
	turn := t.prompt(textBlock("Watch the deployment until it is done, then tell me."))
	t.wait(2)
	t.do(bash("kubectl rollout status deploy/ledger", "deployment \"ledger\" successfully rolled out", 30*3600))
	t.say("It is done.")
	t.answer(turn, 0.5, object{"stopReason": "end_turn"})
	turn = t.prompt(textBlock("Thanks."))
	t.say("You are welcome.")
	t.answer(turn, 0.5, object{"stopReason": "end_turn"})
	t.close()
}

// badClock has a clock that goes back in the middle of a turn.
func badClock(t *tape) {
	t.startClaude("0.100.0")
	turn := t.prompt(textBlock("What time is it?"))
	t.wait(20)
	t.do(bash("date", "Fri Nov 20 11:00:00 UTC 2026", 0.2))
	t.wait(-18)
	t.do(bash("date", "Fri Nov 20 10:59:42 UTC 2026", 0.2))
	t.say("It is eleven, or it was.")
	t.answer(turn, 0.2, object{"stopReason": "end_turn"})
	t.close()
}

// badEmpty ends before there is a session.
func badEmpty(t *tape) {
	t.ask("initialize", object{"protocolVersion": 1, "clientInfo": object{"name": "zed", "title": "Zed", "version": "0.225.0"}})
	t.stderr("npm error code ENOTFOUND")
	t.stderr("npm error network request to https://registry.npmjs.org/@agentclientprotocol%2fclaude-agent-acp failed")
	t.wait(1.2)
	t.write("err", object{"eof": true})
	t.write("a2c", object{"eof": true})
	t.exit(object{"code": 1})
}
