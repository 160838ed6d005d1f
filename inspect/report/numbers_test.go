package report_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/record"
)

// portable returns a tape of lines in the portable form.
func portable(t testing.TB, lines ...string) report.Tape {
	t.Helper()
	tape, err := record.ReadPortable(strings.NewReader(`{"acptap":1,"started":"2026-11-21T11:40:00Z"}`+"\n"+strings.Join(lines, "\n")+"\n"), "made")
	if err != nil {
		t.Fatal(err)
	}
	info, err := tape.Info()
	if err != nil {
		t.Fatal(err)
	}
	return report.Tape{Info: info, Frames: tape.Frames(1)}
}

// part returns a section of a page, without its markup but for links.
func part(t testing.TB, page []byte, id string) string {
	t.Helper()
	_, text, ok := strings.Cut(string(page), `<section id="`+id+`"`)
	if !ok {
		t.Fatalf("there is no section %s", id)
	}
	text, _, _ = strings.Cut(text, "</section>")
	return text
}

var (
	tags   = regexp.MustCompile(`<[^>]*>`)
	spaces = regexp.MustCompile(`\s+`)
)

// said returns what a part of a page says.
func said(part string) string { return spaces.ReplaceAllString(tags.ReplaceAllString(part, " "), " ") }

const (
	hello   = `{"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"terminal":true}}}}`
	answer  = `{"at":0.001,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}}`
	refused = `{"at":0.001,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}}`
	create  = `{"at":0.5,"dir":"a2c","frame":{"jsonrpc":"2.0","id":"x","method":"terminal/create","params":{"sessionId":"s"}}}`
)

// What both sides offer is told once for all tapes on which they said the same, with what
// was used on all of them.
func TestCapabilities(t *testing.T) {
	for _, tt := range []struct {
		name  string
		tapes [][]string
		want  []string
		not   string
	}{
		{"same", [][]string{{hello, answer, create}, {hello, answer, create}}, []string{"Tapes 1, 2", "terminal yes terminal/create ×2", "loadSession yes"}, "Tape 2"},
		{"other", [][]string{{hello, answer, create}, {strings.Replace(hello, "true", "false", 1), answer, create}},
			[]string{"Tape 1", "terminal yes terminal/create ×1", "Tape 2", "terminal no terminal/create ×1"}, "Tapes"},
		{"open", [][]string{{hello}}, []string{"It has not answered."}, "Tape"},
		{"refused", [][]string{{hello, refused}}, []string{"It refused."}, "offers nothing"},
		{"nothing", [][]string{{strings.Replace(hello, `,"clientCapabilities":{"terminal":true}`, "", 1), answer}}, []string{"It offers nothing."}, "terminal"},
		{"too long", [][]string{{strings.Replace(hello, `"terminal"`, `"`+strings.Repeat("x", 300<<10)+`"`, 1), answer}}, []string{"What it said is not there, or too long."}, "xxxx"},
	} {
		var in report.Input
		for _, lines := range tt.tapes {
			in.Tapes = append(in.Tapes, portable(t, lines...))
		}
		got := said(part(t, write(t, in), "caps"))
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: got %s\nwant %s in it", tt.name, got, want)
			}
		}
		if strings.Contains(got, tt.not) {
			t.Errorf("%s: got %s\nwithout %s", tt.name, got, tt.not)
		}
	}
}

// updates returns a turn with what was told of its context.
func updates(n int, used func(i int) int) []string {
	lines := []string{`{"at":0,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go on"}]}}}`}
	for i := range n {
		lines = append(lines, fmt.Sprintf(`{"at":%d,"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":%d,"size":200000}}}}`, i+1, used(i)))
	}
	return append(lines, fmt.Sprintf(`{"at":%d,"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"stopReason":"end_turn"}}}`, n+1))
}

// A line has the largest value however many there are, and no more corners than can be
// seen.
func TestPlots(t *testing.T) {
	for _, n := range []int{3, 100, 6000} {
		peak := n / 2
		page := write(t, report.Input{Tapes: []report.Tape{portable(t, updates(n, func(i int) int {
			if i == peak {
				return 100_000
			}
			return 1000 + i%7
		})...)}})
		numbers := part(t, page, "numbers")
		if want := fmt.Sprintf("in the session 1,00%d of 200,000, at most 100,000", (n-1)%7); !strings.Contains(said(numbers), want) {
			t.Errorf("%d updates: got %s\nwant %s in it", n, said(numbers), want)
		}
		_, context, _ := strings.Cut(numbers, "Tokens in context")
		paths := regexp.MustCompile(` d="(M[^"]{8,})"`).FindAllStringSubmatch(context, -1)
		if len(paths) != 1 {
			t.Fatalf("%d updates: got %d lines", n, len(paths))
		}
		// The most is 4 px below the top.
		if path := paths[0][1]; strings.Count(path, "V4H") != 1 || strings.Count(path, "V") > 1000 {
			t.Errorf("%d updates: got %d corners, %d of them at the top", n, strings.Count(path, "V"), strings.Count(path, "V4H"))
		}
	}
	page := write(t, report.Input{Tapes: []report.Tape{portable(t, updates(2, func(i int) int { return i })...)}})
	if strings.Contains(part(t, page, "numbers"), "Tokens in context</h3>") {
		t.Error("two values are drawn")
	}
}

// Bars stand where the times are: four for each power of ten from 0.1 ms to 100 s, what is
// beyond in the first and the last.
func TestHistogram(t *testing.T) {
	var lines []string
	for i, took := range []float64{0.00001, 0.0001, 0.001, 0.001, 0.0018, 99.9, 500} {
		at := float64(i) * 1000
		lines = append(lines,
			fmt.Sprintf(`{"at":%g,"dir":"c2a","frame":{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"x"}}}`, at, i),
			fmt.Sprintf(`{"at":%f,"dir":"a2c","frame":{"jsonrpc":"2.0","id":%d,"result":{}}}`, at+took, i))
	}
	numbers := part(t, write(t, report.Input{Tapes: []report.Tape{portable(t, lines...)}}), "numbers")
	_, row, _ := strings.Cut(numbers, `<td>tools/call</td>`)
	row, _, _ = strings.Cut(row, "</tr>")
	var got []string
	for _, bar := range regexp.MustCompile(`x="(\d+)" y="\d+" width="5" height="(\d+)"`).FindAllStringSubmatch(row, -1) {
		got = append(got, bar[1]+":"+bar[2])
	}
	if want := "0:20 24:20 30:10 138:20"; strings.Join(got, " ") != want {
		t.Errorf("got the bars %v, want %s", got, want)
	}
}

// What is slow and large leads to its frames, if they are listed.
func TestLinksOfNumbers(t *testing.T) {
	for _, without := range []bool{false, true} {
		numbers := part(t, write(t, report.Input{Tapes: []report.Tape{tape(t, "acp-npm-sdk")}, NoFrames: without}), "numbers")
		if got := strings.Contains(numbers, `href="#frame-`); got == without {
			t.Errorf("without frames %v: got links to frames %v", without, got)
		}
	}
	in := report.Input{Tapes: []report.Tape{tape(t, "acp-npm-sdk")}, Servers: []report.Tape{tape(t, "mcp-everything")}}
	numbers := part(t, write(t, in), "numbers")
	if want := `trigger-long-running-operation</td>`; !strings.Contains(numbers, want) || !strings.Contains(numbers, `href="#frame-2.`) {
		t.Errorf("got %s\nwant %s, and a link to the second tape", said(numbers), want)
	}
}
