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
		if named && likePassword(s.text[cell.from:cell.to]) {
			s.add(cell.from, cell.to)
		}
	}
}
