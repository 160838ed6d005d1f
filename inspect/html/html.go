// Package html writes HTML: elements are functions of their attributes and what is in them. It
// escapes text and the values of attributes. Callers must not take from the wire what names, runs,
// loads or styles something.
//
// Both html/template and maragu.dev/gomponents would do, but not in a small program: the former
// makes the linker keep every method of every type (3 MB), the latter makes a closure of every
// element (1 MB).
package html

import (
	"bufio"
	"io"
	"strings"
)

// A Node is a part of a page: an element, an attribute of the element that it is given to, text,
// or a Group of nodes. A nil Node is nothing.
type Node interface{ write(w writer) }

type writer interface {
	io.Writer
	io.ByteWriter
	io.StringWriter
}

// Write writes a page.
func Write(w io.Writer, page Node) error {
	b := bufio.NewWriterSize(w, 64<<10) // nodes write in small pieces
	page.write(b)
	return b.Flush()
}

// String returns a part of a page.
func String(n Node) string {
	var b strings.Builder
	n.write(&b)
	return b.String()
}

// A Group is several nodes in place of one.
type Group []Node

func (list Group) write(w writer) {
	for _, n := range list {
		if _, ok := n.(attribute); !ok && n != nil {
			n.write(w)
		}
	}
}

// attributes writes those of the nodes that are attributes.
func (list Group) attributes(w writer) {
	for _, n := range list {
		switch n := n.(type) {
		case attribute:
			n.write(w)
		case Group:
			n.attributes(w)
		}
	}
}

// Text returns text, which is escaped.
func Text(s string) Node { return text(s) }

type text string

func (t text) write(w writer) { escaper.WriteString(w, string(t)) }

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\x00", "\ufffd")

// Raw returns markup of our own.
func Raw(s string) Node { return raw(s) }

type raw string

func (r raw) write(w writer) { w.WriteString(string(r)) }

// NL ends a line of the page's source.
const NL = raw("\n")

// An attribute that is bare has no value.
type attribute struct {
	name, value string
	bare        bool
}

func (a attribute) write(w writer) {
	w.WriteByte(' ')
	w.WriteString(a.name)
	if !a.bare {
		w.WriteString(`="`)
		escaper.WriteString(w, a.value)
		w.WriteByte('"')
	}
}

// An element is a tag with what is in it.
type element struct {
	name  string
	ends  string // > or />; empty if there is an end tag
	nodes Group
}

func (e *element) write(w writer) {
	w.WriteByte('<')
	w.WriteString(e.name)
	e.nodes.attributes(w)
	if e.ends != "" {
		w.WriteString(e.ends)
		return
	}
	w.WriteByte('>')
	e.nodes.write(w)
	w.WriteString("</")
	w.WriteString(e.name)
	w.WriteByte('>')
}

// El returns an element.
func El(name string, nodes ...Node) Node { return &element{name, "", nodes} }

// Void returns an element of HTML that has no end tag, such as br.
func Void(name string, attributes ...Node) Node { return &element{name, ">", attributes} }

// Shape returns an element of SVG that has only attributes.
func Shape(name string, attributes ...Node) Node { return &element{name, "/>", attributes} }

// Attr returns an attribute.
func Attr(name, value string) Node { return attribute{name: name, value: value} }

// Flag returns an attribute without a value.
func Flag(name string) Node { return attribute{name: name, bare: true} }

// Given returns nodes, or nothing if v is the zero value.
func Given[T comparable](v T, nodes ...Node) Node {
	if v == *new(T) {
		return nil
	}
	return Group(nodes)
}

// Each draws the elements of a list while the page is written, one after another, so that the
// nodes of a long list are never in memory together.
func Each[T any](list []T, draw func(T) Node) Node { return &lazy[T]{list, draw} }

type lazy[T any] struct {
	list []T
	draw func(T) Node
}

func (l *lazy[T]) write(w writer) {
	for _, one := range l.list {
		if n := l.draw(one); n != nil {
			n.write(w)
		}
	}
}
