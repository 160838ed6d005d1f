package html

import (
	"slices"
	"strings"
)

// The elements that pages have most of. El returns the others.

func P(nodes ...Node) Node       { return El("p", nodes...) }
func Div(nodes ...Node) Node     { return El("div", nodes...) }
func Td(nodes ...Node) Node      { return El("td", nodes...) }
func Span(nodes ...Node) Node    { return El("span", nodes...) }
func A(nodes ...Node) Node       { return El("a", nodes...) }
func Tr(nodes ...Node) Node      { return El("tr", nodes...) }
func Th(nodes ...Node) Node      { return El("th", nodes...) }
func B(nodes ...Node) Node       { return El("b", nodes...) }
func H2(nodes ...Node) Node      { return El("h2", nodes...) }
func H3(nodes ...Node) Node      { return El("h3", nodes...) }
func Section(nodes ...Node) Node { return El("section", nodes...) }
func Table(nodes ...Node) Node   { return El("table", nodes...) }
func TBody(nodes ...Node) Node   { return El("tbody", nodes...) }
func THead(nodes ...Node) Node   { return El("thead", nodes...) }
func Small(nodes ...Node) Node   { return El("small", nodes...) }
func SVG(nodes ...Node) Node     { return El("svg", nodes...) }
func Summary(nodes ...Node) Node { return El("summary", nodes...) }
func Details(nodes ...Node) Node { return El("details", nodes...) }
func Li(nodes ...Node) Node      { return El("li", nodes...) }
func Ul(nodes ...Node) Node      { return El("ul", nodes...) }
func Pre(nodes ...Node) Node     { return El("pre", nodes...) }

// The attributes that they have.

func ID(value string) Node         { return Attr("id", value) }
func Title(value string) Node      { return Attr("title", value) }
func Width(value string) Node      { return Attr("width", value) }
func Height(value string) Node     { return Attr("height", value) }
func Scope(value string) Node      { return Attr("scope", value) }
func Aria(name, value string) Node { return Attr("aria-"+name, value) }
func Data(name, value string) Node { return Attr("data-"+name, value) }

// Class returns the attribute class with names, except those that are empty.
func Class(names ...string) Node {
	return Attr("class", strings.Join(slices.DeleteFunc(names, func(name string) bool { return name == "" }), " "))
}

// If returns name if so is true, otherwise "".
func If(so bool, name string) string {
	if so {
		return name
	}
	return ""
}

// Auto lets the text of an element tell its direction.
func Auto() Node { return Attr("dir", "auto") }

// Link leads to an element of the same page.
func Link(id string) Node { return Attr("href", "#"+id) }
