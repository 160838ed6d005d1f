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
		"Ein *schöner* Tag":                  "Ein <i>schöner</i> Tag",
	} {
		if got := written(prose(line)[0].Runs); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

// outline writes passages, one a line, with those in lists indented.
func outline(b *strings.Builder, list []passage, indent string) {
	for _, p := range list {
		fmt.Fprintf(b, "%s%s: %s%s", indent, p.Kind, strings.ReplaceAll(written(p.Runs)+p.Text, "\n", "⏎"), "\n")
		for i, item := range p.Items {
			fmt.Fprintf(b, "%s %d\n", indent, p.Start+i)
			outline(b, item, indent+"  ")
		}
		if p.Table == nil {
			continue
		}
		for _, row := range append([][]proseCell{p.Table.Head}, p.Table.Rows...) {
			for _, cell := range row {
				fmt.Fprintf(b, " [%s%s]", written(cell.Runs), cell.Class)
			}
		}
		b.WriteString("\n")
	}
}

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"One line\nand another\n\nNext": "p: One line⏎and another\np: Next\n",
		"Before:\n| quarter | *after* |\n|---|--:|\n| `a\\|b` | **230** |\n| short\n\nAfter": "p: Before:\ntable: \n [quarter] [<i>after</i>n] [<code>a|b</code>] [<b>230</b>n] [short] [n]\np: After\n",
		"# Title #\ntext":                          "h: Title\np: text\n",
		"3. three\n4. four\n   - inner\n\n   more": "ol: \n 3\n  p: three\n 4\n  p: four\n  ul: \n   0\n    text: inner\n  p: more\n",
		"- a\n- b\n```\ncode  \n```\n---\n":        "ul: \n 0\n  text: a\n 1\n  text: b\npre: code  \nhr: \n",
		"~~~go\nopen":                              "pre: open\n",
		"<b>not HTML</b> &#x202e; > quoted":        "p: <b>not HTML</b> &#x202e; > quoted\n",
		"> quoted":                                 "p: > quoted\n",
		"![x](https://example.com/i.png)":          "p: ![x](https://example.com/i.png)\n",
		"":                                         "",
	} {
		var got strings.Builder
		if outline(&got, prose(text), ""); got.String() != want {
			t.Errorf("%q: got\n%s\nwant\n%s", text, &got, want)
		}
	}
}

// Lists and emphasis in one another without end are shown only so deep, and nothing is lost.
func TestDeepProse(t *testing.T) {
	for _, text := range []string{strings.Repeat("- ", 500) + "end", strings.Repeat("*a **b ", 500) + "end" + strings.Repeat("** *", 500)} {
		list := prose(text)
		var got strings.Builder
		outline(&got, list, "")
		if deep := max(listDepth(list), styleDepth(list[0].Runs)); deep > deepest || !strings.Contains(got.String(), "end") {
			t.Errorf("%.20s…: got %d levels, %.300s", text, deep, &got)
		}
	}
}

// A table that lacks most of its cells remains text.
func TestWideTable(t *testing.T) {
	text := strings.Repeat("|a", 3000) + "\n" + strings.Repeat("|-", 3000) + "\n" + strings.Repeat("|a\n", 3000)
	if list := prose(text); len(list) != 1 || list[0].Kind != "p" {
		t.Errorf("got %d passages, the first a %s", len(list), list[0].Kind)
	}
}

func listDepth(list []passage) (deep int) {
	for _, p := range list {
		for _, item := range p.Items {
			deep = max(deep, 1+listDepth(item))
		}
	}
	return deep
}

func styleDepth(list []run) (deep int) {
	for _, r := range list {
		if r.Inside != nil {
			deep = max(deep, 1+styleDepth(r.Inside))
		}
	}
	return deep
}
