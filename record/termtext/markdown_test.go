package termtext_test

import (
	"testing"

	"github.com/acptap/acptap/record/termtext"
)

// TestUnmarked: the signs of Markdown are left out, and what only looks like them stays.
func TestUnmarked(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"plain", "plain"},
		{"## Fixed\n\nIt **works** now, *really*.", "Fixed\n\nIt works now, really."},
		{"- one\n* two\n3. three\n- [x] four\n> quoted", "one\ntwo\nthree\nfour\nquoted"},
		{"| a | b |\n|---|:-:|\n| `c` | **d** |", "c: d"},
		{"Sizes:\n\n| | before | after |\n|---|---|---|\n| app | 2 GB | 400 MB |\n| db | | 1 GB |\nDone.", "Sizes:\n\napp: before 2 GB, after 400 MB\ndb: after 1 GB\nDone."},
		{"| # | File | What |\n|---|---|---|\n| 1 | `a.py` | reads |\n| 2 | b.p …", "a.py: reads\n…"},
		{"| no | table |", "no table"},
		{"```go\nx := **p\n```\nafter", "x := **p\nafter"},
		{"see [the docs](https://example.com/x \"title\") and ![a chart](c.png)", "see the docs and a chart"},
		{"a `**b**` and `open", "a **b** and `open"},
		{"2 * 3 * 4, snake_case_name, __init__.py, a ** b", "2 * 3 * 4, snake_case_name, __init__.py, a ** b"},
		{"---\nrule", "rule"},
		{"#tag -x", "#tag -x"},
		{"Rename src/**/*.ts and test/**/*.ts", "Rename src/**/*.ts and test/**/*.ts"},
		{"Format *.go,*.md and **/*.ts, **/*.js", "Format *.go,*.md and **/*.ts, **/*.js"},
		{"**a** **b** *c* *d*", "a b c d"},
		{"1. **`a`**: it is **`b` or c**, **not `d`**", "a: it is b or c, not d"},
		{"**On 2 now.** I ran `x`, so **it works**", "On 2 now. I ran x, so it works"},
		{"**복합 결제**가 있다", "복합 결제가 있다"},
		{"**主包 1.9 MB**，降到 **908 KB**。是**很**快", "主包 1.9 MB，降到 908 KB。是很快"},
	} {
		if got := termtext.Unmarked(tt.text); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}
