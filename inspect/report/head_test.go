package report_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/report"
)

// The head of a page tells each thing once: the first prompt is the title, what the lines say is
// no figure, and the cost comes first.
func TestHead(t *testing.T) {
	s := &script{}
	s.turn("Fix it", "Done.", 2, "go test")
	s.at += 7
	s.turn("Fix it again", "Done again.", 0)
	page := string(write(t, report.Input{Tapes: []report.Tape{portable(t, s.lines...)}}))
	_, head, _ := strings.Cut(page, `<div class="head">`)
	head, _, _ = strings.Cut(head, "</div>\n<section")
	head = strings.Join(strings.Fields(regexp.MustCompile("<[^>]*>").ReplaceAllString(head, " ")), " ")
	for _, want := range []string{
		"asked Fix it 21 November 2026", "turn 1 ✓ done · Done.", "turn 2 Fix it again ✓ done · Done again.", "failed nothing did",
		"time 9.00 s tools 2.00 s 22 % your next prompt 7.00 s 78 % slowest go test 2.00 s cost – not reported tokens – not reported",
	} {
		if strings.Count(head, want) != 1 {
			t.Errorf("got %d × %q, want it once in %q", strings.Count(head, want), want, head)
		}
	}
	for _, label := range []string{"tool calls", "failures"} {
		if strings.Contains(page, "<dt>"+label+"</dt>") {
			t.Errorf("%s are a figure, too", label)
		}
	}
}

// A call that completed, but printed that its command failed, counts as failed wherever the page tells
// of it: in the head, in the row of its turn, and as a bar.
func TestBadExits(t *testing.T) {
	s := &script{}
	s.turn("Build it", "No.", 2, "BUILD FAILED in 3s")
	page := string(write(t, report.Input{Tapes: []report.Tape{portable(t, s.lines...)}}))
	for _, want := range []string{
		`<span class="fate">✗ open</span>`, "1 tool call (1 failed): 1 command<", "✗ 1 tool call failed<", `<span class="word bad">✗ failed</span>`, `<rect class="tool bad"`,
	} {
		if strings.Count(page, want) != 1 {
			t.Errorf("got %d × %q, want it once", strings.Count(page, want), want)
		}
	}
}
