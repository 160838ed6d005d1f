package matrix

// A Row is a peer as JSON.
type Row struct {
	Protocol string          `json:"protocol"`
	Side     string          `json:"side"` // agent or client
	Name     string          `json:"name"`
	Version  string          `json:"version,omitempty"`
	Tapes    int             `json:"tapes"`
	Frames   int             `json:"frames"`
	Cells    map[string]Fact `json:"capabilities"` // those for which there is evidence
}

// A Fact is a cell as JSON.
type Fact struct {
	Mark Mark `json:"mark"`
	Cell
}

// Rows returns the matrix for JSON, a row for each peer.
func (m *Matrix) Rows() []Row {
	rows := []Row{}
	for _, g := range m.Grids() {
		for _, p := range g.Peers {
			r := Row{
				Protocol: g.Protocol.String(), Side: sideName(m.Side), Name: p.Name, Version: p.Version,
				Tapes: p.Tapes, Frames: p.Frames, Cells: make(map[string]Fact),
			}
			for _, c := range g.Columns {
				if cell := p.Cell(c); cell.Mark() != NotOffered {
					r.Cells[c] = Fact{cell.Mark(), cell}
				}
			}
			rows = append(rows, r)
		}
	}
	return rows
}
