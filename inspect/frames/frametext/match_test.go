package frametext_test

import (
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A match is highlighted and always visible, with the text around it.
func TestMatches(t *testing.T) {
	pad := strings.Repeat("x", 600)
	for _, tt := range []struct {
		frame, find string
		width       int
		want        string // of the summary, with [ and ] for colours
	}{
		{`{"id":1,"error":{"code":-32603,"message":"Overloaded"}}`, "Overload", 0, "error -32603 [Overload]ed"},
		{`{"id":1,"error":{"code":-32603,"message":"Overloaded"}}`, "loaded", 59, "…er[loaded]"},
		{`{"id":1,"error":{"code":-1,"message":"no","data":{"why":"a long word and a wide one and a needle in it and much more of that"}}}`, "needle", 80, "…one and a [needle] in it and mu…"},
		{`{"id":1,"result":{"a":{"needle":7}}}`, "needle", 0, `{"a":{"[needle]":7}}`},
		{`{"id":1,"result":{"pad":"` + pad + `","a":[{"kind":"x\u001b[2Jneedle"}]}}`, "needle", 72, `…kind: x[needle]`},
		{`{"id":1,"result":{"pad":"` + pad + `","a":[{"needle":7}]}}`, "needle", 72, `…xxx… · [needle]: 7`},
		{`{"id":1,"result":{}}`, "needle", 0, `ok`},
	} {
		e := wire.Scan([]byte(tt.frame))
		f := &dialect.Frame{Frame: wire.Frame{Seq: 1, Dir: wire.AgentToClient, Kind: e.Kind, Raw: []byte(tt.frame), Size: int64(len(tt.frame))}}
		var b strings.Builder
		l := frametext.Lines{W: &b, Width: tt.width, Color: true, Marks: func(text string) [][2]int {
			if i := strings.Index(text, tt.find); i >= 0 {
				return [][2]int{{i, i + len(tt.find)}}
			}
			return nil
		}}
		if err := l.WriteTimed(&filter.Subject{Frame: f}); err != nil {
			t.Fatal(err)
		}
		line := strings.TrimSuffix(b.String(), "\n")
		got := ""
		for _, s := range termtext.Spans(line) {
			if s.Style == termtext.Match {
				s.Text = "[" + s.Text + "]"
			}
			got += s.Text
		}
		if n := termtext.SpansWidth(termtext.Spans(line)); tt.width > 0 && n > tt.width {
			t.Errorf("%s: %d columns", tt.frame, n)
		}
		_, got, _ = strings.Cut(got, "response")
		if got = strings.TrimSpace(got); got != tt.want {
			t.Errorf("%s at %d: got %q, want %q", tt.frame, tt.width, got, tt.want)
		}
	}
}
