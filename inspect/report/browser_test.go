package report_test

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/testdata/browsertest"
)

// A tab shows one page.
type tab struct {
	t   testing.TB
	ctx context.Context

	path   string        // of the page
	loaded chan struct{} // has room for one, and has one when the page has been loaded

	mu       sync.Mutex // guards what follows
	requests []string
	said     []string // on the console
}

// open opens a page from a file in a tab of its own, and waits until its rows are there.
func open(browser context.Context, t testing.TB, text []byte, hash string) *tab {
	t.Helper()
	b := newTab(browser, t)
	b.do(func(ctx context.Context, target *chromedp.Target) (_ chromedp.Void, err error) {
		_, err = cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: timers})
		return
	})
	b.show(text, hash)
	b.ready()
	return b
}

// newTab opens a tab that shows nothing.
func newTab(browser context.Context, t testing.TB) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx, path: filepath.Join(t.TempDir(), "page.html"), loaded: make(chan struct{}, 1)}
	if err := chromedp.Listen(ctx, b.heard); err != nil {
		t.Fatal(err)
	}
	b.do(chromedp.EmulateViewport(1280, 800))
	return b
}

// show begins to load a page.
func (b *tab) show(text []byte, hash string) {
	b.t.Helper()
	if err := os.WriteFile(b.path, text, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.do(chromedp.Navigate((&url.URL{Scheme: "file", Path: filepath.ToSlash(b.path), Fragment: hash}).String()))
}

// ready waits until the rows are there.
func (b *tab) ready() {
	b.t.Helper()
	<-b.loaded
	eval[bool](b, `new Promise(done => {
		const look = () => document.documentElement.dataset.ready || document.documentElement.dataset.error ? done(true) : setTimeout(look, 5);
		look();
	})`)
	if e := eval[string](b, `document.documentElement.dataset.error ?? ''`); e != "" {
		b.t.Fatalf("the page says: %s", e)
	}
}

// timers makes what the page does later than in a minute the function again.
const timers = `{
	const real = setTimeout;
	window.setTimeout = (act, after) => after > 60_000 ? window.again = act : real(act, after);
}`

func (b *tab) heard(ev any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch ev := ev.(type) {
	case *page.EventLoadEventFired:
		b.loaded <- struct{}{}
	case *network.EventRequestWillBeSent:
		if !strings.HasPrefix(ev.Request.URL, "data:image/") { // which the page has in it
			b.requests = append(b.requests, ev.Request.URL)
		}
	case *runtime.EventConsoleAPICalled:
		b.said = append(b.said, fmt.Sprint(ev.Type))
	case *runtime.EventExceptionThrown:
		b.said = append(b.said, fmt.Sprintf("%+v", ev.ExceptionDetails))
	case *log.EventEntryAdded:
		b.said = append(b.said, ev.Entry.Text)
	}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns what an expression is in a page, or what is promised by it.
func eval[T any](b *tab, expression string) T {
	b.t.Helper()
	v, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// shot writes what the tab shows to a file of that name, if $ACPTAP_SHOTS names a directory.
func (b *tab) shot(name string) {
	b.t.Helper()
	if dir := os.Getenv("ACPTAP_SHOTS"); dir != "" {
		png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			b.t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
}

// shown returns the numbers of the frames in the list. There must be few enough.
func (b *tab) shown() string {
	b.t.Helper()
	return eval[string](b, `[...document.querySelectorAll('#list .n')].map(e => e.textContent).join(' ')`)
}

func TestInBrowser(t *testing.T) {
	browser := browsertest.Start(t)
	for name, test := range map[string]func(context.Context, *testing.T){
		"accessible": testAccessible,
		"filters":    testFilters,
		"panel":      testPanel,
		"links":      testLinks,
		"many":       testManyRows,
		"isolation":  testIsolation,
		"tab key":    testTabKey,
		"no script":  testNoScript,
		"printed":    testPrinted,
		"all tapes":  testAllTapes,
		"narrow":     testNarrow,
		"reload":     testReload,
		"turn open":  testReloadOpen,
		"two runs":   testTwoRuns,
		"long":       testLongSessions,
		"fold":       testFold,
		"zoom":       testZoom,
		"running":    testRunning,
		"bad input":  testBadInput,
		"sort":       testSort,
	} {
		t.Run(name, func(t *testing.T) { test(browser, t) })
	}
}

// filterTable returns the queries of testdata/filter-rows.txt by tape, and the numbers of the
// frames that fit; error for what is no query, elsewhere for what takes the bytes or RE2.
func filterTable(t *testing.T) (tapes []string, table map[string][][2]string) {
	t.Helper()
	b, err := os.ReadFile("testdata/filter-rows.txt")
	if err != nil {
		t.Fatal(err)
	}
	table = map[string][][2]string{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\n")
		if name, ok := strings.CutPrefix(line, "tape "); ok {
			tapes = append(tapes, name)
		} else if query, want, ok := strings.Cut(line, " => "); ok {
			name := tapes[len(tapes)-1]
			table[name] = append(table[name], [2]string{query, strings.TrimSpace(want)})
		}
	}
	return tapes, table
}

// The filter fits the rows that the table says.
func TestFilterTable(t *testing.T) {
	tapes, table := filterTable(t)
	for _, name := range tapes {
		tape := tape(t, name)
		for _, row := range table[name] {
			query, want := row[0], strings.TrimSpace(strings.TrimPrefix(row[1], "elsewhere"))
			f, err := filter.Parse(query)
			got := "error"
			if err == nil {
				got = fitting(&tape, f)
			}
			if got != want {
				t.Errorf("%s: %s\ngot  %s\nwant %s", name, query, got, want)
			}
		}
	}
}

// fitting returns the numbers of the frames that fit.
func fitting(tape *report.Tape, f filter.Filter) string {
	var track filter.Tracker
	track.Next(tape.Info.Start.Time)
	track.LookAhead(tape.Frames, true)
	var seqs []string
	for frame := range tape.Frames {
		if s := track.Observe(&frame); f.Match(&s) {
			seqs = append(seqs, fmt.Sprint(frame.Seq))
		}
	}
	return strings.Join(seqs, " ")
}

func testFilters(browser context.Context, t *testing.T) {
	tapes, table := filterTable(t)
	for _, name := range tapes {
		b := open(browser, t, write(t, report.Input{Tapes: []report.Tape{tape(t, name)}}), "")
		b.do(chromedp.EmulateViewport(1280, 12000))
		if figure, count := eval[string](b, `[...document.querySelectorAll('.figures dt')].find(e => e.textContent === 'messages').nextElementSibling.firstChild.textContent.trim()`),
			eval[string](b, `document.getElementById('count').textContent`); !strings.HasPrefix(count, figure+" frame") {
			t.Errorf("%s: the figure is %s frames, the list has %s", name, figure, count)
		}
		eval[bool](b, `(document.getElementById('list').style.height = '11000px', document.getElementById('fold').click(), true)`)
		for _, row := range table[name] {
			query, want := row[0], row[1]
			got := eval[string](b, `(async () => {
				const query = document.getElementById('query'), list = document.getElementById('list');
				query.value = `+fmt.Sprintf("%q", query)+`;
				query.dispatchEvent(new Event('input'));
				while (list.ariaBusy === 'true') await new Promise(r => setTimeout(r, 1));
				const problem = document.getElementById('problem').textContent;
				if (problem.includes('acptap inspect')) return 'elsewhere';
				if (problem) return 'error';
				return [...document.querySelectorAll('#list .n')].map(e => e.textContent).join(' ');
			})()`)
			if elsewhere := strings.HasPrefix(want, "elsewhere"); elsewhere && got != "elsewhere" || !elsewhere && got != want {
				t.Errorf("%s: %s\ngot  %s\nwant %s", name, query, got, want)
			}
		}
		b.quiet()
	}
}

// quiet reports what the page said on the console, and what it asked for beside itself.
func (b *tab) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.said) > 0 {
		b.t.Errorf("on the console: %q", b.said)
	}
	if len(b.requests) > 1 {
		b.t.Errorf("got requests %q, want one", b.requests)
	}
}

func testPanel(browser context.Context, t *testing.T) {
	b := open(browser, t, write(t, report.Input{Tapes: []report.Tape{tape(t, "acpx-exec")}}), "")
	b.shot("top")
	b.do(chromedp.Focus("#list"))
	b.do(chromedp.KeyEvent("jj"))
	b.do(chromedp.KeyEvent("\r"))
	title := func() string {
		return eval[string](b, `document.querySelector('#panel h2')?.textContent ?? ''`)
	}
	if got, want := title(), "#2 "; !strings.HasPrefix(got, want) {
		t.Errorf("after j j Enter: got the frame %q, want %q…", got, want)
	}
	b.do(chromedp.KeyEvent("%"))
	if got, want := title(), "#1 initialize"; got != want {
		t.Errorf("after %%: got the frame %q, want %q", got, want)
	}
	eval[bool](b, `new Promise(done => { const look = () => document.querySelector('.tree .leaf') ? done(true) : setTimeout(look, 5); look(); })`)
	b.shot("panel")
	eval[bool](b, `(document.querySelector('.tree [data-path="params.protocolVersion"]').click(), true)`)
	if got, want := eval[string](b, `document.querySelector('.path code').textContent`), "params.protocolVersion"; got != want {
		t.Errorf("got the path %q, want %q", got, want)
	}
	if got, want := eval[string](b, `new Promise(done => {
		const copy = [...document.querySelectorAll('.path button')].find(b => b.textContent === 'copy path');
		const look = () => copy.textContent === 'copy path' ? setTimeout(look, 5) : done(copy.textContent);
		copy.click();
		look();
	})`), "copied"; got != want {
		t.Errorf("the button for copying says %q, want %q", got, want)
	}
	b.do(chromedp.Focus("#panel .leaf"))
	b.do(chromedp.KeyEvent("\x1b"))
	if !eval[bool](b, `document.getElementById('panel').hidden && document.activeElement.id === 'list'`) {
		t.Error("Esc does not lead from the panel to the list")
	}
	b.do(chromedp.KeyEvent("/"))
	if !eval[bool](b, `document.activeElement === document.getElementById('query') && (document.activeElement.value = '', true)`) {
		t.Error("/ does not lead to the filter")
	}
	b.do(chromedp.KeyEvent("kind:request"))
	if got, want := eval[string](b, `location.hash`), "#q=kind%3Arequest"; got != want {
		t.Errorf("got the address %q, want %q", got, want)
	}
	b.shot("filter")
	b.quiet()
}

func testLinks(browser context.Context, t *testing.T) {
	page := write(t, report.Input{Tapes: []report.Tape{{Frames: session(100, 98, words)}}})
	b := open(browser, t, page, "frame-9000")
	if got := eval[string](b, `document.querySelector('#panel h2').textContent`); !strings.HasPrefix(got, "#9000 ") {
		t.Errorf("got the frame %q, want 9000", got)
	}
	for what, expression := range map[string]string{
		"the row is not selected":           `document.querySelector('[aria-selected=true] .n').textContent === '8906'`, // with which its run begins
		"the panel is not on the right":     `(r => r.right === innerWidth && r.left > innerWidth / 2)(document.getElementById('panel').getBoundingClientRect())`,
		"the item in the story has no tint": `getComputedStyle(document.querySelector('.step.here')).backgroundColor === getComputedStyle(document.querySelector('[aria-selected=true]')).backgroundColor`,
		"the item is not in view":           `(r => r.top > 48 && r.bottom < innerHeight)(document.querySelector('.step.here').getBoundingClientRect())`,
		"the waterfall has no tint":         `document.querySelector('.lanes .here') !== null`,
	} {
		if !eval[bool](b, expression) {
			t.Error(what)
		}
	}
	b.shot("link")
	b = open(browser, t, page, "q=turn:3 !kind:notification")
	if got, want := b.shown(), "205 304"; got != want {
		t.Errorf("got the rows %s, want %s", got, want)
	}
	b = open(browser, t, page, "frame-90000")
	if got, want := eval[string](b, `document.getElementById('problem').textContent`), "Frame 90000 is not in this page: acptap show --frame 90000 REF"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Text of a frame is not known where its bytes are not, and that is said.
func testManyRows(browser context.Context, t *testing.T) {
	b := open(browser, t, write(t, report.Input{Tapes: []report.Tape{{Frames: session(40, 18, noise())}}, Limit: 320 << 10}), "q=nowhere")
	if got := eval[string](b, `document.getElementById('count').textContent`); !strings.Contains(got, "could not be searched") {
		t.Errorf("got %q", got)
	}
}

func testNarrow(browser context.Context, t *testing.T) {
	b := open(browser, t, write(t, report.Input{Tapes: []report.Tape{tape(t, "acpx-exec")}}), "")
	b.do(chromedp.EmulateViewport(390, 800))
	if eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
		t.Error("the page is wider than the screen")
	}
	eval[bool](b, `(document.getElementById('frames').scrollIntoView(), true)`)
	b.shot("narrow")
	b.do(chromedp.EmulateViewport(1280, 800))
	eval[bool](b, `(document.getElementById('theme').click(), document.querySelector('.row').click(), true)`)
	eval[bool](b, `new Promise(done => { const look = () => document.querySelector('.tree .leaf') ? done(true) : setTimeout(look, 5); look(); })`)
	b.shot("dark")
}

// A page that is written again is read again, and looks as it did.
func testReload(browser context.Context, t *testing.T) {
	in := report.Input{Tapes: []report.Tape{{Frames: session(40, 18, words)}}, Reload: time.Hour}
	b := open(browser, t, write(t, in), "q=kind:notification")
	eval[bool](b, `(async () => {
		document.getElementById('theme').click();
		document.getElementById('fold').click();
		document.getElementById('list').scrollTop = 100;
		for (let n = 0; n < 10; n++) { // turns near the screen get their sizes step by step
			document.getElementById('s1-turn-30').scrollIntoView();
			await new Promise(requestAnimationFrame);
		}
		return true;
	})()`)
	const top = `document.getElementById('s1-turn-30').getBoundingClientRect().top`
	const look = `[location.hash, document.getElementById('list').scrollTop,
		document.getElementById('fold').checked, document.documentElement.className, document.getElementById('query').value].join(' ')`
	before, was := eval[string](b, look), eval[float64](b, top)

	in.Tapes[0].Frames = session(50, 18, words)
	b.again(write(t, in))
	if got := eval[string](b, look); got != before {
		t.Errorf("the page looks otherwise after a reload: got %s, want %s", got, before)
	}
	if now := eval[float64](b, top); math.Abs(now-was) > 2 {
		t.Errorf("after a reload the turn stands at %v px, want %v", now, was)
	}
	if !eval[bool](b, `document.getElementById('s1-turn-50') !== null && again !== undefined`) {
		t.Error("the page was not read again")
	}

	b.do(chromedp.Focus("#query"))
	eval[bool](b, `(window.first = true, again(), true)`)
	if !eval[bool](b, `first`) {
		t.Error("the page is read again while somebody writes a filter")
	}
	b.do(chromedp.Focus("#list"))
	in.Reload = 0
	b.again(write(t, in))
	if !eval[bool](b, `window.again === undefined`) {
		t.Error("the page that was written last is to be read again")
	}
	b.quiet()
}

// A turn that is read stays open when it is no longer the last.
func testReloadOpen(browser context.Context, t *testing.T) {
	in := report.Input{Tapes: []report.Tape{{Frames: session(3, 18, words)}}, Reload: time.Hour}
	b := open(browser, t, write(t, in), "")
	eval[bool](b, `(document.getElementById('s1-turn-3').scrollIntoView(), document.getElementById('s1-turn-1').open = true)`)
	in.Tapes[0].Frames = session(4, 18, words)
	b.again(write(t, in))
	if got, want := eval[string](b, `[...document.querySelectorAll('.turn[open]')].map(e => e.id).join(' ')`), "s1-turn-1 s1-turn-3 s1-turn-4"; got != want {
		t.Errorf("after a reload got the open turns %s, want %s", got, want)
	}
}

// again writes another page, and lets the script believe that it is time to read it.
func (b *tab) again(page []byte) {
	b.t.Helper()
	if err := os.WriteFile(b.path, page, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	b.requests = nil
	b.mu.Unlock()
	eval[bool](b, `(again(), true)`)
	b.ready()
}
