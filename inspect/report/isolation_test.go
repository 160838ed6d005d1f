package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	check "github.com/acptap/acptap/inspect/conform/report"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/record"
)

// payloads are text that would do something if it were taken for markup or for script.
var payloads = []string{
	`<script>window.PWNED=1</script>`, `<img src=x onerror=window.PWNED=1>`, `"><svg onload=window.PWNED=1>`, `</script><script>window.PWNED=1</script>`,
	`javascript:window.PWNED=1`, `<iframe srcdoc="<script>parent.PWNED=1</script>">`, `<!--`, `]]>`, `</style><style>*{display:none}`, `{{.}}`, `${window.PWNED=1}`,
	`' onmouseover='window.PWNED=1`, `&lt;script&gt;`, `</template><base href=//x>`, `<meta http-equiv=refresh content="0;url=//x">`, "\u202e<b>", "\x1b]8;;http://x\x07",
	`<a href=http://x>x</a>`, `<form action=//x><button>`, `<link rel=stylesheet href=//x>`, `<object data=//x>`,
}

// A place in testdata/hostile-*.jsonl is a string that begins so, and has a name.
var hostilePlace = regexp.MustCompile(`"(_?@[a-z-]+)"`)

// hostileTape returns a tape of testdata that has a payload in each place, behind its name.
func hostileTape(t *testing.T, name, payload string, raw bool) report.Tape {
	t.Helper()
	text, err := os.ReadFile("testdata/hostile-" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	text = hostilePlace.ReplaceAllFunc(text, func(place []byte) []byte {
		if string(place) == `"@tape"` { // an id of a tape has no such characters
			return []byte(`"20261121T113742-4twmvd"`)
		}
		quoted, _ := json.Marshal(string(bytes.Trim(place, `"`)) + payload)
		return quoted
	})
	tape, err := record.ReadPortable(bytes.NewReader(text), name)
	if err != nil {
		t.Fatal(err)
	}
	info, err := tape.Info()
	if err != nil {
		t.Fatal(err)
	}
	one := report.Tape{Info: info, Frames: tape.Redacted()}
	if raw {
		one.Frames = tape.Frames(1)
	}
	one.Findings = map[uint64][]*check.Finding{3: {{Finding: conform.Finding{
		Rule: &conform.Rule{ID: "ACP999", Name: "a-rule"}, Strength: conform.Violation, Fault: conform.Agent, Evidence: conform.Evidence{Seq: 3, Text: "@finding" + payload},
	}}}}
	return one
}

// places returns the names of the places of a tape of testdata.
func places(t testing.TB, name string) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/hostile-" + name + ".jsonl")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ = bytes.Cut(text, []byte("\n")) // the tape's own line is not in the page as it is
	var list []string
	for _, m := range hostilePlace.FindAllSubmatch(text, -1) {
		list = append(list, strings.TrimPrefix(string(m[1]), "_"))
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// hostileInput has each payload in each place, and these also beside the tapes.
func hostileInput(t *testing.T, name string, raw bool) report.Input {
	t.Helper()
	in := report.Input{Title: "@heading" + payloads[0], Ref: "@ref" + payloads[1], Version: "@version" + payloads[2], Raw: raw}
	for _, p := range payloads {
		in.Tapes = append(in.Tapes, hostileTape(t, name, p, raw))
	}
	return in
}

// Nothing of the traffic can be run in a page, be loaded, or change how it looks.
func testIsolation(browser context.Context, t *testing.T) {
	acp, mcp := hostileInput(t, "acp", true), hostileInput(t, "mcp", true)
	turned := acp
	turned.Tapes = slices.Concat(acp.Tapes[1:], acp.Tapes[:1])
	for name, page := range map[string]struct {
		of     string
		text   []byte
		frames bool // are looked at
	}{
		"raw":      {"acp", write(t, acp), true},
		"redacted": {"acp", write(t, hostileInput(t, "acp", false)), false},
		"servers":  {"mcp", write(t, mcp), true},
		"two runs": {"acp", writeDiff(t, acp, turned), false},
	} {
		b := open(browser, t, page.text, "")
		if page.frames {
			b.everyPlace(page.of)
		}
		b.isolated(name)
	}
}

// isolated reports what the traffic has done to a page.
func (b *tab) isolated(name string) {
	b.t.Helper()
	names := eval[[]string](b, `[...new Set([...document.querySelectorAll('main *')].flatMap(e => ['id', 'class', 'href', 'data-frame', 'fill', 'x', 'width'].flatMap(a => e.getAttribute(a) ?? [])))].filter(v => !/^[#\w .%,:()-]*$/.test(v))`)
	if len(names) > 0 {
		b.t.Errorf("%s: names that are not ours: %q", name, names)
	}
	b.quiet() // text that shall become elements is told there
	for what, expression := range map[string]string{
		"code of the traffic ran":          `window.PWNED !== undefined`,
		"there is another script":          `document.querySelectorAll('script:not([type])').length !== 1 || document.querySelector('script[src]') !== null`,
		"there is a handler in the markup": `[...document.querySelectorAll('*')].some(e => [...e.attributes].some(a => a.name.startsWith('on')))`,
		"there is a foreign address":       `[...document.querySelectorAll('[href], [action], [data]')].some(e => !(e.getAttribute('href') ?? 'x').startsWith('#'))`,
		"there is a foreign element":       `document.querySelector('iframe, object, embed, base, link, form[action], meta[http-equiv=refresh]') !== null || document.querySelectorAll('style').length !== 1`,
		"text can become elements":         `(() => { try { document.body.innerHTML = '<b>x</b>'; return true } catch { return false } })()`,
	} {
		if eval[bool](b, expression) {
			b.t.Errorf("%s: %s", name, what)
		}
	}
}

// everyPlace looks at frames, and reports where on the tapes nothing of the page has led.
func (b *tab) everyPlace(of string) {
	b.t.Helper()
	seen := eval[[]string](b, `(async () => {
		const panel = document.getElementById('panel'), places = new Set();
		const look = e => { for (const [place] of e.textContent.matchAll(/@[a-z-]+/g)) places.add(place); };
		const later = () => new Promise(done => setTimeout(done));
		look(document.body);
		// All frames of the first tape, and of each other one another.
		for (let tape = 1; tape <= `+strconv.Itoa(len(payloads))+`; tape++) for (let seq = tape; seq <= 30; seq += tape === 1 ? 1 : 30) {
			const there = new Promise(done => addEventListener('hashchange', done, {once: true}));
			location.hash = '#frame-' + tape + '.' + seq;
			await there;
			while (panel.querySelector('.tree')?.childElementCount === 0) await later();
			for (let closed; (closed = panel.querySelectorAll('details:not([open])')).length > 0; await later()) for (const d of closed) d.open = true;
			look(panel);
		}
		return [...places];
	})()`)
	for _, place := range places(b.t, of) {
		if !slices.Contains(seen, place) {
			b.t.Errorf("nothing shows what is in %s of %s", place, of)
		}
	}
}
