package main

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/png"
	"strings"
)

const balanceGo = `package ledger

// Balance returns the sum of the postings to an account.
func (l *Ledger) Balance(account string) Amount {
	var sum Amount
	for _, p := range l.postings {
		if p.Account == account {
			sum += p.Amount
		}
	}
	return sum
}
`

const failingTest = `--- FAIL: TestBalanceOfClosedAccount (0.00s)
    balance_test.go:41: Balance("assets:old") = 120.00, want an error: the account is closed
FAIL
FAIL	example.com/ledger	0.012s
ok  	example.com/ledger/posting	0.008s
FAIL`

// failed ends with an error of the model's provider, after a tool call that failed.
func failed(t *tape) {
	t.startClaude("0.100.0")
	turn := t.prompt(textBlock("TestBalanceOfClosedAccount fails since yesterday. Find out why, fix it, and run all tests."))
	t.wait(2.2)
	t.think("The test wants an error for an account that is closed. I look at Balance first, then at who closes accounts.")
	t.do(read("balance.go", 1, 40, balanceGo))
	t.wait(1.3)
	t.do(grep("closed", "ledger", "account.go:17:\tclosed bool\naccount.go:58:\ta.closed = true"))
	t.wait(1.9)
	c := bash("go test ./...", failingTest, 4.3)
	c.failed, c.asks = true, 2.6
	t.do(c)
	t.usage(31_204, 0.112)
	t.wait(1.4)
	t.say("`Balance` never asks whether the account is closed: since `Close` keeps the postings, the sum of a closed account is returned as if it were open. I add the check.")
	c = edit("balance.go", 4, balanceGo, strings.Replace(balanceGo, "\tvar sum Amount\n", "\tvar sum Amount\n\tif l.accounts[account].closed {\n\t\treturn 0, ErrClosed\n\t}\n", 1))
	c.asks = 5.1
	t.do(c)
	t.wait(1.2)
	t.stderr("API Error (529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}) · Retrying in 1 seconds… (attempt 1/10)")
	t.wait(38)
	t.stderr("API Error (529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}) · Retrying in 39 seconds… (attempt 10/10)")
	t.fail(turn, 12, -32603, "Overloaded", object{"details": "API Error: 529 Overloaded", "requestId": "req_011CVbq8WJ"})
	t.wait(6)
	t.close()
}

// killed ends with the agent's death in mid tool call.
func killed(t *tape) {
	t.startClaude("0.100.0")
	t.prompt(textBlock("Run the benchmarks of the importer and tell me which of them got slower."))
	t.wait(1.8)
	t.say("I run them ten times each, so that benchstat can compare.")
	t.do(grep("func Benchmark", "importer", "importer_test.go:88:func BenchmarkCSV(b *testing.B) {\nimporter_test.go:120:func BenchmarkOFX(b *testing.B) {"))
	t.wait(1.1)
	t.announce(bash("go test -run '^$' -bench . -count 10 ./importer", "", 0))
	t.wait(74.5)
	t.stderr("<--- Last few GCs --->")
	t.stderr("[4117:0x5581] 79211 ms: Mark-Compact 4093.1 (4131.0) -> 4090.8 (4133.2) MB, allocation failure")
	t.wait(0.3)
	t.write("err", object{"eof": true})
	t.write("a2c", object{"eof": true})
	t.exit(object{"code": 137, "signal": "killed"})
}

// cutoff ends without an end, as if the machine had lost power.
func cutoff(t *tape) {
	t.startCodex()
	t.prompt(textBlock("Rename Posting to Entry in the whole module."))
	t.wait(2.5)
	t.plan(0, "Find all uses of Posting", "Rename with gopls", "Build and test")
	t.codex("call_Zm3Pq1", "Search Posting in .", "search", object{"command": []string{"rg", "-n", "Posting"}}, "posting.go:8:type Posting struct {\nledger.go:12:\tpostings []Posting", 0.2)
	t.wait(2.1)
	t.say("There are 84 uses in 19 files. I rename them with gopls.")
	t.update("tool_call", object{"toolCallId": "call_Zm3Pq2", "title": "Run gopls rename -w posting.go:8:6 Entry", "kind": "execute", "status": "in_progress", "rawInput": object{"command": []string{"bash", "-lc", "gopls rename -w posting.go:8:6 Entry"}}})
}

// codex sends a tool call in the words of Codex.
func (t *tape) codex(id, title, kind string, input object, output string, took float64) {
	t.update("tool_call", object{"toolCallId": id, "title": title, "kind": kind, "status": "in_progress", "rawInput": input})
	t.wait(took)
	t.update("tool_call_update", object{
		"toolCallId": id, "status": "completed", "content": []object{{"type": "content", "content": textBlock(output)}},
		"rawOutput": object{"exit_code": 0, "stdout": output, "duration": object{"secs": int(took), "nanos": 0}},
	})
	t.wait(0.04)
}

// slow takes long to start: its servers do.
func slow(t *tape) {
	t.initialize(2, object{
		"protocolVersion": 1, "agentCapabilities": object{"loadSession": true, "mcpCapabilities": object{"http": true}},
		"agentInfo":   object{"name": "@agentclientprotocol/claude-agent-acp", "title": "Claude Agent", "version": "0.100.0"},
		"authMethods": []object{},
	})
	server := func(name, link string, command ...string) object {
		arguments := append([]string{"proxy", "--parent", slowID + "/" + link + "/" + name, "--name", name, "--protocol", "mcp", "--"}, command...)
		return object{"name": name, "command": "/usr/bin/acptap", "args": arguments, "env": []object{}}
	}
	t.newSession(14, []object{
		server("github", "kdjfhgas", "npx", "-y", "@modelcontextprotocol/server-github"),
		server("postgres", "qwmnebrv", "npx", "-y", "@modelcontextprotocol/server-postgres"),
	}, object{})
	t.commands()
	turn := t.prompt(textBlock("Which customers have an open issue and an unpaid invoice?"))
	t.wait(6)
	t.say("I ask both, the issues and the database.")
	t.do(call{tool: "mcp__github__list_issues", kind: "other", title: "mcp__github__list_issues", input: object{"state": "open", "labels": "customer"}, output: "#212 Acme: export is empty\n#219 Birch & Sons: wrong VAT", took: 1.9})
	t.wait(1.5)
	t.do(call{tool: "mcp__postgres__query", kind: "other", title: "mcp__postgres__query", input: object{"sql": "select name from customer join invoice using (customer_id) where paid_at is null"}, output: "[{\"name\":\"Acme\"},{\"name\":\"Cobalt\"}]", took: 0.8})
	t.wait(1.1)
	t.say("Only **Acme**: issue 212, and invoice 2026-118 over 1,240.00 is unpaid.")
	t.usage(18_777, 0.061)
	t.answer(turn, 0.2, tokens("end_turn", 1_204, 133, 17_440))
	t.wait(4)
	t.close()
}

// server is one of the servers that slow starts.
func server(name string, start float64, tool string, arguments object, at float64, result string, took float64) func(*tape) {
	return func(t *tape) {
		id := t.ask("initialize", object{"protocolVersion": "2025-11-25", "capabilities": object{"roots": object{}}, "clientInfo": object{"name": "claude-code", "version": "2.1.0"}})
		t.answer(id, start, object{"protocolVersion": "2025-11-25", "capabilities": object{"tools": object{}}, "serverInfo": object{"name": name, "version": "0.6.2"}})
		t.client(object{"method": "notifications/initialized"})
		id = t.ask("tools/list", object{})
		t.answer(id, 0.3, object{"tools": []object{{"name": tool, "description": "See the manual", "inputSchema": object{"type": "object"}}}})
		t.at = at
		id = t.ask("tools/call", object{"name": tool, "arguments": arguments})
		t.answer(id, took, object{"content": []object{textBlock(result)}})
		t.wait(9)
		t.close()
	}
}

// images has pictures and files in both directions.
func images(t *tape) {
	t.startClaude("0.100.0")
	turn := t.prompt(
		textBlock("The bars of the balance chart are upside down, see the screenshot. "),
		object{"type": "image", "mimeType": "image/png", "data": chart(480, 270, true), "uri": "file:///home/ann/Desktop/chart.png"},
		object{"type": "resource_link", "uri": "file:///home/ann/ledger/web/chart.go", "name": "chart.go", "mimeType": "text/x-go", "size": 4182},
		object{"type": "resource_link", "uri": "https://example.com/ledger/pull/88", "name": "Pull request 88"},
		object{"type": "resource", "resource": object{"uri": "file:///home/ann/ledger/web/chart_test.go", "mimeType": "text/x-go", "text": "package web\n\nimport \"testing\"\n\nfunc TestBarsGrowUpwards(t *testing.T) {\n\tsvg := Chart([]float64{1, 2, 3})\n\tif got := heights(svg); got[0] > got[2] {\n\t\tt.Errorf(\"got %v\", got)\n\t}\n}\n"}},
	)
	t.wait(2.4)
	t.say("In SVG, y grows downwards: the bar must begin at `height - value`, not at 0.")
	const before = "\tfor i, v := range values {\n\t\tfmt.Fprintf(w, `<rect x=\"%d\" y=\"0\" width=\"20\" height=\"%g\"/>`, i*24, v*scale)\n\t}\n"
	const after = "\tfor i, v := range values {\n\t\th := v * scale\n\t\tfmt.Fprintf(w, `<rect x=\"%d\" y=\"%g\" width=\"20\" height=\"%g\"/>`, i*24, height-h, h)\n\t}\n"
	c := edit("web/chart.go", 31, before, after)
	c.asks = 3.2
	t.do(c)
	t.wait(1.6)
	t.do(call{tool: "mcp__browser__screenshot", kind: "fetch", title: "mcp__browser__screenshot", input: object{"url": "http://localhost:8080/chart", "width": 480}, image: object{"type": "image", "mimeType": "image/png", "data": chart(480, 270, false)}, output: "480 × 270", took: 2.3})
	t.do(call{tool: "mcp__browser__screenshot", kind: "fetch", title: "mcp__browser__screenshot", input: object{"url": "http://localhost:8080/chart?small", "width": 64}, image: object{"type": "image", "mimeType": "image/png", "data": chart(64, 64, false)}, took: 1.1})
	t.wait(1.2)
	t.say("The bars grow upwards now:\n\n| quarter | before | after |\n| --- | ---: | ---: |\n| Q1 | 40 | 230 |\n| Q2 | 95 | 175 |\n\nTwo notes:\n\n1. *Negative* values still need an axis.\n2. `TestBarsGrowUpwards` passes.")
	t.update("agent_message_chunk", object{"content": object{"type": "image", "mimeType": "image/png", "data": chart(480, 270, false)}})
	t.usage(22_415, 0.087)
	t.answer(turn, 0.2, tokens("end_turn", 2_871, 402, 14_010))
	t.close()
}

// chart returns a small picture of bars, as base64.
func chart(width, height int, upsideDown bool) string {
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	values := []int{40, 95, 60, 150, 120, 180, 210, 160}
	for y := range height {
		for x := range width {
			c := color.RGBA{0xf7, 0xf8, 0xfa, 0xff}
			column := x * len(values) / width
			inside := x*len(values)%width*10/width > 2
			fromBase := height - y
			if upsideDown {
				fromBase = y
			}
			if inside && fromBase*240/height < values[column] {
				c = color.RGBA{0x2f, uint8(0x60 + column*10), 0xc0, 0xff}
			}
			picture.SetRGBA(x, y, c)
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		panic(err) // the picture is ours
	}
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

// elicit has questions of the agent, and changes of mode and options.
func elicit(t *tape) {
	t.startClaude("0.100.0")
	id := t.ask("session/set_mode", object{"sessionId": t.session, "modeId": "plan"})
	t.answer(id, 0.02, object{})
	t.update("current_mode_update", object{"currentModeId": "plan"})
	t.wait(1.5)
	turn := t.prompt(textBlock("Let's add support for several currencies."))
	t.wait(2.9)
	t.say("Before I plan this I need two decisions from you.")
	t.askClient("elicitation/create", object{
		"mode": "form", "sessionId": t.session, "message": "Where do exchange rates come from?",
		"requestedSchema": object{"type": "object", "required": []string{"source"}, "properties": object{
			"source": object{"type": "string", "title": "Source", "oneOf": []object{{"const": "ecb", "title": "European Central Bank"}, {"const": "file", "title": "A file in the repository"}}},
			"daily":  object{"type": "boolean", "title": "Fetch them daily"},
		}},
	}, 14.2, object{"action": "accept", "content": object{"source": "ecb", "daily": true}})
	t.wait(1.1)
	t.askClient("elicitation/create", object{
		"mode": "form", "sessionId": t.session, "message": "Keep the old amounts in the database?",
		"requestedSchema": object{"type": "object", "properties": object{"keep": object{"type": "boolean"}}},
	}, 6.4, object{"action": "decline"})
	t.wait(2)
	t.plan(0, "Add Currency to Amount", "Fetch rates of the European Central Bank daily", "Convert in reports")
	exit := call{tool: "ExitPlanMode", kind: "switch_mode", title: "Ready to code?", input: object{"plan": "1. Currency in Amount\n2. Rates\n3. Reports"}, asks: 8.8}
	t.do(exit)
	t.update("current_mode_update", object{"currentModeId": "acceptEdits"})
	t.update("config_option_update", object{"configOptions": []object{{"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "opus", "options": []object{{"value": "default", "name": "Default"}, {"value": "opus", "name": "Opus"}}}}})
	t.wait(1.4)
	t.do(edit("amount.go", 9, "type Amount int64\n", "type Amount struct {\n\tMinor    int64\n\tCurrency string // ISO 4217\n}\n"))
	t.askClient("elicitation/create", object{
		"mode": "url", "sessionId": t.session, "elicitationId": "ecb-1", "url": "https://data.ecb.example/register", "message": "Register for the rates of the European Central Bank",
	}, 21, object{"action": "cancel"})
	t.wait(1)
	t.say("Without the registration I read the rates from `rates.csv`.")
	t.answer(turn, 0.3, tokens("end_turn", 3_310, 518, 15_020))
	id = t.ask("session/set_config_option", object{"sessionId": t.session, "configId": "model", "value": "default"})
	t.answer(id, 0.03, object{"configOptions": []object{{"id": "model", "name": "Model", "category": "model", "type": "select", "currentValue": "default", "options": []object{{"value": "default", "name": "Default"}, {"value": "opus", "name": "Opus"}}}}})
	t.close()
}

// gemini asks for permission before it announces a call, and one is rejected.
func gemini(t *tape) {
	t.startGemini()
	turn := t.prompt(textBlock("Delete the build directory."))
	t.wait(2.7)
	t.think("**Deleting the build directory**\n\nThe user wants it gone. I ask for permission first.")
	t.askClient("session/request_permission", object{
		"sessionId": t.session,
		"toolCall":  object{"toolCallId": "run_shell_command-1763629200411-0", "title": "rm -rf build [current working directory /home/ann/ledger] (Delete the build directory)", "kind": "execute", "status": "pending", "content": []object{}, "locations": []object{}},
		"options": []object{
			{"optionId": "proceed_always", "name": "Always Allow rm", "kind": "allow_always"},
			{"optionId": "proceed_once", "name": "Allow", "kind": "allow_once"},
			{"optionId": "cancel", "name": "Reject", "kind": "reject_once"},
		},
	}, 4.1, object{"outcome": object{"outcome": "selected", "optionId": "cancel"}})
	t.update("tool_call_update", object{"toolCallId": "run_shell_command-1763629200411-0", "status": "failed", "content": []object{{"type": "content", "content": textBlock("Tool \"run_shell_command\" was canceled by the user.")}}})
	t.answer(turn, 0.4, object{"stopReason": "cancelled"})
	t.close()
}

// compared is one of two runs with the same prompts. The first is slow, the second fails.
func compared(second bool) func(*tape) {
	return func(t *tape) {
		pace := 3.0
		if second {
			pace = 1
			t.startClaude("0.100.0")
		} else {
			t.startClaude("0.99.2")
		}
		turn := t.prompt(textBlock("Write a test for Close, and make it pass."))
		t.wait(1.5 * pace)
		t.do(read("account.go", 1, 70, "func (a *Account) Close() { a.closed = true }"))
		t.wait(1.1 * pace)
		test := edit("account_test.go", 12, "", "func TestClose(t *testing.T) {\n\ta := New(\"cash\")\n\ta.Close()\n\tif !a.Closed() {\n\t\tt.Error(\"open after Close\")\n\t}\n}\n")
		test.asks = 2.2
		t.do(test)
		t.wait(1.2 * pace)
		run := bash("go test -run TestClose .", "ok  \texample.com/ledger\t0.006s", 2.1*pace)
		if second {
			run.failed, run.output = true, "./account_test.go:15:7: a.Closed undefined (type *Account has no field or method Closed)\nFAIL\texample.com/ledger [build failed]"
		}
		t.do(run)
		if second {
			t.wait(1)
			t.do(edit("account.go", 60, "", "// Closed reports whether Close was called.\nfunc (a *Account) Closed() bool { return a.closed }\n"))
			t.do(bash("go test -run TestClose .", "ok  \texample.com/ledger\t0.006s", 2.2))
		}
		t.wait(0.9 * pace)
		t.say("`TestClose` passes.")
		t.usage(19_880, 0.07/pace)
		t.answer(turn, 0.2, tokens("end_turn", int(1_800*pace), 611, 12_118))
		t.wait(9)
		turn = t.prompt(textBlock("And now refuse postings to a closed account."))
		t.wait(1.7 * pace)
		t.say("`Post` has to return `ErrClosed`.")
		post := edit("ledger.go", 44, "\tl.postings = append(l.postings, p)\n", "\tif l.accounts[p.Account].Closed() {\n\t\treturn ErrClosed\n\t}\n\tl.postings = append(l.postings, p)\n")
		post.asks = 1.9
		t.do(post)
		if second {
			t.fail(turn, 31, -32603, "Internal error", object{"details": "Prompt is too long"})
			t.close()
			return
		}
		t.wait(1.2 * pace)
		t.do(bash("go test ./...", "ok  \texample.com/ledger\t0.019s\nok  \texample.com/ledger/posting\t0.008s", 8.4))
		t.say("All tests pass.")
		t.usage(23_410, 0.11)
		t.answer(turn, 0.2, tokens("end_turn", 5_114, 340, 18_200))
		t.close()
	}
}
