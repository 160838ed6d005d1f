package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/acptap/acptap/inspect/conform"
	check "github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/report"
)

// writeDiff returns the page of two runs.
func writeDiff(t testing.TB, a, b report.Input) []byte {
	t.Helper()
	var page bytes.Buffer
	broken, err := report.WriteDiff(&page, a, b)
	if err != nil || len(broken) > 0 {
		t.Fatalf("got %v, %v", broken, err)
	}
	checkPage(t, page.Bytes())
	return page.Bytes()
}

// findings are one on a frame.
func findings(seq uint64, rule string, strength conform.Strength) map[uint64][]*check.Finding {
	return map[uint64][]*check.Finding{seq: {{Finding: conform.Finding{
		Rule: &conform.Rule{ID: rule, Name: "a-rule"}, Strength: strength, Fault: conform.Agent,
		Evidence: conform.Evidence{Seq: seq, Text: "said <b>nothing</b>"},
	}}}}
}

func TestGoldenDiff(t *testing.T) {
	a, b := input(t, "../../testdata/tapes/acpx-exec.jsonl"), input(t, "../../testdata/tapes/acpx-cancel.jsonl")
	a.Ref, b.Ref = "a.jsonl", "b.jsonl"
	a.Tapes[0].Findings = findings(3, "ACP999", conform.Violation)
	b.Tapes[0].Findings = findings(4, "ACP998", conform.Note)
	checkGolden(t, "two-runs", string(writeDiff(t, a, b)))
}

// plain returns the text of a page, without what stands in tags and in the script.
func plain(page []byte) string {
	text := regexp.MustCompile(`(?s)<style>.*?</style>|<script.*?</script>|<[^>]*>`).ReplaceAllString(string(page), "\x00")
	text = html.UnescapeString(text)
	return regexp.MustCompile(`[\s\x00]*\x00[\s\x00]*`).ReplaceAllString(text, "|")
}

// What is the same in both runs differs in nothing.
func TestSameRuns(t *testing.T) {
	in := input(t, "../../testdata/tapes/acpx-exec.jsonl")
	in.Tapes[0].Findings = findings(3, "ACP999", conform.Violation)
	page := writeDiff(t, in, in)
	got := plain(page)
	for _, want := range []string{"|hello there|", "|No difference in what was asked, done and said|", "|messages|15|", "|In both: 1|", "|session/prompt|1|5.03 s|1|5.03 s|=|the same|"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page does not say %s", want)
		}
	}
	for _, no := range []string{"only in", "↑", "↓", "≠", "Of one run only"} {
		if strings.Contains(got, no) {
			t.Errorf("the page says %s", no)
		}
	}
	rows, _ := unpacked(t, page)
	if len(rows.Seq) != 38 {
		t.Errorf("got %d rows, want 19 of each run", len(rows.Seq))
	}
}

// How figures differ is said in words.
func TestFigures(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want []string
	}{
		{"acpx-exec", "acpx-cancel", []string{"|turns|1|done|1|cancelled|=|the same|", "|tool calls|2|1|↓|1 fewer|", "|waited for you|3 ms|asked once|–|only in A|"}},
		{"acpx-cancel", "acpx-exec", []string{"|tool calls|1|2|↑|1 more|", "|cancel to end|1|673 ms|–|–|only in A|"}},
		{"acp-npm-sdk", "acp-npm-sdk-again", []string{"|messages|15|26|↑|11 more|+73 %|", "|turn|1|5.03 s|2|5.01 s|≈|about the same|", "Turn above turn, on one scale: A 1 turn in 5.03 s; B 2 turns in 10.1 s"}},
		{"acpx-exec", "mcp-everything", []string{"|requests|–|26|", "|failures|–|2|", "; B 0 turns|", "|echo|–|–|1|"}},
	} {
		got := plain(writeDiff(t, report.Input{Tapes: []report.Tape{tape(t, tt.a)}}, report.Input{Tapes: []report.Tape{tape(t, tt.b)}}))
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s and %s: the page does not say %s", tt.a, tt.b, want)
			}
		}
	}
}

// What is missing says of which run.
func TestDamagedRun(t *testing.T) {
	a, b := input(t, "../../testdata/tapes/acpx-exec.jsonl"), input(t, "../../testdata/tapes/acpx-exec.jsonl")
	a.Ref, b.Ref = "before", "after"
	b.Tapes[0].Frames = damaged(b.Tapes[0].Frames)
	var page bytes.Buffer
	broken, err := report.WriteDiff(&page, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := errors.Join(broken...).Error(), "B, after: block 3 <is> damaged"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	checkPage(t, page.Bytes())
	if got, want := plain(page.Bytes()), "|B: block 3 <is> damaged|"; !strings.Contains(got, want) {
		t.Errorf("the page does not say %s", want)
	}
}

// Text of two hostile tapes is text.
func TestHostileRuns(t *testing.T) {
	one := report.Input{Tapes: []report.Tape{hostile(t)}, Ref: `x"><img src=x onerror=alert(1)>`}
	writeDiff(t, one, report.Input{Tapes: []report.Tape{tape(t, "acpx-exec")}, Ref: `</script><script>alert(1)</script>`})
}

// A page of two runs keeps to its limit.
func TestDiffLimit(t *testing.T) {
	run := func(word string) report.Input {
		text := func(turn, chunk int) string { return fmt.Sprintln(word, turn, chunk) }
		return report.Input{Tapes: []report.Tape{{Frames: session(60, 20, text)}}, Ref: word, Limit: 800 << 10}
	}
	page := writeDiff(t, run("one"), run("two"))
	if len(page) > 800<<10 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if want := []byte("are shown: acptap diff one two has all that differ."); !bytes.Contains(page, want) {
		t.Errorf("the page does not say %s", want)
	}
}

func testTwoRuns(browser context.Context, t *testing.T) {
	page := writeDiff(t, report.Input{Tapes: []report.Tape{tape(t, "acpx-exec")}, Ref: "a.jsonl"}, report.Input{Tapes: []report.Tape{tape(t, "acpx-cancel")}, Ref: "b.jsonl"})
	b := open(browser, t, page, "")
	if got, want := eval[string](b, `document.getElementById('count').textContent`), "15 frames, 4 other lines"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	title := func() string { return eval[string](b, `document.querySelector('#panel h2').textContent`) }
	b.follow(`.outline .changed a[href="#frame-2.5"]`)
	if got, want := title(), "#2.5 session/prompt"; got != want {
		t.Errorf("the link leads to %s, want %s", got, want)
	}
	if got, want := eval[string](b, `document.getElementById('count').textContent + ' ' + document.querySelector('[aria-selected=true] .n').textContent`), "9 frames, 4 other lines 2.5"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !eval[bool](b, `document.querySelector('#side [value=B]').checked && document.querySelector('.t.here') !== null`) {
		t.Error("the run is not chosen, or the line is not marked")
	}
	b.shot("two runs")
	b.follow(`.outline .changed a[href="#frame-1.5"]`)
	if got, want := title(), "#1.5 session/prompt"; got != want {
		t.Errorf("the link leads to %s, want %s", got, want)
	}
	eval[bool](b, `(document.querySelector('#side [value=B]').click(), true)`)
	if got, want := b.shown(), "2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9 2.10 2.11 2.12 2.13"; got != want {
		t.Errorf("got the rows %s, want %s", got, want)
	}
	b.do(chromedp.Focus("#query"))
	b.do(chromedp.KeyEvent("kind:request"))
	if got, want := b.shown(), "2.1 2.3 2.5"; got != want {
		t.Errorf("got the rows %s, want %s", got, want)
	}
	b.follow(`a[href="#frame-1.15"]`)
	if got, want := title(), "#1.15 session/prompt"; got != want {
		t.Errorf("the link leads to %s, want %s", got, want)
	}
	b.quiet()
	b = open(browser, t, page, "frame-2.90")
	if got, want := eval[string](b, `document.getElementById('problem').textContent`), "Frame 2.90 is not in this page: acptap show --frame 90 b.jsonl"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// follow clicks at a link, and waits until the panel shows what that leads to.
func (b *tab) follow(selector string) {
	b.t.Helper()
	quoted, _ := json.Marshal(selector)
	eval[bool](b, `new Promise(done => {
		const link = document.querySelector(`+string(quoted)+`), number = link.hash.slice('#frame-'.length);
		const look = () => document.querySelector('#panel h2')?.textContent.startsWith('#' + number + ' ') && document.querySelector('.tree .leaf') ? done(true) : setTimeout(look, 5);
		link.click();
		look();
	})`)
}
