package filter

// Parse parses a query. An empty one selects every frame. Errors are of type
// *SyntaxError.
func Parse(query string) (Filter, error) {
	p := parser{text: query}
	p.blanks()
	if p.i == len(p.text) {
		return Filter{}, nil
	}
	n, err := p.or()
	if err == nil && p.i < len(p.text) {
		err = p.wrong(p.i, "unmatched )")
	}
	if err != nil {
		return Filter{}, err
	}
	return Filter{n}, nil
}

type parser struct {
	text  string
	i     int // next byte
	depth int
}

// maxNesting limits how deeply groups nest, since the parser recurses.
const maxNesting = 200

func (p *parser) wrong(at int, problem string) error {
	return &SyntaxError{Query: p.text, Pos: at, Problem: problem}
}

func (p *parser) blanks() { p.i += blanks(p.text[p.i:]) }

// next returns the next byte that is not a blank, or 0 at the end.
func (p *parser) next() byte {
	p.blanks()
	if p.i == len(p.text) {
		return 0
	}
	return p.text[p.i]
}

func (p *parser) or() (node, error) {
	var nodes []node
	for {
		n, err := p.and()
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
		if p.next() != '|' {
			return grouped(true, nodes), nil
		}
		p.i++
	}
}

func (p *parser) and() (node, error) {
	var nodes []node
	for {
		if p.blanks(); p.i == len(p.text) || p.text[p.i] == '|' || p.text[p.i] == ')' {
			break
		}
		n, err := p.not()
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, n)
	}
	if len(nodes) == 0 {
		return nil, p.wrong(p.i, "a term is missing here")
	}
	return grouped(false, nodes), nil
}

func (p *parser) not() (node, error) {
	odd := false
	for p.next() == '!' {
		p.i++
		odd = !odd
	}
	n, err := p.primary()
	if err == nil && odd {
		n = notOf(n)
	}
	return n, err
}

func (p *parser) primary() (node, error) {
	if p.i == len(p.text) || p.text[p.i] == '|' || p.text[p.i] == ')' {
		return nil, p.wrong(p.i, "a term is missing here")
	}
	if p.text[p.i] == '(' {
		return p.group()
	}
	return p.term()
}

func (p *parser) group() (node, error) {
	start := p.i
	if p.depth == maxNesting {
		return nil, p.wrong(start, "groups are nested too deeply")
	}
	p.i++
	p.depth++
	n, err := p.or()
	if err != nil {
		return nil, err
	}
	if p.i == len(p.text) {
		return nil, p.wrong(start, "unmatched (")
	}
	p.i++
	p.depth--
	return n, nil
}

func (p *parser) term() (node, error) {
	c := lex(p.text, p.i)
	p.i = c.end
	switch {
	case c.open && c.quoted:
		return nil, p.wrong(c.valueAt, "unterminated string")
	case c.open:
		return nil, p.wrong(c.at, "unterminated path")
	}
	w := written{key: c.key, op: c.op, value: c.value}
	if c.key == "" {
		w.key, w.op = "text", ":"
	}
	if !c.quoted {
		w.bare = true
		if c.key != "" && len(c.value) > 0 && c.value[0] == '!' {
			return nil, p.wrong(c.valueAt, "quote a value that begins with !")
		}
	}
	t, err := newTerm(w)
	if err != nil {
		at := map[part]int{ofKey: c.at, ofOp: c.opAt, ofValue: c.valueAt}[err.part]
		return nil, &SyntaxError{Query: p.text, Pos: at, Problem: err.problem, Valid: err.valid}
	}
	return t, nil
}
