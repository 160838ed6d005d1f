package report_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	inputs "github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/record"
)

// manyCalls is a tape of turns with calls, some of which fail.
func manyCalls(t testing.TB, turns, calls int) report.Tape {
	t.Helper()
	var lines []string
	at := 0.0
	write := func(dir, frame string) {
		lines = append(lines, fmt.Sprintf(`{"at":%.3f,"dir":%q,"frame":%s}`, at, dir, frame))
		at += .1
	}
	update := func(text string) {
		write("a2c", `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{`+text+`}}}`)
	}
	for turn := range turns {
		write("c2a", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"prompt %[1]d"}]}}`, turn))
		update(`"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"words"}`)
		for call := range calls {
			kind, status := "read", "completed"
			if call%10 == 9 {
				kind = "edit"
			}
			if call%40 == 20 {
				status = "failed"
			}
			id := fmt.Sprintf("%d-%d", turn, call)
			update(`"sessionUpdate":"tool_call","toolCallId":"` + id + `","title":"Look at ` + id + `","kind":"` + kind + `","status":"pending"`)
			update(`"sessionUpdate":"tool_call_update","toolCallId":"` + id + `","status":"` + status + `","content":[{"type":"content","content":{"type":"text","text":"line of text"}}]`)
		}
		end := `"result":{"stopReason":"end_turn"}`
		if turn == 1 {
			end = `"error":{"code":-32603,"message":"Overloaded"}`
		}
		write("a2c", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,%s}`, turn, end))
	}
	return portable(t, lines...)
}

// tabStops is an expression for what the tab key leads to.
const tabStops = `[...document.querySelectorAll('a[href], button, summary, input, [tabindex]')].filter(e => e.tabIndex >= 0 && e.checkVisibility())`

// A session of 2,000 calls, and one of 5,000 turns, can be looked over.
func testLongSessions(browser context.Context, t *testing.T) {
	for name, in := range map[string]report.Input{
		"2,000 calls": {Tapes: []report.Tape{manyCalls(t, 12, 167)}},
		"5,000 turns": {Tapes: []report.Tape{manyCalls(t, 5000, 1)}},
	} {
		b := open(browser, t, write(t, in), "")
		b.do(chromedp.EmulateViewport(1400, 900))
		t.Logf("%s: ready after %s ms", name, eval[string](b, `document.documentElement.dataset.ready`))
		if n := eval[float64](b, `document.documentElement.scrollHeight / innerHeight`); n > 30 {
			t.Errorf("%s: the page has %.0f screens, want at most 30", name, n)
		}
		if n := eval[int](b, tabStops+`.length`); n > 300 {
			t.Errorf("%s: the tab key has %d stops, want at most 300", name, n)
		}
	}
}

// Turns and calls are folded and opened by buttons and keys.
func testFold(browser context.Context, t *testing.T) {
	b := open(browser, t, write(t, report.Input{Tapes: []report.Tape{manyCalls(t, 4, 45)}}), "")
	is := func(what, expression string) {
		t.Helper()
		if !eval[bool](b, expression) {
			t.Error("not so: " + what)
		}
	}
	press := func(keys string) { t.Helper(); b.do(chromedp.KeyEvent(keys)) }
	open := `[...document.querySelectorAll('.turn')].map(e => e.open ? e.id.slice('s1-turn-'.length) : '').join('')`
	is("the failed turn and the last are open", open+` === '24'`)
	is("calls of a kind are one row", `document.querySelector('#s1-turn-4 .group summary').innerText.replace(/\s+/g, ' ').includes('9 × read')`)
	is("the failed call is a row", `document.querySelector('#s1-turn-4 .lanes > .step.wrong').checkVisibility()`)

	eval[bool](b, `(document.querySelector('[data-fold=open]').click(), true)`)
	is("all is open", `[...document.querySelectorAll('#story details')].every(e => e.open)`)
	eval[bool](b, `(document.querySelector('[data-fold=close]').click(), true)`)
	is("all is closed", `[...document.querySelectorAll('#story details')].every(e => !e.open)`)

	press("e")
	is("e leads to the first failure, and opens its turn", `document.activeElement.closest('.step')?.matches('#s1-turn-1 .wrong')`)
	press("e")
	is("e leads on to the failed turn", `document.activeElement.parentElement.id === 's1-turn-2'`)
	press("E")
	is("E leads back", `document.activeElement.closest('.step')?.matches('#s1-turn-1 .wrong')`)
	press("]]")
	is("] leads to the next turn", `document.activeElement.parentElement.id === 's1-turn-3'`)
	is("it is closed", `!document.getElementById('s1-turn-3').open`)
	press("x")
	is("x opens it", `document.getElementById('s1-turn-3').open`)
	press("[")
	is("[ leads to the turn before", `document.activeElement.parentElement.id === 's1-turn-2'`)
	is("the rail shows where one is", `new Promise(done => { const look = () => document.querySelector('.rail [aria-current]').hash === '#s1-turn-2' ? done(true) : setTimeout(look, 5); look(); })`)

	eval[bool](b, `(document.querySelector('[data-fold=bad]').click(), true)`)
	is("only what failed is shown", `[...document.querySelectorAll('.lanes .step')].filter(e => e.checkVisibility()).every(e => e.matches('.wrong'))`)
	is("what failed is shown", `[...document.querySelectorAll('.step.wrong')].every(e => e.checkVisibility({contentVisibilityAuto: false}))`)
	eval[bool](b, `(document.querySelector('[data-fold=bad]').click(), document.querySelector('[data-fold=close]').click(), true)`)

	eval[bool](b, `(location.hash = 'e-5', true)`) // in a closed group of a closed turn
	is("an address opens what is around", `new Promise(done => { const look = () => document.getElementById('e-5').checkVisibility() ? done(true) : setTimeout(look, 5); look(); })`)
	b.quiet()
}

// The axis of a waterfall follows the pointer, and is zoomed by dragging.
func testZoom(browser context.Context, t *testing.T) {
	b := open(browser, t, write(t, report.Input{Tapes: []report.Tape{manyCalls(t, 1, 60)}}), "")
	type box struct{ X, Y, Width float64 }
	cell := eval[box](b, `(() => { const e = document.querySelector('.lanes .step .time'); e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return {X: r.x, Y: r.y + 8, Width: r.width}; })()`)
	mouse := func(kind inputs.DispatchMouseEventType, x float64) {
		b.do(chromedp.MouseEvent(kind, cell.X+x*cell.Width, cell.Y, func(p *inputs.DispatchMouseEventParams) {
			if kind != chromedp.MouseMoved {
				p.Button, p.ClickCount = inputs.MouseButtonLeft, 1
			}
		}))
	}
	mouse(chromedp.MouseMoved, .5)
	length := eval[float64](b, `Number(document.querySelector('.lanes').dataset.length)`)
	if got, want := eval[string](b, `document.querySelector('.pointer span')?.textContent ?? ''`), fmt.Sprintf("%.2f s", length/2e6); got != want {
		t.Errorf("the line under the pointer says %q, want %q", got, want)
	}
	width := `document.querySelector('.lanes .step rect').getBoundingClientRect().width`
	before := eval[float64](b, width)
	mouse(chromedp.MousePressed, .0)
	mouse(chromedp.MouseMoved, .25)
	mouse(chromedp.MouseReleased, .25)
	if now := eval[float64](b, width); now < 3.5*before || now > 4.5*before {
		t.Errorf("a bar of %.1f px has %.1f px after zooming to a quarter", before, now)
	}
	if got := eval[string](b, `[...document.querySelectorAll('.axis text')].map(e => e.textContent).join(' ')`); !strings.HasPrefix(got, "0 s 1 s 2 s") {
		t.Errorf("the zoomed axis says %s", got)
	}
	eval[bool](b, `(document.querySelector('.lanes .step .time').dispatchEvent(new MouseEvent("dblclick", {bubbles: true, clientX: 900})), true)`)
	if now := eval[float64](b, width); now != before {
		t.Errorf("a bar of %.1f px has %.1f px after a double click", before, now)
	}
	b.quiet()
}

// On the page of a tape that is being recorded, what is open grows until now.
func testRunning(browser context.Context, t *testing.T) {
	tape := portable(t,
		`{"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go on"}]}}}`,
		`{"at":10,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t","title":"go test","kind":"execute","status":"in_progress"}}}}`)
	tape.Info.Live, tape.Info.Start = true, record.Start{Time: time.Date(2026, 11, 28, 9, 0, 0, 0, time.UTC)}
	b := newTab(browser, t)
	b.do(func(ctx context.Context, target *chromedp.Target) (_ chromedp.Void, err error) {
		_, err = cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
			Source: timers + fmt.Sprintf("\nDate.now = () => %d;", tape.Info.Start.Time.Add(40*time.Second).UnixMilli())})
		return
	})
	b.show(write(t, report.Input{Tapes: []report.Tape{tape}, Reload: time.Hour}), "")
	b.ready()
	for what, expression := range map[string]string{
		"the outcome has the time":             `document.querySelector('.came-out').innerText === '● running 40.0 s'`,
		"the call has run for 30 s":            `document.querySelector('.step.tool .took').textContent === '30.0 s'`,
		"its bar begins at a quarter":          `(r => { const c = document.querySelector('.step.tool .time').getBoundingClientRect(); return Math.abs(r.x - c.x - c.width / 4) < 2; })(document.querySelector('.step.tool rect.open').getBoundingClientRect())`,
		"its bar ends at the end of the scale": `(r => { const c = document.querySelector('.step.tool .time').getBoundingClientRect(); return Math.abs(r.right - c.right) < 2; })(document.querySelector('.step.tool rect.open').getBoundingClientRect())`,
	} {
		if !eval[bool](b, expression) {
			t.Error("not so: " + what)
		}
	}
	b.quiet()
}

// A table of numbers is sorted by a click on a heading, and by another one the other way round.
func testSort(browser context.Context, t *testing.T) {
	b := open(browser, t, write(t, report.Input{Tapes: []report.Tape{tape(t, "acpx-exec")}}), "")
	const table = `document.querySelector('#numbers table.wide')`
	column := func(n int) []string {
		return eval[[]string](b, fmt.Sprintf(`[...%s.tBodies[0].rows].map(r => r.cells[%d].textContent)`, table, n))
	}
	press := func(n int) {
		eval[bool](b, fmt.Sprintf(`(%s.tHead.rows[0].cells[%d].querySelector('.sort').click(), true)`, table, n))
	}
	press(0)
	names := column(0)
	if !slices.IsSorted(names) || len(names) < 3 {
		t.Errorf("sorted by name: got %q", names)
	}
	press(0)
	if got := column(0); slices.Compare(got, names) == 0 {
		t.Errorf("sorted by name, the other way round: got %q", got)
	}
	press(1)
	counts := eval[[]float64](b, `[...`+table+`.tBodies[0].rows].map(r => Number(r.cells[1].textContent.replaceAll(',', '')))`)
	slices.Reverse(counts)
	if !slices.IsSorted(counts) {
		t.Errorf("sorted by number, the largest first: got, from the end, %v", counts)
	}
	if got, want := eval[string](b, `[...`+table+`.tHead.rows[0].cells].map(c => c.ariaSort ?? '').join()`), ",descending"; !strings.HasPrefix(got, want) {
		t.Errorf("the headings say %q, want %q", got, want)
	}
	b.do(chromedp.Focus("#numbers table.wide .sort"))
	b.do(chromedp.KeyEvent(kb.ArrowRight + "\r"))
	if got, want := eval[string](b, `document.activeElement.closest('th').ariaSort`), "ascending"; got != want {
		t.Errorf("→ and Enter: the second heading says %q, want %q", got, want)
	}
	b.quiet()
}
