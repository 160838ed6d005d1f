package screen_test

import (
	"encoding/base64"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/acptap/acptap/inspect/screen"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// hostile are texts that would break a screen, or do something to a terminal.
var hostile = []string{
	"\x1b[2J\x1b[31mred\x1b]0;title\a", "\x1b]52;c;cHduZWQ=\x1b\\", "\x9b2J\x90q\x9c", "\x00\a\b\x7f\x0e", "a\tb\rc\vd\fe\x85f\u2028g\u2029h",
	"\u202eright\u2066to\u2069left\u200f", "e\u0301\u0302\u0303\u0304", "\u0301\u0302", strings.Repeat("\u0300", 200), "👩\u200d👩\u200d👧\u200d👦 🇩🇪🇫🇷🇩 👍🏽 ❤\ufe0f 1\ufe0f\u20e3",
	"世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界世界", "\u200b\u200c\u2060\ufeff\u00ad", "[red]a[-:-:b] [\"x\"]y[\"\"]", "\U000e0041\U000e007f", "⸻⸻", "\u1112\u1161\u11ab किकि", "\ufffd\ufffe\uffff",
}

// hostileTape has them in all places of a tape.
func hostileTape(tb testing.TB) string {
	var b strings.Builder
	all := strings.Join(hostile, " ")
	line := func(v any) {
		text, err := json.Marshal(v)
		if err != nil {
			tb.Fatal(err)
		}
		b.Write(append(text, '\n'))
	}
	type object = map[string]any
	line(object{"acptap": 1, "started": "2026-11-21T11:40:00Z", "command": []string{all, hostile[0]}, "cwd": all, "name": hostile[0] + hostile[5]})
	ms := 0
	say := func(dir string, frame object) {
		ms++
		frame["jsonrpc"] = "2.0"
		line(object{"dir": dir, "at": float64(ms) / 1000, "frame": frame})
	}
	update := func(u object) {
		say("a2c", object{"method": "session/update", "params": object{"sessionId": all, "update": u}})
	}
	say("c2a", object{"id": all, "method": "initialize", "params": object{"protocolVersion": 1, "clientInfo": object{"name": all, "version": all}, "clientCapabilities": object{all: object{all: true}}}})
	say("a2c", object{"id": all, "result": object{"protocolVersion": 1, "agentInfo": object{"name": all, "version": all}, "agentCapabilities": object{all: all}}})
	say("c2a", object{"id": 1, "method": "session/new", "params": object{"cwd": all}})
	say("a2c", object{"id": 1, "result": object{"sessionId": all}})
	say("c2a", object{"id": 2, "method": "session/prompt", "params": object{"sessionId": all, "prompt": []object{{"type": "text", "text": all}}}})
	update(object{"sessionUpdate": "session_info_update", "title": all})
	for _, text := range hostile {
		update(object{"sessionUpdate": "agent_message_chunk", "content": object{"type": "text", "text": text}})
		update(object{"sessionUpdate": "agent_thought_chunk", "content": object{"type": "text", "text": text}})
		update(object{"sessionUpdate": "tool_call", "toolCallId": text, "title": text, "kind": text, "status": text, "locations": []object{{"path": text}},
			"content": []object{{"type": "diff", "path": text, "oldText": text, "newText": text + "\n" + text}}, "rawInput": object{text: text}})
		update(object{"sessionUpdate": "plan", "entries": []object{{"content": text, "priority": text, "status": text}}})
		update(object{"sessionUpdate": text, text: text})
		say("a2c", object{"id": text, "method": "session/request_permission", "params": object{"sessionId": all, "toolCall": object{"toolCallId": text}, "options": []object{{"optionId": text, "name": text, "kind": text}}}})
		say("c2a", object{"id": text, "result": object{"outcome": object{"outcome": "selected", "optionId": text}}})
		say("c2a", object{"id": 7, "method": text, "params": text})
		say("a2c", object{"id": 7, "error": object{"code": text, "message": text, "data": text}})
		line(object{"dir": "err", "text": strings.ReplaceAll(text, "\n", "")})
		line(object{"dir": "a2c", "text": strings.ReplaceAll(text, "\n", "")})
		line(object{"dir": "err", "base64": base64.StdEncoding.EncodeToString([]byte(text + "\xff\xc3"))})
		line(object{"dir": "a2c", "base64": base64.StdEncoding.EncodeToString([]byte(`{"method":"` + text + "\xff" + `"}`))})
		line(object{"dir": "a2c", "signal": text})
	}
	say("a2c", object{"id": 2, "result": object{"stopReason": all}})
	return b.String()
}

// TestHostile goes through a tape that would break a screen or control the
// terminal, if what it says got there. Every drawing is looked at (terminal.Show).
func TestHostile(t *testing.T) {
	store := record.OpenStore(t.TempDir())
	if _, err := store.Import(strings.NewReader(hostileTape(t)), "tape", nil); err != nil {
		t.Fatal(err)
	}
	rows := 20
	if testing.Short() {
		rows = 4
	}
	atSizes(t, "hostile", []size{{80, 24}, {33, 9}, {160, 30}}, func(t *testing.T, _ string, s size) {
		term := start(t, screen.Inspector{Store: store}, screen.Subject{}, s.width, s.height)
		term.wait(t, "the store", has("1 of 1"))
		term.press(t, "j?<Esc><Enter>«1 of »")
		term.reads(t)
		row := "<Tab>jjjjyvyp<Enter>jj<Tab>x<Tab><PgDn>jj<Tab>x<Tab>x%[]{}"
		for range rows {
			term.press(t, "j"+row)
		}
		term.press(t, "tjtjtjGgm<PgDn>D<Esc>3jjzG<Enter>kkk<Enter>gz4jG5jjG6jG2zggjjjjjjjjo+-")
		term.press(t, "w<Esc>X<Esc>/method:x\"<Enter><Esc>")
		term.post(tcell.NewEventPaste(true))
		term.press(t, "/")
		for _, text := range hostile {
			for _, r := range text {
				term.post(tcell.NewEventKey(tcell.KeyRune, r, tcell.ModNone))
			}
		}
		term.post(tcell.NewEventPaste(false))
		term.press(t, "<Enter><Esc>1")
		term.wait(t, "the store", has("Tape or session"))
	})
}

// TestHostilePrompt types what would break a screen where tview draws it.
func TestHostilePrompt(t *testing.T) {
	term := start(t, screen.Inspector{}, subject(t, "acp-go-sdk.jsonl"), 80, 24)
	term.reads(t)
	for _, text := range hostile {
		term.press(t, "/<^U>")
		term.post(tcell.NewEventPaste(true))
		for _, r := range "<" + text + ">" {
			term.post(tcell.NewEventKey(tcell.KeyRune, r, tcell.ModNone))
		}
		term.post(tcell.NewEventPaste(false))
		term.press(t, "<Esc>")
	}
	term.press(t, "/<^U>end«filter: end»")
}

// TestHuge opens frames that are as large and as deep as frames get.
func TestHuge(t *testing.T) {
	nested := func(levels int) string {
		return `{"method":"deep","params":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}`
	}
	size := 64 << 20
	if testing.Short() {
		size = 4 * wire.MaxChecked
	}
	long := strings.Repeat("0123456789abcde ", size/16)
	tape := `{"acptap":1}
{"dir":"a2c","frame":` + nested(9_990) + `}
{"dir":"a2c","text":` + strconv.Quote(nested(100_000)) + `}
{"dir":"a2c","frame":{"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + long + `"}}}}}
`
	term := start(t, screen.Inspector{}, portableSubject(t, "tape", tape), 100, 30)
	term.reads(t)
	for _, row := range []string{"1 of 3", "2 of 3", "3 of 3"} {
		term.press(t, "<Tab>Gg/ab<Enter><Enter>xGgx<PgDn>x<Esc><Esc>yvyy3«Esc back»z4«no turns»5«Esc back»6«Esc back»2")
		term.wait(t, row, has(row))
		term.press(t, "j")
	}
}
