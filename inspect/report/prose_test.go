package report

import (
	"fmt"
	"strings"
	"testing"
)

// written writes runs as HTML would have them.
func written(list []run) string {
	var b strings.Builder
	for _, r := range list {
		switch r.Kind {
		case "":
			b.WriteString(r.Text)
		case "code":
			fmt.Fprintf(&b, "<code>%s</code>", r.Text)
		default:
			fmt.Fprintf(&b, "<%s>%s</%[1]s>", r.Kind, written(r.Inside))
		}
	}
	return b.String()
}

func TestRuns(t *testing.T) {
	for line, want := range map[string]string{
		"plain":                              "plain",
		"a `code` b":                         "a <code>code</code> b",
		"``a ` b``":                          "<code>a ` b</code>",
		"`open":                              "`open",
		"**bold** and *soft*":                "<b>bold</b> and <i>soft</i>",
		"__bold__ and _soft_":                "<b>bold</b> and <i>soft</i>",
		"**bold with `x*y` and *both***":     "<b>bold with <code>x*y</code> and <i>both</i></b>",
		"*soft with **both** in it*":         "<i>soft with <b>both</b> in it</i>",
		"2 * 3 * 4":                          "2 * 3 * 4",
		"snake_case_name and __init__.py":    "snake_case_name and <b>init</b>.py",
		"*.go and *.md":                      "*.go and *.md",
		"** not bold **":                     "** not bold **",
		"[text](https://example.com/?q=key)": "[text](https://example.com/?q=key)",
		"****":                               "****",
		"Ein *schöner* Tag":                  "Ein <i>schöner</i> Tag",
	} {
		if got := written(runs(line)); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

func TestProseTable(t *testing.T) {
	list := prose("Before:\n| quarter | *after* |\n|---|--:|\n| `a|b` | **230** |\n| short\nAfter")
	var got strings.Builder
	for _, p := range list {
		fmt.Fprintf(&got, "%s:", p.Kind)
		if p.Table == nil {
			for _, line := range p.Lines {
				got.WriteString(" " + written(line))
			}
			got.WriteString("\n")
			continue
		}
		for _, row := range append([][]proseCell{p.Table.Head}, p.Table.Rows...) {
			for _, cell := range row {
				fmt.Fprintf(&got, " [%s%s]", written(cell.Runs), cell.Class)
			}
		}
		got.WriteString("\n")
	}
	want := "p: Before:\ntable: [quarter] [<i>after</i>n] [<code>a|b</code>] [<b>230</b>n] [short] [n]\np: After\n"
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}
