package screen_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/screen"
)

// A badTape writes a tape that is allowed, but hard to show.
type badTape struct {
	strings.Builder
	tb testing.TB
	at float64
	id int
}

type object = map[string]any

func newBadTape(tb testing.TB) *badTape {
	t := &badTape{tb: tb}
	t.WriteString(`{"acptap":1,"started":"2026-11-21T11:40:00Z","command":["agent"],"cwd":"/w"}` + "\n")
	t.ask("initialize", object{"protocolVersion": 1, "clientInfo": object{"name": "editor", "version": "1"}})
	t.answer(object{"protocolVersion": 1, "agentInfo": object{"name": "agent", "version": "1"}})
	t.ask("session/new", object{"cwd": "/w", "mcpServers": []any{}})
	t.answer(object{"sessionId": "s"})
	return t
}

func (t *badTape) frame(dir string, frame object) {
	frame["jsonrpc"] = "2.0"
	line, err := json.Marshal(object{"dir": dir, "at": t.at, "frame": frame})
	if err != nil {
		t.tb.Fatal(err)
	}
	t.Write(append(line, '\n'))
}

func (t *badTape) ask(method string, params object) {
	t.id++
	t.frame("c2a", object{"id": t.id, "method": method, "params": params})
}

func (t *badTape) answer(result object) { t.frame("a2c", object{"id": t.id, "result": result}) }

// turn is a turn with a tool call. Its prompt is its number too.
func (t *badTape) turn(n int, prompt, title, status string, seconds float64) {
	t.ask("session/prompt", object{"sessionId": "s", "prompt": []object{{"type": "text", "text": fmt.Sprintf("prompt-%04d %s", n, prompt)}}})
	update := func(u object) {
		t.frame("a2c", object{"method": "session/update", "params": object{"sessionId": "s", "update": u}})
	}
	id := fmt.Sprint("call-", n)
	update(object{"sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": "execute"})
	t.at += seconds
	update(object{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status})
	update(object{"sessionUpdate": "agent_message_chunk", "content": object{"type": "text", "text": "said " + title}})
	t.answer(object{"stopReason": "end_turn"})
}

// badTitles are titles and prompts that are hard to show.
var badTitles = []string{
	strings.Repeat("again and again ", 625), strings.Repeat("x", 10_000), "", "   ", "\n", "two\nlines\tand a tab", "שלום, למה הבדיקה נכשלת?", "قراءة الملف balance.go", "\u202eevil.exe\u202c read",
	"読む 账户/余额.go 并检查", "👩\u200d👩\u200d👧\u200d👦 run the 🏳️\u200d🌈 tests 👍🏽 1️⃣", "Z̸̛͔a̷l̶g̵o̸", "[red]tview tags[-] [\"b\"]", "%s %d {{.}}",
}

// TestBadInput: whatever a tape says, and whenever, every turn has its lines, bars and times
// stay in their columns, and the axis has its ticks.
func TestBadInput(t *testing.T) {
	tape := newBadTape(t)
	n := 0
	turn := func(title, status string, seconds float64) {
		n++
		tape.turn(n, title, title, status, seconds)
	}
	for i, title := range badTitles {
		turn(title, []string{"completed", "failed"}[i%2], float64(i)/10)
	}
	for _, seconds := range []float64{0, 0, 1e-6, 30 * 3600, -20, -29 * 3600, 0.5} {
		turn("a turn of many lengths", "completed", seconds)
	}
	sub := portableSubject(t, "bad", tape.String())
	atSizes(t, "bad", lookSizes, func(t *testing.T, name string, s size) {
		term := start(t, screen.Inspector{}, sub, s.width, s.height)
		term.reads(t)
		term.press(t, "3« 1 of »")
		term.golden(t, name+"-chat")
		term.press(t, "4«Start-up»g")
		term.golden(t, name+"-turns")
		term.press(t, "xG")
		term.golden(t, name+"-joint")
		term.press(t, "xg/Turn<Enter>")
		for i := 1; i <= n; i++ {
			screen := term.wait(t, "the turn", all(fmt.Sprintf("Turn: %d of %d", i, n), fmt.Sprintf("\n Turn %d  ", i)))
			term.press(t, "n")
			if ticks := regexp.MustCompile(`(?m)│\S+ (h|min|s|ms|µs)|│\d+[hm]`); !ticks.MatchString(screen) {
				t.Errorf("turn %d: got\n%s\nwant an axis with ticks", i, screen)
			}
		}
	})
}

// TestManyTurns: of 5,000 turns none is lost: each has four bars, the ticks of its axis and a
// blank line, after seven lines of the head and the start-up.
func TestManyTurns(t *testing.T) {
	const turns = 5000
	tape := newBadTape(t)
	for n := range turns {
		status := "completed"
		if n%1000 == 999 {
			status = "failed"
		}
		tape.turn(n+1, "", "step", status, 0.3)
		tape.at += 0.2
	}
	term := start(t, screen.Inspector{}, portableSubject(t, "many", tape.String()), 120, 40)
	term.reads(t)
	term.press(t, "3«prompt-0001»G«prompt-5000»4«Turn 5000»g« 1 of 30,006 »")
	for k := 1; k <= 5; k++ {
		term.press(t, fmt.Sprintf("e«failure %d of 5»«Turn %d  »", k, 1000*k))
	}
}
