package rule

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/wire"
)

// A template is JSON in which ${PATH} stands for the value at a gjson path of a frame. Inside
// a string it stands for the text of that value.
type template []piece

// A piece is JSON followed by the value at a path.
type piece struct {
	json   []byte
	path   string // empty: nothing follows
	quoted bool   // the value is inside a string
}

// fill returns the JSON for a frame. A value missing from the frame becomes null.
func (t template) fill(frame []byte) []byte {
	if len(t) == 1 && t[0].path == "" {
		return t[0].json
	}
	var b []byte
	for _, p := range t {
		b = append(b, p.json...)
		if p.path == "" {
			continue
		}
		switch v := wire.ValueAt(frame, p.path); {
		case p.quoted && v.IsString():
			b = append(b, v.Raw()[1:len(v.Raw())-1]...)
		case p.quoted:
			b = append(b, bytes.Trim(wire.Quote(v.Raw()), `"`)...)
		case v.Exists():
			b = append(b, v.Raw()...)
		default:
			b = append(b, "null"...)
		}
	}
	return b
}

// json reads a JSON value with ${PATH} in it.
func (p *scanner) json(what string) (template, error) {
	p.blanks()
	from, at := p.i, p.i
	var t template
	var quoted bool
	depth := 0
scan:
	for ; p.i < p.end; p.i++ {
		switch c := p.plain[p.i]; {
		case quoted && !strings.HasPrefix(p.plain[p.i:p.end], "${"):
			if c == '\\' {
				p.i++
			} else if c == '"' {
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				p.i++
				break scan
			}
			if depth < 0 {
				break scan
			}
		case isBlank(c) && depth == 0:
			break scan
		case c == '$':
			size := strings.IndexByte(p.plain[p.i:p.end], '}')
			if !strings.HasPrefix(p.plain[p.i:p.end], "${") || size < 0 {
				return nil, p.wrong(p.i, "a value of the frame is written ${PATH}")
			}
			path := p.plain[p.i+2 : p.i+size]
			if problem := filter.CheckPath(path); problem != "" {
				return nil, p.wrong(p.i+2, problem)
			}
			t = append(t, piece{[]byte(p.plain[at:p.i]), path, quoted})
			p.i += size
			at = p.i + 1
		}
	}
	p.i = min(p.i, p.end)
	if at < p.i || len(t) == 0 {
		t = append(t, piece{json: []byte(p.plain[min(at, p.i):p.i])})
	}
	if from == p.i {
		return nil, p.wrong(from, what+" is missing: JSON")
	}
	if !wire.IsJSON(t.fill(nil)) {
		return nil, p.wrong(from, "not JSON")
	}
	return t, nil
}

// words reads a JSON string or a word.
func (p *scanner) words(what string) (string, error) {
	p.blanks()
	from := p.i
	if p.i == p.end || p.plain[p.i] == '[' {
		return "", p.wrong(from, what+" is missing: a word, or a text in double quotes")
	}
	if p.plain[p.i] != '"' {
		return p.word(), nil
	}
	t, err := p.json(what)
	if err != nil {
		return "", err
	}
	return wire.Text(t.fill(nil)), nil
}

// A path locates values in a frame by keys and indexes; # means every element.
type path []string

// path reads a path.
func (p *scanner) path() (path, error) {
	p.blanks()
	from := p.i
	var text string
	if p.i < p.end && p.plain[p.i] == '`' {
		size := strings.IndexByte(p.plain[p.i+1:p.end], '`')
		if size < 0 {
			return nil, p.wrong(from, "unterminated path")
		}
		text = p.plain[p.i+1 : p.i+1+size]
		p.i += size + 2
	} else {
		text = p.word()
	}
	if problem := filter.CheckPath(text); problem != "" {
		return nil, p.wrong(from, problem)
	}
	var keys path
	for key, rest := "", text; rest != ""; {
		key, rest = wire.CutKey(rest)
		keys = append(keys, key)
	}
	return keys, nil
}

// count reads a number that is at least least.
func (p *scanner) count(what string, least int) (int, error) {
	p.blanks()
	from := p.i
	n, err := strconv.Atoi(p.word())
	if err != nil || n < least || n > math.MaxInt32 {
		return 0, p.wrong(from, fmt.Sprintf("%s is a number, at least %d", what, least))
	}
	return n, nil
}

// size reads a number of bytes, in the notation of filters.
func (p *scanner) size(what string, most int) (int, error) {
	p.blanks()
	from := p.i
	return p.sizeOf(p.word(), from, what, most)
}

// sizeOf parses word as a number of bytes; from is its offset.
func (p *scanner) sizeOf(word string, from int, what string, most int) (int, error) {
	n, err := filter.ParseSize(word)
	if err != nil || n < 1 || n > int64(most) {
		return 0, p.wrong(from, fmt.Sprintf("%s is a size such as 500, 2k, 1.5MiB or 2MB, at most %dM", what, most>>20))
	}
	return int(n), nil
}

// maxTime limits the times in rules.
const maxTime = 1000 * time.Hour

// duration reads a time.
func (p *scanner) duration(what string) (time.Duration, error) {
	p.blanks()
	from := p.i
	d, ok := parseTime(p.word())
	if !ok {
		return 0, p.wrong(from, what+" is a time such as 250ms or 2s")
	}
	return d, nil
}

func parseTime(text string) (time.Duration, bool) {
	d, err := time.ParseDuration(text)
	return d, err == nil && 0 <= d && d <= maxTime
}

// expand returns one path per value in the frame, with indexes in place of #.
func (keys path) expand(frame []byte) []path {
	for i, key := range keys {
		if key != "#" {
			continue
		}
		var all []path
		for n := range wire.Elements(wire.Get(frame, keys[:i]...)) {
			one := append(append(keys[:i:i], strconv.Itoa(n)), keys[i+1:]...)
			all = append(all, one.expand(frame)...)
		}
		return all
	}
	return []path{keys}
}

// eachString replaces the text of each string value with what change returns, and returns the
// resulting frame. It leaves member names alone.
func eachString(frame []byte, change func(text string) string) []byte {
	var b []byte
	done := 0
	stringValues(frame, func(start, end int, _ []byte) {
		old := wire.Text(frame[start:end])
		if now := change(old); now != old {
			b = append(append(b, frame[done:start]...), wire.Quote(now)...)
			done = end
		}
	})
	if done == 0 {
		return frame
	}
	return append(b, frame[done:]...)
}

// stringValues calls yield with the position of each string value, quotes included. name is
// the member's name as sent, or nil for an element of an array.
func stringValues(json []byte, yield func(start, end int, name []byte)) {
	var name []byte
	for i := 0; i < len(json); i++ {
		switch json[i] {
		default:
			continue
		case '{', '[', ',':
			name = nil
			continue
		case '"':
		}
		start := i
		for i++; i < len(json) && json[i] != '"'; i++ {
			if json[i] == '\\' {
				i++
			}
		}
		end := min(i+1, len(json))
		if after := bytes.TrimLeft(json[end:], " \t\r\n"); len(after) > 0 && after[0] == ':' {
			name = json[start:end]
			continue
		}
		yield(start, end, name)
	}
}
