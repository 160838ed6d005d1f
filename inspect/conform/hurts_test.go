package conform_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
)

// TestVictims: what hurts names whom, since when, and the thread; a rule whose victims are
// all mended goes back to a note.
func TestVictims(t *testing.T) {
	named := 0
	for _, r := range conform.Rules() {
		hurts := slices.ContainsFunc(r.Clauses, func(c conform.Clause) bool { return c.Strength == conform.Hurts })
		broken := slices.ContainsFunc(r.Hurts, func(v conform.Victim) bool { return v.Broken() })
		switch {
		case hurts && !broken:
			t.Errorf("%s hurts nobody, or nobody any more: make it a note", r.ID)
		case hurts && r.Text.Brief == "":
			t.Errorf("%s does not say in brief what hurts", r.ID)
		case !hurts && len(r.Hurts) > 0:
			t.Errorf("%s has victims, and no clause that hurts", r.ID)
		}
		for _, v := range r.Hurts {
			named++
			if v.Who == "" || v.What == "" || !strings.HasPrefix(v.URL, "https://") || len(v.Seen) != len("2026-06") {
				t.Errorf("%s: %+v", r.ID, v)
			}
		}
	}
	if named < 8 {
		t.Errorf("only %d victims", named)
	}
}

// TestYours: the peer on the tape is named as such, if it is one that breaks.
func TestYours(t *testing.T) {
	for client, want := range map[string]string{
		"agent-shell": "allowed, but your client shows the end of the answer outside of its turn, or not at all: sent agent_message_chunk",
		"Editor":      "allowed, but agent-shell shows the end of the answer outside of its turn, or not at all: sent agent_message_chunk",
	} {
		found := check(framesOf(t, `> {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"`+client+`","version":"1"}}}
< {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"agent","version":"1"}}}
= session
> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi "}}}}
< {"id":2,"result":{"stopReason":"end_turn"}}
< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"there"}}}}
`)).Findings()
		if len(found) != 1 || found[0].Strength != conform.Hurts || !strings.HasPrefix(report.Said(&found[0]), want) {
			t.Errorf("%s: got %v, want %q", client, found, want)
		}
	}
}

// TestHangs: findings are hangs only for rules that may hang, and only if an answer never
// came.
func TestHangs(t *testing.T) {
	hung := map[string]bool{}
	for _, c := range conversations(t) {
		for _, f := range check(c.frames).Findings() {
			if f.Hang {
				hung[f.Rule.ID] = true
				if !f.Rule.Hang || !strings.Contains(f.Text, "did not") {
					t.Errorf("%s: %s %s", c.name, f.Rule.ID, f.Text)
				}
			}
		}
	}
	for _, r := range conform.Rules() {
		if r.Hang != hung[r.ID] {
			t.Errorf("%s: hangs %v, of all examples %v", r.ID, r.Hang, hung[r.ID])
		}
	}
}

// TestAccusesNobody has traffic that looks faulty and is not.
func TestAccusesNobody(t *testing.T) {
	const prompt = `> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hello"}]}}` + "\n"
	const chunk = `< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}` + "\n"
	const cancel = `> {"method":"session/cancel","params":{"sessionId":"s1"}}` + "\n"
	const ends = "> mark {\"eof\":true}\n< mark {\"eof\":true}\n< mark {\"exit\":{\"code\":0}}"
	for name, text := range map[string]string{
		"an editor closed 25 s into a turn": "= v1\n= session\n" + prompt + chunk + "+ 25s\n" + ends,
		"an extension before the answer to session/new": `= v1
> {"id":5,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
< {"method":"_x.ai/ready","params":{"sessionId":"s1"}}
< {"id":5,"result":{"sessionId":"s1"}}`,
		"zero tokens of a cancelled turn": "= v1\n= session\n" + prompt + chunk + cancel +
			`< {"id":2,"result":{"stopReason":"cancelled","usage":{"inputTokens":0,"outputTokens":0,"totalTokens":0}}}`,
		"a cut recording of a silent turn":            "= v1\n= session\n" + prompt + chunk + "+ 1h\n< stderr thinking",
		"a slow answer":                               "= v1\n= session\n" + prompt + "+ 1h\n" + chunk + `< {"id":2,"result":{"stopReason":"end_turn"}}` + "\n" + ends,
		"bytes are missing while nothing is answered": "= v1\n= session\n" + prompt + "+ 10s\n< mark {\"gap\":100}\n+ 1h\n" + ends,
	} {
		for _, f := range check(framesOf(t, text)).Findings() {
			if f.Rule.ID != "ACP002" { // usage is of the unstable schema
				t.Errorf("%s: %s %s", name, f.Rule.ID, f.Text)
			}
		}
	}
	found := check(framesOf(t, "= v1\n= session\n"+prompt+chunk+`< {"id":2,"result":{"stopReason":"end_turn","usage":{"inputTokens":0,"outputTokens":0,"totalTokens":0}}}`)).Findings()
	if !slices.Contains(ids(found), "ACP324") {
		t.Errorf("zero tokens of a turn with an answer: got %v", ids(found))
	}
}

// TestTwoPrompts: a prompt in a turn hurts if the agent refuses that one because of it.
func TestTwoPrompts(t *testing.T) {
	const prompts = `= v1
= session
> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"list the files"}]}}
> {"id":3,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"and the directories"}]}}
`
	const first, second = `< {"id":2,"result":{"stopReason":"end_turn"}}` + "\n", `< {"id":3,"result":{"stopReason":"end_turn"}}` + "\n"
	const firstFails, secondFails = `< {"id":2,"error":{"code":-32603,"message":"overloaded"}}` + "\n", `< {"id":3,"error":{"code":-32600,"message":"busy"}}` + "\n"
	for name, c := range map[string]struct {
		text string
		want conform.Strength
		says string
	}{
		"refused":                         {secondFails, conform.Hurts, `the agent refused it with error -32600 "busy"`},
		"refused, then the first":         {secondFails + first, conform.Hurts, "refused it"},
		"fails in its own turn":           {first + secondFails, conform.Note, "answered with error"},
		"the first fails":                 {firstFails + second, conform.Note, "answered end_turn"},
		"the model refuses":               {strings.ReplaceAll(second, "end_turn", "refusal") + first, conform.Note, "answered refusal"},
		"both are answered":               {second + first, conform.Note, "answered end_turn"},
		"taken back":                      {`> {"method":"$/cancel_request","params":{"requestId":3}}` + "\n" + secondFails, conform.Note, "answered with error"},
		"an error after a session/cancel": {`> {"method":"session/cancel","params":{"sessionId":"s1"}}` + "\n" + secondFails, conform.Note, "answered with error"},
		"no answer":                       {first + "> mark {\"eof\":true}\n< mark {\"eof\":true}\n< mark {\"exit\":{\"code\":0}}\n", conform.Note, "did not answer it"},
	} {
		var found []conform.Finding
		for _, f := range check(framesOf(t, prompts+c.text)).Findings() {
			if f.Rule.ID == "ACP303" {
				found = append(found, f)
			}
		}
		if len(found) != 1 || found[0].Strength != c.want || !strings.Contains(found[0].Text, c.says) {
			t.Errorf("%s: got %v, want %v %q", name, found, c.want, c.says)
		}
	}
}

// TestLateEnd: a cancelled turn that ends late does not hurt the peers that break on a turn
// without an end.
func TestLateEnd(t *testing.T) {
	const cancelled = `= v1
= session
> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"list the files"}]}}
> {"method":"session/cancel","params":{"sessionId":"s1"}}
+ 12s
`
	for text, want := range map[string]conform.Strength{
		`< {"id":2,"result":{"stopReason":"cancelled"}}`:                               conform.Note,
		"> mark {\"eof\":true}\n< mark {\"eof\":true}\n< mark {\"exit\":{\"code\":0}}": conform.Hurts,
	} {
		found := check(framesOf(t, cancelled+text)).Findings()
		if len(found) != 1 || found[0].Rule.ID != "ACP447" || found[0].Strength != want {
			t.Errorf("%s: got %v, want ACP447 as a %v", text, found, want)
		}
	}
}

// TestResentAgain: a tool call under an id that was used before is another one.
func TestResentAgain(t *testing.T) {
	const begun = `< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"c1","title":"ls","status":"in_progress"}}}` + "\nresend \"s1\" 40000 20\n"
	const done = `< {"method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed"}}}` + "\n"
	const prompt = `> {"id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"list the files"}]}}` + "\n"
	found := check(framesOf(t, "= v1\n= session\n"+prompt+begun+done+begun)).Findings()
	n := 0
	for _, f := range found {
		if f.Rule.ID == "ACP412" {
			n++
		}
	}
	if n != 2 {
		t.Errorf("got %d findings, want one for each call: %v", n, found)
	}
}
