package redact

import "bytes"

// tables looks for secrets in the cells of Markdown tables: below a header, or beside a name.
func (s *search) tables() {
	if bytes.IndexByte(s.text, '|') < 0 {
		return
	}
	var above, header []span
	for i := 0; i < len(s.text); {
		line := head(s.text[i:], "\r\n")
		cells := tableCells(s.text, i, i+len(line))
		switch {
		case len(cells) == 0:
			header = nil
		case len(bytes.Trim(line, "|-: \t")) == 0 && bytes.Contains(line, []byte("--")):
			header = above
		default:
			s.tableRow(cells, header)
		}
		above = cells
		i += len(line) + 1
	}
}

// tableCells returns the cells of a line that begins and ends with a |, without the marks of
// Markdown around their text.
func tableCells(t []byte, from, to int) (cells []span) {
	line := bytes.TrimSpace(t[from:to])
	if len(line) < 5 || line[0] != '|' || line[len(line)-1] != '|' {
		return nil
	}
	for cell := range bytes.SplitSeq(line[1:len(line)-1], []byte("|")) {
		begin := from + bytes.IndexByte(t[from:to], '|') + 1
		from = begin + len(cell)
		text := bytes.TrimLeft(cell, " \t*_`")
		begin += len(cell) - len(text)
		cells = append(cells, span{begin, begin + len(bytes.TrimRight(text, " \t*_`"))})
	}
	return cells
}

func (s *search) tableRow(cells, header []span) {
	for i, cell := range cells {
		named := i > 0 && isSecretPhrase(s.text[cells[i-1].from:cells[i-1].to])
		if i < len(header) && isSecretPhrase(s.text[header[i].from:header[i].to]) {
			named = true
		}
		if value := s.text[cell.from:cell.to]; named && (likePassword(value) || hasDigitAndCase(value) && !isReference(value, nil) && !bytes.ContainsAny(value, " .:\\()[]{}<>")) {
			s.add(cell.from, cell.to)
		}
	}
}

// insertInto matches what precedes the rows of a SQL statement: the names of its columns.
var insertInto = compiledAtUse(`(?i)\binsert +into\s+[^\s(]+\s*\(([^()]*)\)\s*values\s*`)

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
