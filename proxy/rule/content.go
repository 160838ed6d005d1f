package rule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/acptap/acptap/proxy/wire"
)

// A change is an effect that modifies the bytes of a frame.
type change struct{}

func (change) ends() bool { return false }

// set sets a value.
type set struct {
	change
	at    path
	value template
}

func readSet(p *scanner) (action, error) {
	at, err := p.path()
	if err != nil {
		return nil, err
	}
	value, err := p.json("the value")
	return set{at: at, value: value}, err
}

func (a set) act(p *passage) string {
	return p.edit("set "+strings.Join(a.at, "."), func(frame []byte) []byte {
		value := a.value.fill(frame)
		for _, at := range a.at.expand(frame) {
			frame = wire.Set(frame, value, at...)
		}
		return frame
	})
}

// remove deletes values.
type remove struct{ at path }

func (a remove) act(p *passage) string {
	return p.edit("delete "+strings.Join(a.at, "."), func(frame []byte) []byte {
		for _, at := range slices.Backward(a.at.expand(frame)) { // last first: indexes shift
			frame = wire.Delete(frame, at...)
		}
		return frame
	})
}

func (remove) ends() bool { return false }

// replace replaces parts of strings.
type replace struct {
	change
	at   path // nil: every string value
	find *regexp.Regexp
	with string
}

func readReplace(p *scanner) (action, error) {
	var a replace
	var err error
	if p.take("*") == "" {
		if a.at, err = p.path(); err != nil {
			return nil, err
		}
	}
	p.blanks()
	at := p.i
	var parts []string
	for p.i < p.end && (p.i == at || len(parts) < 2) {
		if p.plain[at] != '/' {
			break
		}
		from := p.i + 1
		for p.i++; p.i < p.end && p.plain[p.i] != '/'; p.i++ {
			if p.plain[p.i] == '\\' {
				p.i++
			}
		}
		if p.i >= p.end {
			break
		}
		parts = append(parts, strings.ReplaceAll(p.plain[from:p.i], `\/`, "/"))
	}
	if len(parts) < 2 {
		return nil, p.wrong(at, "what to replace is written /RE2/TEXT/")
	}
	p.i++
	if a.find, err = regexp.Compile(parts[0]); err != nil {
		return nil, p.wrong(at+1, err.Error())
	}
	a.with = parts[1]
	return a, nil
}

func (a replace) act(p *passage) string {
	in := "*"
	if a.at != nil {
		in = strings.Join(a.at, ".")
	}
	replaced := func(text string) string { return a.find.ReplaceAllString(text, a.with) }
	return p.edit("replace in "+in, func(frame []byte) []byte {
		if a.at == nil {
			return eachString(frame, replaced)
		}
		for _, at := range a.at.expand(frame) {
			if old := wire.Get(frame, at...); len(old) > 0 && old[0] == '"' {
				frame = wire.Set(frame, wire.Quote(replaced(wire.Text(old))), at...)
			}
		}
		return frame
	})
}

// truncate keeps only the beginning of a frame.
type truncate int

func (a truncate) act(p *passage) string {
	if len(p.frame.Raw) <= int(a) {
		return ""
	}
	p.change(p.frame.Raw[:int(a):int(a)])
	return fmt.Sprintf("truncate to %d bytes", int(a))
}

func (truncate) ends() bool { return false }

// corrupt damages a frame.
type corrupt struct {
	change
	kind string
	grow int
}

var corruptions = []string{"utf8", "nul", "surrogate", "json", "pretty", "bom", "crlf", "blank", "batch", "twice", "grow=SIZE"}

// maxGrown limits the size of a frame that corrupt enlarges.
const maxGrown = 256 << 20

func readCorrupt(p *scanner) (action, error) {
	p.blanks()
	at := p.i
	word := p.word()
	if size, ok := strings.CutPrefix(word, "grow="); ok {
		n, err := p.sizeOf(size, at+len("grow="), "the length", maxGrown)
		return corrupt{kind: "grow", grow: n}, err
	}
	if !slices.Contains(corruptions[:len(corruptions)-1], word) {
		return nil, p.wrong(at, fmt.Sprintf("%q is not a kind of damage", word), corruptions...)
	}
	return corrupt{kind: word}, nil
}

func (a corrupt) act(p *passage) string {
	frame := p.frame.Raw
	did := "corrupt " + a.kind
	switch a.kind {
	case "crlf":
		p.change(frame)
		p.end = wire.CRLF
		return did
	case "bom":
		p.change(slices.Concat([]byte("\xef\xbb\xbf"), frame))
		return did
	case "blank":
		p.change(slices.Concat([]byte("\n"), frame))
		return did
	case "json":
		p.change(bytes.TrimRight(frame, " \t\r")[:max(0, len(bytes.TrimRight(frame, " \t\r"))-1)])
		return did
	}
	return p.edit(did, a.damaged)
}

// damaged returns a JSON frame with the damage applied.
func (a corrupt) damaged(frame []byte) []byte {
	switch a.kind {
	case "utf8":
		return inLongest(frame, []byte("\xff"))
	case "nul":
		return inLongest(frame, []byte(`\u0000`))
	case "surrogate":
		return inLongest(frame, []byte(`\ud800`))
	case "grow":
		return inLongest(frame, bytes.Repeat([]byte("x"), max(0, a.grow-len(frame))))
	case "batch":
		return slices.Concat([]byte("["), frame, []byte("]"))
	case "pretty":
		var b bytes.Buffer
		if json.Indent(&b, frame, "", "  ") == nil {
			return b.Bytes()
		}
	case "twice":
		r := wire.Inside(frame, '{')
		if name, value, ok := r.Member(); ok {
			at := bytes.IndexByte(frame, '{') + 1
			return slices.Concat(frame[:at], []byte(`"`), name, []byte(`":`), value, []byte(","), frame[at:])
		}
	}
	return frame
}

// identifying lists the members by which a receiver recognizes a frame.
var identifying = []string{"jsonrpc", "id", "method", "sessionId", "sessionUpdate", "type"}

// inLongest inserts bytes at the end of the frame's longest string value, ignoring the
// identifying members.
func inLongest(frame, inserted []byte) []byte {
	at, longest := -1, 0
	stringValues(frame, func(start, end int, name []byte) {
		if end-start > longest && !slices.Contains(identifying, wire.Text(name)) {
			at, longest = end-1, end-start
		}
	})
	if at < 0 {
		return frame
	}
	return slices.Concat(frame[:at], inserted, frame[at:])
}
