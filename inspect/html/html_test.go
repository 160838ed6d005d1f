package html_test

import (
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"

	h "github.com/acptap/acptap/inspect/html"
)

func TestString(t *testing.T) {
	for _, tt := range []struct {
		page h.Node
		want string
	}{
		{h.P(h.Text("a"), nil, h.Class("b")), `<p class="b">a</p>`},
		{h.P(h.Group{h.ID("i"), h.Text("a")}, h.Given(0, h.Text("b")), h.Given("c", h.Flag("open"), h.Text("c"))), `<p id="i" open>ac</p>`},
		{h.Group{h.ID("of nothing"), h.Void("br", h.Class(""))}, `<br class="">`},
		{h.SVG(h.Shape("rect", h.Width("3"))), `<svg><rect width="3"/></svg>`},
		{h.Ul(h.Each([]string{"a", "", "b"}, func(s string) h.Node { return h.Given(s, h.Li(h.Text(s))) })), `<ul><li>a</li><li>b</li></ul>`},
		{h.A(h.Link("x"), h.Raw("<b>"), h.Text("<b>"+`&'"`+"\x00")), `<a href="#x"><b>&lt;b&gt;&amp;&#39;&#34;` + "\ufffd</a>"},
	} {
		if got := h.String(tt.page); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}

// Whatever a text is, it comes back from a parser as text, and as the value of an attribute.
func FuzzText(f *testing.F) {
	for _, s := range []string{`"><script>alert(1)</script>`, `</title><script>`, `javascript:alert(1)`, `' onclick='x`, "<!--", "]]>", "&lt;", "\u2028", "`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsAny(s, "\r\x00") { // a parser changes them
			return
		}
		root, err := nethtml.Parse(strings.NewReader(h.String(h.El("body", h.Div(h.Title(s), h.Text(s))))))
		if err != nil {
			t.Fatal(err)
		}
		div := root.FirstChild.LastChild.FirstChild
		if len(div.Attr) != 1 || div.Attr[0].Val != s || div.NextSibling != nil {
			t.Errorf("got %v, then %v", div.Attr, div.NextSibling)
		}
		if text := div.FirstChild; s != "" && (text.Type != nethtml.TextNode || text.Data != s || text.NextSibling != nil) {
			t.Errorf("got %q", text.Data)
		}
	})
}
