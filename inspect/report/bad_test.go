package report_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/acptap/acptap/inspect/report"
)

// A script writes the lines of a tape that is allowed, but hard to draw.
type script struct {
	lines []string
	id    int
	at    float64 // seconds
}

func (s *script) write(dir string, frame map[string]any) {
	frame["jsonrpc"] = "2.0"
	b, _ := json.Marshal(frame)
	s.lines = append(s.lines, fmt.Sprintf(`{"at":%.6f,"dir":%q,"frame":%s}`, s.at, dir, b))
}

func (s *script) update(update map[string]any) {
	s.write("a2c", map[string]any{"method": "session/update", "params": map[string]any{"sessionId": "s", "update": update}})
}

// turn writes a turn that has calls with these titles, each of which takes so many seconds.
func (s *script) turn(prompt, answer string, took float64, titles ...string) {
	s.id++
	s.write("c2a", map[string]any{"id": s.id, "method": "session/prompt", "params": map[string]any{"sessionId": "s", "prompt": []any{map[string]any{"type": "text", "text": prompt}}}})
	for i, title := range titles {
		id, status := fmt.Sprint(s.id, "-", i), "completed"
		if i%3 == 1 {
			status = "failed"
		}
		s.update(map[string]any{"sessionUpdate": "tool_call", "toolCallId": id, "title": title, "kind": "execute", "status": "pending"})
		s.at += took
		s.update(map[string]any{"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status, "content": []any{map[string]any{"type": "content", "content": map[string]any{"type": "text", "text": title}}}})
	}
	if answer != "" {
		s.update(map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": answer}})
	}
	s.write("a2c", map[string]any{"id": s.id, "result": map[string]any{"stopReason": "end_turn"}})
}

// overlaps is an expression for what is not where it belongs on the page.
const overlaps = `(() => {
	const wrong = new Set();
	const say = (what, e) => wrong.add(what + ': ' + e.outerHTML.slice(0, 100));
	const box = e => e.getBoundingClientRect();
	const seen = e => e.checkVisibility({contentVisibilityAuto: true}) && box(e).width > 0 && box(e).height > 0;
	const apart = (list, what) => list.forEach((e, i) => list.slice(i + 1).forEach(o => {
		const a = box(e), b = box(o);
		if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 5 && b.top < a.bottom - 5) say(what, o); // bars have 6 px above them
	}));
	if (document.documentElement.scrollWidth > innerWidth) wrong.add('the page is wider than the screen');
	for (const e of document.querySelectorAll('.head, .head *, .turn > summary, .turn > summary *, .lane, .what, .what *, .prose, .prose *, .rail a, .asked, .asked *')) {
		if (!seen(e) || e.closest('svg, table, pre')) continue;
		const r = box(e);
		if (r.left < -12 || r.right > innerWidth + 12) say('beyond the screen', e);
	}
	for (const row of document.querySelectorAll('.lane, .turn > summary, .what, .rail a, .figures, .figures > div, .gist > div')) apart([...row.children].filter(seen), 'overlaps');
	for (const axis of document.querySelectorAll('.axis svg, .strip svg')) apart([...axis.querySelectorAll('text')].filter(seen), 'labels overlap');
	for (const e of document.querySelectorAll('.lane:not(.axis) rect')) {
		if (!seen(e)) continue;
		const r = box(e), cell = box(e.closest('.time'));
		if (r.left < cell.left - 4 || r.right > cell.right + 4) say('a bar beyond its axis', e);
		if (r.width < 2) say('a bar that cannot be seen', e);
	}
	for (const e of document.querySelectorAll('.took')) if (seen(e) && e.scrollWidth > e.clientWidth + 1) say('a time that is cut', e);
	return [...wrong];
})()`

// Whatever is on a tape, nothing on its page overlaps or is lost, and the axis can be read.
func testBadInput(browser context.Context, t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for name, tell := range map[string]func(s *script){
		"long titles": func(s *script) {
			s.turn(long, strings.Repeat("W", 3000), 1, long, strings.Repeat("very/deep/", 1000), strings.Repeat("again ", 1600))
		},
		"scripts": func(s *script) {
			s.turn("שלום, למה הבדיקה TestBalance נכשלת? 🙏 תודה", "הפונקציה Balance אינה בודקת", 1, "قراءة الملف balance.go", "读取 账户/余额.go", "👩‍👩‍👧‍👦 run the 🏳️‍🌈 tests", "\u202eevil.exe", "Z̸̛͔a̷l̶g̵o̸ ̶t̷e̸x̵t̸")
			s.turn(strings.Repeat("مرحبا ", 400), strings.Repeat("مرحبا ", 400), 1, strings.Repeat("مرحبا ", 400))
		},
		"no titles": func(s *script) { s.turn("", "", 1, "", "   ", "\n"); s.turn("", "", 0) },
		"many turns": func(s *script) {
			for n := range 5000 {
				s.turn(fmt.Sprint("turn ", n), "done", .2)
				s.at += .5
			}
		},
		"0 ms and 30 hours": func(s *script) {
			s.turn("/compact", "", 0)
			s.turn("wait", "done", 30*3600, "watch")
			s.turn("thanks", "welcome", 0, "look", "look again", "and again")
		},
		"a clock that goes back": func(s *script) {
			s.at = 20
			s.turn("what time is it?", "eleven", 1, "date", "date")
			s.at = 3
			s.turn("and now?", "earlier", 1, "date", "date")
		},
	} {
		s := &script{}
		s.write("c2a", map[string]any{"id": "i", "method": "initialize", "params": map[string]any{"protocolVersion": 1}})
		s.at += .5
		s.write("a2c", map[string]any{"id": "i", "result": map[string]any{"protocolVersion": 1}})
		tell(s)
		b := open(browser, t, write(t, report.Input{Tapes: []report.Tape{portable(t, s.lines...)}}), "")
		for _, width := range []int64{390, 1400, 2200} {
			b.do(chromedp.EmulateViewport(width, 900))
			for _, act := range []string{"true", "document.querySelector('[data-fold=open]').click()"} {
				if act != "true" && name == "many turns" {
					continue // 230 of them are open then
				}
				eval[bool](b, act+`; true`)
				for _, wrong := range eval[[]string](b, overlaps) {
					t.Errorf("%s, %d px: %s", name, width, wrong)
				}
				b.shot(fmt.Sprintf("bad-%s-%d", strings.ReplaceAll(name, " ", "-"), width))
			}
			eval[bool](b, `document.querySelector('[data-fold=close]').click(); true`)
		}
		if got, want := eval[int](b, `document.querySelectorAll('.step.tool').length`), strings.Count(strings.Join(s.lines, "\n"), `"sessionUpdate":"tool_call",`)+strings.Count(strings.Join(s.lines, "\n"), `"sessionUpdate":"tool_call"}`); name != "many turns" && got != want {
			t.Errorf("%s: the page has %d calls, want %d", name, got, want)
		}
		if n := eval[int](b, `Math.min(...[...document.querySelectorAll('.lanes')].map(e => e.querySelectorAll('.axis text').length))`); name == "long titles" && n < 3 {
			t.Errorf("%s: an axis has %d labels", name, n)
		}
		b.quiet()
	}
}
