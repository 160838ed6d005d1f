package redact

import (
	"bytes"

	"github.com/acptap/acptap/proxy/lazyregexp"
)

// tables looks for secrets in the cells of tables, in Markdown and as database clients print
// them: below a header, or next to a name.
func (s *search) tables() {
	if bytes.IndexByte(s.text, '|') < 0 {
		return
	}
	var above, header []span
	record := false // one row of psql, with a name and a value on each line
	for i := 0; i < len(s.text); {
		line := head(s.text[i:], "\r\n")
		cells, framed := tableCells(s.text, i, i+len(line))
		switch {
		case bytes.HasPrefix(line, []byte("-[ RECORD ")):
			record, cells = true, nil
		case len(bytes.Trim(line, "|+-: \t")) == 0 && bytes.Contains(line, []byte("--")):
			if header == nil {
				header = above
			}
		case len(cells) == 0:
			record, header = false, nil
		case framed, record, header != nil:
			s.tableRow(cells, header)
		}
		above = cells
		i += len(line) + 1
	}
}

// tableCells returns the cells of a line with a | between them, without the marks of Markdown
// around their text. framed: the line begins and ends with a | too.
func tableCells(t []byte, from, to int) (cells []span, framed bool) {
	line := bytes.TrimSpace(t[from:to])
	if len(line) < 5 || bytes.IndexByte(line, '|') < 0 {
		return nil, false
	}
	from += bytes.Index(t[from:to], line)
	if framed = line[0] == '|' && line[len(line)-1] == '|'; framed {
		from, line = from+1, line[1:len(line)-1]
	}
	for cell := range bytes.SplitSeq(line, []byte("|")) {
		begin := from
		from += len(cell) + 1
		text := bytes.TrimLeft(cell, " \t*_`")
		begin += len(cell) - len(text)
		cells = append(cells, span{begin, begin + len(bytes.TrimRight(text, " \t*_`"))})
	}
	return cells, framed
}

func (s *search) tableRow(cells, header []span) {
	for i, cell := range cells {
		named := i > 0 && isSecretPhrase(s.text[cells[i-1].from:cells[i-1].to])
		if i < len(header) && isSecretPhrase(s.text[header[i].from:header[i].to]) {
			named = true
		}
		if named && mayBeSecretCell(s.text[cell.from:cell.to]) {
			s.add(cell.from, cell.to)
		}
	}
}

// mayBeSecretCell reports whether a cell's value is neither a word nor code.
func mayBeSecretCell(value []byte) bool {
	return likePassword(value) || hasDigitAndCase(value) && !isReference(value, nil) && !bytes.ContainsAny(value, " .:\\()[]{}<>")
}

// separated looks for secrets in the columns of CSV and similar formats, below a line of
// names without blanks between them.
func (s *search) separated() {
	if bytes.IndexByte(s.text, '\n') < 0 {
		return
	}
	var secret []bool // for each column
	separator := byte(0)
	for i := 0; ; {
		line := head(s.text[i:], "\r\n")
		end := i + len(line)
		if secret != nil {
			cells := separatedCells(s.text, i, end, separator)
			if len(cells) != len(secret) {
				secret = nil
			}
			for n, cell := range cells[:min(len(cells), len(secret))] {
				if secret[n] && mayBeSecretCell(s.text[cell.from:cell.to]) {
					s.add(cell.from, cell.to)
				}
			}
		}
		if end == len(s.text) {
			return
		}
		if secret == nil {
			secret, separator = s.secretColumns(i, end)
		}
		if i = end + 1; i < len(s.text) && s.text[end] == '\r' && s.text[i] == '\n' {
			i++
		}
	}
}

// secretColumns returns which columns are secret if a line consists of their names; nil if
// none is.
func (s *search) secretColumns(from, to int) (secret []bool, separator byte) {
	const longest = 1 << 10
	if to-from > longest {
		return nil, 0
	}
	for i, c := range s.text[from:to] {
		switch {
		case isNameByte(c), c == '"', c == '.', c == '\'':
		case c == ' ':
			if i == 0 || !isNameByte(s.text[from+i-1]) {
				return nil, 0
			}
		case separator == 0 && (c == ',' || c == ';' || c == '\t' || c == '|'):
			separator = c
		case c != separator:
			return nil, 0
		}
	}
	if separator == 0 {
		return nil, 0
	}
	some := false
	for _, cell := range separatedCells(s.text, from, to, separator) {
		name := s.text[cell.from:cell.to]
		if len(name) == 0 {
			return nil, 0
		}
		is := isSecretPhrase(name)
		some, secret = some || is, append(secret, is)
	}
	if !some {
		return nil, 0
	}
	return secret, separator
}

// separatedCells returns the cells of a line without their quotes.
func separatedCells(t []byte, from, to int, separator byte) (cells []span) {
	for {
		end := from
		for quoted := false; end < to && (quoted || t[end] != separator); end++ {
			if t[end] == '"' {
				quoted = !quoted
			}
		}
		text := bytes.TrimLeft(t[from:end], " \"'")
		begin := end - len(text)
		cells = append(cells, span{begin, begin + len(bytes.TrimRight(text, " \"'"))})
		if end == to {
			return cells
		}
		from = end + 1
	}
}

// insertInto matches what precedes the rows of a SQL statement: the names of its columns.
var insertInto = lazyregexp.New(`(?i)\binsert +into\s+[^\s(]+\s*\(([^()]*)\)\s*values\s*`)

// inserts looks for secrets in the strings that SQL inserts.
func (s *search) inserts() {
	if !s.contains("nto ") && !s.contains("NTO ") {
		return
	}
	for _, at := range insertInto().FindAllSubmatchIndex(s.text, -1) {
		names, _ := s.list(at[2])
		for i := at[1]; i < len(s.text) && s.text[i] == '('; {
			values, end := s.list(i + 1)
			for j, at := range values[:min(len(names), len(values))] {
				value := s.text[at.from:at.to]
				if isSecretPhrase(s.text[names[j].from:names[j].to]) && !isDigits(value) && !isReference(value, nil) && value[0] != '?' && value[0] != ':' {
					s.add(at.from, at.to)
				}
			}
			i = skipMarks(s.text, end, "), \t\r\n")
		}
	}
}

// list returns the elements of a list in parentheses, without their quotes, and where it ends.
func (s *search) list(i int) (all []span, end int) {
	t := s.text
	for {
		i = skipMarks(t, i, ", \t\r\n")
		in, end, quoted := quotedAt(t, i)
		if !quoted {
			in = span{i, i + len(head(near(t[i:]), ",) \t\r\n"))}
			end = in.to
		}
		if in.from == end {
			return all, i
		}
		all = append(all, in)
		i = end
	}
}
