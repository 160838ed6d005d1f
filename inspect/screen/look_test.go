package screen_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gdamore/tcell/v2"

	"github.com/acptap/acptap/inspect/screen"
)

// lookSizes are the sizes of a small, a usual and a large terminal.
var lookSizes = []size{{80, 24}, {120, 40}, {200, 60}}

// divider returns the position of the divider if the list has that share of the screen, in
// percent.
func (s size) divider(percent int) (x, y int) {
	if s.width >= 140 {
		return s.width * percent / 100, s.height / 2
	}
	return s.width / 2, 1 + (s.height-3)*percent/100
}

// TestDivider moves the divider with keys and with the mouse, no farther than to where both
// sides have room.
func TestDivider(t *testing.T) {
	sub := subject(t, "acp-go-sdk.jsonl")
	atSizes(t, "divider", lookSizes, func(t *testing.T, name string, s size) {
		term := start(t, screen.Inspector{}, sub, s.width, s.height)
		term.reads(t)
		term.press(t, "<<<<") // from 55 to 35 percent
		term.golden(t, name)
		term.press(t, ">>>>")
		x, y := s.divider(55)
		toX, toY := s.divider(35)
		term.drag(x, y, toX, toY)
		term.golden(t, name)
		term.press(t, strings.Repeat(">", 20))
		term.golden(t, name+"-most")
	})
}

// drag moves the mouse from one place to another with its left button held.
func (t *terminal) drag(x, y, toX, toY int) {
	for _, e := range []*tcell.EventMouse{
		tcell.NewEventMouse(x, y, tcell.ButtonPrimary, tcell.ModNone),
		tcell.NewEventMouse(toX, toY, tcell.ButtonPrimary, tcell.ModNone),
		tcell.NewEventMouse(toX, toY, tcell.ButtonNone, tcell.ModNone),
		tcell.NewEventMouse(x, y, tcell.ButtonNone, tcell.ModNone), // moves nothing
	} {
		t.post(e)
	}
}

func (t *terminal) wheel(x, y int, way tcell.ButtonMask) {
	t.post(tcell.NewEventMouse(x, y, way, tcell.ModNone))
}

// TestClickOnHeading sorts the store by a column, and by a second click the other way round;
// among the frames it shows times in the next form.
func TestClickOnHeading(t *testing.T) {
	store := storeOf(t, "acp-go-sdk.jsonl", "acp-npm-sdk.jsonl", "acp-v2.jsonl", "acpx-cancel.jsonl", "acpx-session.jsonl", "mcp-everything.jsonl")
	sub := subject(t, "acp-go-sdk.jsonl")
	atSizes(t, "sorted", lookSizes, func(t *testing.T, name string, s size) {
		term := start(t, screen.Inspector{Store: store}, screen.Subject{}, s.width, s.height)
		term.wait(t, "the tapes", has("Hello, agent!"))
		heading := strings.Split(term.text(), "\n")[1]
		at := len([]rune(heading[:strings.Index(heading, " took")])) + 2
		term.click(at, 1)
		term.wait(t, "the longest first", has("took▾"))
		term.wait(t, "that it says so", has("sorted by took, the most first"))
		term.click(at, 1)
		term.wait(t, "the shortest first", has("took▴"))
		term.golden(t, name)

		term = start(t, screen.Inspector{}, sub, s.width, s.height)
		term.reads(t)
		term.click(10, 1)
		term.wait(t, "the time since the row before", has("frame since row"))
		term.click(10, 1)
		term.wait(t, "the time of day", has("11:37:08"))
	})
}

// longTool is a tape with a tool call whose output has 100 lines, and an error at the end.
func longTool() string {
	var output strings.Builder
	for i := range 100 {
		fmt.Fprintf(&output, `line %d of the output\n`, i+1)
	}
	return `{"acptap":1,"started":"2026-11-21T11:40:00Z","protocol":"acp","cwd":"/w"}
{"dir":"c2a","at":0,"frame":{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}}
{"dir":"a2c","at":0.1,"frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}
{"dir":"c2a","at":0.2,"frame":{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}}
{"dir":"a2c","at":0.3,"frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}}
{"dir":"c2a","at":1,"frame":{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Print it all"}]}}}
{"dir":"a2c","at":2,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"a","title":"seq 100","kind":"execute"}}}}
{"dir":"a2c","at":3,"frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed","content":[{"type":"content","content":{"type":"text","text":"` + output.String() + `"}}]}}}}
{"dir":"a2c","at":4,"frame":{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Overloaded"}}}
{"dir":"c2a","at":5,"frame":{"jsonrpc":"2.0","id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"Again"}]}}}
{"dir":"a2c","at":6,"frame":{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}}
`
}

// TestDetails: next to a page are details of the line under the cursor. Keys and the wheel
// scroll them; Tab and a click give them the focus, and Esc takes it away.
func TestDetails(t *testing.T) {
	sub := portableSubject(t, "long", longTool())
	atSizes(t, "details", lookSizes, func(t *testing.T, name string, s size) {
		term := start(t, screen.Inspector{}, sub, s.width, s.height)
		term.reads(t)
		term.press(t, ":6<Enter>3«▸ execute · seq 100»«failed»<Tab>")
		if s.width < 140 {
			term.press(t, "«on a screen of 140 columns»")
			return
		}
		first := func(line string) {
			t.Helper()
			term.wait(t, line, func(s string) bool { return strings.Contains(strings.Split(s, "\n")[2], "│ "+line) })
		}
		term.press(t, "«Enter open   Esc back»")
		first("  line 1 of")
		term.press(t, "<PgDn>j<PgDn>")
		first("  line 45 of")
		term.golden(t, name)
		term.wheel(150, 20, tcell.WheelUp)
		first("  line 42 of")
		term.press(t, "<Esc>«Enter frame   Space fold»")
		term.click(150, 20)
		term.press(t, "«Enter open   Esc back»/line 100<Enter>«line 100: 1 of 1»<Esc><Esc>«Space fold»")
		term.wheel(20, 20, tcell.WheelDown) // nothing is to scroll there
		term.press(t, "k«frame 5 · request session/prompt»<Tab>jj <Tab>«frame 5 ·»")
		term.press(t, "1")                                                                // there is no store: nothing changes
		term.press(t, "7«Findings»<Tab>«Enter open   Esc back»<Esc>«Enter to the frame»") // the list has its text
	})
}

// TestHeadStays: a tape's outcome, duration, failures and prompt stay visible wherever the
// cursor is, and so does the axis of a turn; e says where a failure is.
func TestHeadStays(t *testing.T) {
	sub := portableSubject(t, "long", longTool())
	sub.Frame = 0
	atSizes(t, "head", lookSizes, func(t *testing.T, name string, s size) {
		term := start(t, screen.Inspector{}, sub, s.width, s.height)
		term.reads(t)
		term.press(t, "3« · failure 1 of 1 (e)»z«fold all»G")
		term.wait(t, "the end", func(s string) bool { return strings.Contains(s, "turn 2: done") && !strings.Contains(s, "line 1 of") })
		term.golden(t, name+"-chat")
		for _, place := range []string{"3", "4"} {
			term.press(t, place)
			for _, key := range []string{"G", "g", "<PgDn>", "e"} {
				term.press(t, key)
				if head := strings.Split(term.text(), "\n")[1]; !strings.HasPrefix(head, " ✗ Overloaded (-32603) in turn 1, then done · 6.00 s · 1 failed · Print it all") {
					t.Errorf("%s%s: got the head %q", place, key, head)
				}
			}
			term.press(t, "« · failure 1 of 1 (e)»")
		}
	})
}

// TestZoom shows parts of the axis of a turn, and of one axis for all.
func TestZoom(t *testing.T) {
	sub := subject(t, "../../inspect/screen/testdata/turns-idle.jsonl")
	for _, tt := range []struct{ name, keys string }{
		{"zoom", "4«Turn 1»/Edit a.go<Enter><Esc>+++"},
		{"zoom-later", "4«Turn 1»/Edit a.go<Enter><Esc>+++hh"},
		{"zoom-all", "4«Turn 1»x/Edit a.go<Enter><Esc>++++++"},
		{"zoom-out", "4«Turn 1»x/Edit a.go<Enter><Esc>+++---"},
		{"zoom-scrolled", "4«Turn 1»G"},
	} {
		atSizes(t, tt.name, lookSizes, func(t *testing.T, name string, s size) {
			term := start(t, screen.Inspector{}, sub, s.width, s.height)
			term.reads(t)
			term.press(t, tt.keys)
			term.golden(t, name)
		})
	}
}

// TestNoDetails: a tape that cannot be read has no details, so nothing gets the keys.
func TestNoDetails(t *testing.T) {
	term := start(t, screen.Inspector{Store: storeOf(t, "acp-go-sdk.jsonl")}, screen.Subject{}, 200, 60)
	term.press(t, "«Hello, agent!»<Tab>«no details here»")
	term.click(150, 10)
	term.wheel(150, 10, tcell.WheelDown)
	term.press(t, "/hello<Enter>«filter hello»<Esc>j«did »<Tab>«Esc back»jj/turn<Enter>«search turn»<Esc><Esc>«o sort»")
}
