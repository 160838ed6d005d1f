package report_test

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/record"
)

// The tab key leads through the page from its top to its end, and where it is can be seen.
func testTabKey(browser context.Context, t *testing.T) {
	b := open(browser, t, write(t, report.Input{Tapes: []report.Tape{tape(t, "acp-npm-sdk-again")}}), "")
	eval[bool](b, `(window.before = document.body, window.stops = [], true)`)
	press := func(key string) string {
		b.do(chromedp.KeyEvent(key))
		return eval[string](b, `(() => {
			const e = document.activeElement, what = e.id || e.matches('.turn > summary') && e.parentElement.id || e.textContent.trim().slice(0, 30) || e.tagName, wrong = [];
			if (e === document.body) return 'end';
			const style = getComputedStyle(e.querySelector(':scope > .back') ?? e), r = e.getBoundingClientRect();
			const bar = e.closest('.bar') !== null;
			if (!e.matches(':focus-visible')) wrong.push('has no focus that is seen');
			if (style.outlineStyle === 'none' && style.stroke === 'none') wrong.push('has no outline');
			if (r.width === 0 || r.height === 0) wrong.push('has no size');
			if (r.bottom <= (bar ? 0 : 48) || r.top >= innerHeight || r.right <= 0 || r.left >= innerWidth) wrong.push('is out of view');
			if (before !== document.body && !(before.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING)) wrong.push('comes before what had the focus');
			before = e;
			stops.push(what);
			return wrong.map(w => what + ' ' + w).join(', ');
		})()`)
	}
	for n := 0; ; n++ {
		if n == 300 {
			t.Fatal("no end")
		}
		wrong := press("\t")
		if wrong == "end" {
			break
		}
		if wrong != "" {
			t.Error(wrong)
		}
	}
	stops := strings.Join(eval[[]string](b, `stops`), "\n")
	for _, stop := range []string{"Story", "theme", "s1-turn-2", "query", "fold", "list"} {
		if !strings.Contains(stops, "\n"+stop+"\n") && !strings.HasPrefix(stops, stop+"\n") {
			t.Errorf("the tab key does not lead to %s", stop)
		}
	}

	// The panel that Enter opens is next, and buttons keep the focus when they show another frame.
	b.do(chromedp.Focus("#list"))
	b.do(chromedp.KeyEvent("j\r\t\t\t"))
	b.do(chromedp.KeyEvent("\r"))
	if got, want := eval[string](b, `document.activeElement.textContent.slice(0, 20) + document.querySelector('#panel h2').textContent`), "↓#2 initialize"; got != want {
		t.Errorf("got the focus at %q, want %q", got, want)
	}
	b.do(chromedp.KeyEvent("%"))
	if got, want := eval[string](b, `document.activeElement.textContent.slice(0, 20) + document.querySelector('#panel h2').textContent`), "↓#1 initialize"; got != want {
		t.Errorf("got the focus at %q, want %q", got, want)
	}
	b.quiet()
}

// Without its script the page tells all but the list of frames.
func testNoScript(browser context.Context, t *testing.T) {
	one := input(t, "../../testdata/tapes/acp-npm-sdk.jsonl")
	one.Tapes[0].Findings = findings(3, "ACP999", conform.Violation)
	other := input(t, "../../testdata/tapes/acpx-cancel.jsonl")
	b := newTab(browser, t)
	b.do(func(ctx context.Context, target *chromedp.Target) (_ chromedp.Void, err error) {
		_, err = cdp.Call(ctx, target, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return
	})
	for _, view := range []struct {
		page []byte
		says map[string]string // by selector
	}{
		{write(t, one), map[string]string{
			"h1": "Hello, agent!", "#story": "Turn 1", "#story .box": "You", ".lanes": "session/new", ".turn ~ .turn .lanes": "asked: Allow this change", ".told .meta": "waited for", "#findings": "ACP999",
			"#caps": "capability", "#numbers": "session/prompt", "#frames noscript": "needs the script", ".foot": "acptap",
		}},
		{writeDiff(t, one, other), map[string]string{".both": "tool calls", "#turns": "turn 1", ".outlines": "session/new", ".foot": "acptap"}},
	} {
		b.show(view.page, "")
		<-b.loaded
		if eval[bool](b, `document.documentElement.dataset.ready !== undefined`) {
			t.Fatal("the script ran")
		}
		for selector, want := range view.says {
			if got := eval[string](b, "document.querySelector('"+selector+"')?.textContent.replace(/\\s+/g, ' ') ?? 'nothing'"); !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want something with %q", selector, got, want)
			}
		}
		if got := eval[string](b, `[...document.querySelectorAll('button, input, #list, .keys-hint')].filter(e => e.checkVisibility()).map(e => e.outerHTML.slice(0, 60)).join()`); got != "" {
			t.Errorf("what needs the script is shown without: %s", got)
		}
		if got := eval[int](b, `[...document.querySelectorAll('.lanes svg > rect, .strip svg rect')].filter(e => e.getBoundingClientRect().width === 0).length`); got > 0 {
			t.Errorf("%d bars have no width", got)
		}
	}
}

// On paper is open what is open on the screen, nothing is cut, and what leads elsewhere is left out.
func testPrinted(browser context.Context, t *testing.T) {
	long := func(turn, chunk int) string {
		if chunk == 0 {
			return "```\n"
		}
		return strings.Repeat("word ", 20) + "\n"
	}
	pages := func(b *tab) int {
		printed, err := chromedp.Run(b.ctx, func(ctx context.Context, target *chromedp.Target) (page.PrintToPDFResult, error) {
			return cdp.Call(ctx, target, page.PrintToPDF, page.PrintToPDFParams{})
		})
		if err != nil {
			t.Fatal(err)
		}
		return len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(printed.Data, -1))
	}
	short := input(t, "../../testdata/tapes/acp-npm-sdk.jsonl")
	b := open(browser, t, write(t, short), "")
	few := pages(b)
	paper := func(b *tab) {
		b.do(chromedp.EmulateViewport(718, 1000)) // what A4 has between its margins
		b.do(func(ctx context.Context, target *chromedp.Target) (_ chromedp.Void, err error) {
			_, err = cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
			return
		})
		if eval[bool](b, `[...document.querySelectorAll('main pre, main .scroll, main')].some(e => e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1)`) {
			t.Error("text is cut")
		}
	}
	paper(b)
	eval[bool](b, `(document.documentElement.classList.add('dark'), true)`)
	for what, expression := range map[string]string{
		"the story is not shown":       `!document.querySelector('.box').innerText.includes('You')`,
		"a closed tool call is open":   `[...document.querySelectorAll('.tool:not([open]) .inner')].some(e => e.checkVisibility({contentVisibilityAuto: true}))`,
		"no tool call was closed":      `document.querySelector('.tool:not([open])') === null`,
		"what is for screens is shown": `[...document.querySelectorAll('.bar, .rail, #frames, #panel, #theme')].some(e => e.checkVisibility())`,
		"it is dark":                   `getComputedStyle(document.body).backgroundColor !== 'rgb(255, 255, 255)'`,
		"the waterfall has no columns": `getComputedStyle(document.querySelector('.lane')).gridTemplateColumns.split(' ').length !== 3`,
	} {
		if eval[bool](b, expression) {
			t.Error(what)
		}
	}
	b.shot("printed")
	b = open(browser, t, write(t, report.Input{Tapes: []report.Tape{{Frames: session(5, 60, long)}}}), "")
	paper(b)
	if many := pages(b); few < 1 || many < few+3 {
		t.Errorf("a short tape has %d pages, a long one %d", few, many)
	}
}

// The page of each tape opens without a word on the console, and asks for nothing.
func testAllTapes(browser context.Context, t *testing.T) {
	paths, err := filepath.Glob("../../testdata/tapes/*.jsonl")
	if err != nil || len(paths) < 5 {
		t.Fatal(paths, err)
	}
	more, _ := filepath.Glob("../../testdata/tapes/*/*.jsonl")
	b := newTab(browser, t)
	for _, path := range append(paths, more...) {
		b.show(write(t, input(t, path)), "")
		b.ready()
		b.mu.Lock()
		if len(b.said) > 0 || len(b.requests) != 1 {
			t.Errorf("%s: got %q on the console, and the requests %q", path, b.said, b.requests)
		}
		b.said, b.requests = nil, nil
		b.mu.Unlock()
		if eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
			t.Errorf("%s: the page is wider than the screen", path)
		}
	}
}

// A long prompt is cut at first, and no other.
func TestLongPrompt(t *testing.T) {
	for lines, want := range map[int]bool{3: false, 40: true} {
		prompt := strings.Repeat("one more line\\n", lines)
		in := `{"acptap":1}
{"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"` + prompt + `"}]}}}
{"at":1,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}}
`
		tape, err := record.ReadPortable(strings.NewReader(in), "prompt")
		if err != nil {
			t.Fatal(err)
		}
		text := string(write(t, report.Input{Tapes: []report.Tape{{Frames: tape.Frames(1)}}}))
		if strings.Contains(text, `<div class="box long"`) != want || strings.Contains(text, "show all</button>") != want {
			t.Errorf("%d lines: the prompt is cut: %v, want %v", lines, !want, want)
		}
	}
}
