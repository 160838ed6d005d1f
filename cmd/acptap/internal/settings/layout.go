package settings

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// insert appends an entry to a list, using the document's layout.
func (d *document) insert(list []string, name string, fields []string) (*document, error) {
	owner, names := &d.root, slices.Clone(list)
	for len(names) > 0 {
		m := member(owner, names[0])
		if m == nil {
			break
		}
		owner, names = &m.Value, names[1:]
	}
	if owner.Value.Kind() != '{' {
		return nil, fmt.Errorf("%s is no object", strings.Join(list[:len(list)-len(names)], "."))
	}
	names = append(names, name)
	ind := d.indentation(owner)
	object := owner.Value.(*hujson.Object)
	closing := owner.EndOffset - len("}")
	at := closing - len(trailingBlanks(object.AfterExtra))
	var edits []edit
	trailing := ""
	if n := len(object.Members); n > 0 {
		last := object.Members[n-1].Value
		if last.AfterExtra != nil {
			trailing = ","
		} else {
			edits = append(edits, edit{last.EndOffset, last.EndOffset, ","})
		}
	}
	end := ""
	if len(object.Members) == 0 && at == closing {
		end = ind.end() // {} on one line
	}
	return d.splice(append(edits, edit{at, at, ind.render(names, fields) + trailing + end})...)
}

// trailingBlanks returns the blanks before a closing brace, starting at the last line
// break if there is one.
func trailingBlanks(extra hujson.Extra) []byte {
	trimmed := bytes.TrimRight(extra, " \t\r\n")
	blanks := extra[len(trimmed):]
	if i := bytes.LastIndexByte(blanks, '\n'); i >= 0 {
		if i > 0 && blanks[i-1] == '\r' {
			i--
		}
		return blanks[i:]
	}
	return blanks
}

// An indentation describes the layout of an object's members.
type indentation struct {
	newline string // empty if everything is on one line
	outer   string // before the closing brace
	unit    string
}

// indentation returns the layout of an object, or of the document if the object is empty.
func (d *document) indentation(v *hujson.Value) indentation {
	in := indentation{newline: "\n", unit: "  "}
	if i := bytes.IndexByte(d.text, '\n'); i > 0 && d.text[i-1] == '\r' {
		in.newline = "\r\n"
	}
	for _, m := range membersOf(&d.root) {
		if blanks := afterLineBreak(m.Name.BeforeExtra); blanks != "" {
			in.unit = blanks
			break
		}
	}
	line := d.text[bytes.LastIndexByte(d.text[:v.StartOffset], '\n')+1 : v.StartOffset]
	in.outer = string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
	members := membersOf(v)
	if len(members) == 0 {
		if v != &d.root && !slices.Contains(d.text[:v.StartOffset], '\n') {
			in.newline = ""
		}
		return in
	}
	before := members[len(members)-1].Name.BeforeExtra
	if !slices.Contains(before, '\n') {
		in.newline = ""
		return in
	}
	if inner := afterLineBreak(before); len(inner) > len(in.outer) && strings.HasPrefix(inner, in.outer) {
		in.unit = inner[len(in.outer):]
	}
	return in
}

// afterLineBreak returns the blanks after the last line break, if there is one.
func afterLineBreak(extra hujson.Extra) string {
	i := bytes.LastIndexByte(extra, '\n')
	if i < 0 {
		return ""
	}
	blanks := extra[i+1:]
	return string(blanks[:len(blanks)-len(bytes.TrimLeft(blanks, " \t"))])
}

// render returns a new member with its missing parents, beginning with a line break.
func (in indentation) render(names, fields []string) string {
	var b strings.Builder
	level := 1
	line := func(text string) {
		if in.newline == "" {
			b.WriteString(" " + text)
			return
		}
		b.WriteString(in.newline + in.outer + strings.Repeat(in.unit, level) + text)
	}
	for _, name := range names {
		line(quote(name) + ": {")
		level++
	}
	for i, f := range fields {
		if i+1 < len(fields) {
			f += ","
		}
		line(f)
	}
	for range names {
		level--
		line("}")
	}
	return b.String()
}

// end returns the text between the last member and the closing brace.
func (in indentation) end() string {
	if in.newline == "" {
		return " "
	}
	return in.newline + in.outer
}
