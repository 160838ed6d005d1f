package script

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/syntax"
	"github.com/acptap/acptap/proxy/wire"
)

// Parse parses a script for dialect d. names are the values that the Player has captured
// before the first step, in addition to the usual ones. It returns a *syntax.Error for file if
// the script is invalid.
func Parse(file, text string, d dialect.Dialect, names ...string) (*Script, error) {
	p := parser{
		file: file, text: text, dialect: d,
		script: &Script{},
		names:  append(slices.Clone(names), "cwd", "servers", "revision", "params", "count"),
	}
	if len(text) > MaxSize {
		return nil, syntax.At(file, text, MaxSize, fmt.Sprintf("a script has up to %d bytes", MaxSize))
	}
	for from, line := range entries(text) {
		if err := p.line(from, line, p.macro); err != nil {
			return nil, err
		}
	}
	return p.script, nil
}

// entries yields the steps of text with their offsets. Lines that begin with a blank continue
// a step. Empty lines and lines that begin with # are skipped.
func entries(text string) func(yield func(int, string) bool) {
	return func(yield func(int, string) bool) {
		for at := 0; at < len(text); {
			end := at
			for {
				n := strings.IndexByte(text[end:], '\n')
				if n < 0 {
					end = len(text)
					break
				}
				end += n + 1
				if end == len(text) || text[end] != ' ' && text[end] != '\t' {
					break
				}
			}
			line := text[at:end]
			if strings.TrimSpace(line) != "" && line[0] != '#' && !yield(at, strings.TrimRight(line, " \t\r\n")) {
				return
			}
			at = end
		}
	}
}

// A parser parses the steps of one text.
type parser struct {
	file, text string
	dialect    dialect.Dialect
	script     *Script
	names      []string // captured so far
	captures   int
	requests   []string // named requests
}

// A cursor is a position in a step.
type cursor struct {
	line string
	i    int
}

func (c *cursor) blanks() {
	for c.i < len(c.line) && (c.line[c.i] == ' ' || c.line[c.i] == '\t' || c.line[c.i] == '\n' || c.line[c.i] == '\r') {
		c.i++
	}
}

// word consumes and returns the next word, or "" at the end.
func (c *cursor) word() string {
	c.blanks()
	from := c.i
	for c.i < len(c.line) && !strings.ContainsRune(" \t\r\n", rune(c.line[c.i])) {
		c.i++
	}
	return c.line[from:c.i]
}

// peek returns the next word without consuming it.
func (c *cursor) peek() string {
	copied := *c
	return copied.word()
}

// take consumes the next word if it is w.
func (c *cursor) take(w string) bool {
	if c.peek() != w {
		return false
	}
	c.word()
	return true
}

func (c *cursor) rest() string {
	c.blanks()
	return c.line[c.i:]
}

// A mistake is an error at a position in a step.
type mistake struct {
	at      int
	problem string
	valid   []string
}

func (m *mistake) Error() string { return m.problem }

func (c *cursor) wrong(format string, args ...any) error { return c.expected(nil, format, args...) }

func (c *cursor) expected(valid []string, format string, args ...any) error {
	c.blanks()
	return &mistake{c.i, fmt.Sprintf(format, args...), valid}
}

// line parses the step at offset at. word parses steps that are not messages.
func (p *parser) line(at int, line string, word func(at int, c *cursor, s Step) error) error {
	err := p.step(at, line, word)
	if m, ok := err.(*mistake); ok {
		return syntax.At(p.file, p.text, at+m.at, m.problem, m.valid...)
	}
	return err
}

func (p *parser) step(at int, line string, word func(at int, c *cursor, s Step) error) error {
	if len(p.script.Steps) >= maxSteps {
		return &mistake{problem: fmt.Sprintf("a script has up to %d steps", maxSteps)}
	}
	c := &cursor{line: line}
	s := Step{Line: syntax.Line(p.text, min(at, len(p.text))), Text: line}
	if c.blanks(); c.i > 0 {
		return &mistake{problem: "a step begins at the beginning of a line"}
	}
	arrow := c.word()
	notify := len(arrow) == 2
	switch arrow {
	case ">", ">>":
	case "<", "<<":
		s.Dir = wire.AgentToClient
	default:
		c.i = 0
		return word(at, c, s)
	}
	if err := p.wait(c, &s); err != nil {
		return err
	}
	if err := p.message(c, &s, notify); err != nil {
		return err
	}
	return p.add(c, s)
}

// add appends a step after checking that the line has been consumed.
func (p *parser) add(c *cursor, s Step) error {
	if c.rest() != "" {
		return c.wrong("too much here")
	}
	p.script.Steps = append(p.script.Steps, s)
	return nil
}

// wait parses the prefix of a message: the tier and the limit of a wait.
func (p *parser) wait(c *cursor, s *Step) error {
	if w := c.peek(); w != "" && s.Tier.UnmarshalText([]byte(w)) == nil {
		c.word()
	}
	if !c.take("within") {
		return nil
	}
	var err error
	s.Within, err = c.duration()
	return err
}

// maxWait limits all durations in a script.
const maxWait = 10 * time.Minute

func (c *cursor) duration() (time.Duration, error) {
	at := *c
	d, err := time.ParseDuration(c.word())
	if err != nil || d < 0 || d > maxWait {
		return 0, at.wrong("want a time up to %s, such as 3s or 200ms", "10m")
	}
	return d, nil
}

// message parses the message after an arrow.
func (p *parser) message(c *cursor, s *Step, notify bool) error {
	at := *c
	if strings.HasPrefix(c.rest(), "{") {
		s.Verb = Message
		return p.value(c, s)
	}
	w := c.word()
	if read, ok := messages[w]; ok {
		return read(p, c, s)
	}
	switch {
	case w == "":
		return at.wrong("a message is missing")
	case w[0] == '@':
		s.Name, at = w[1:], *c
		if w = c.word(); !isName(s.Name) || w == "" {
			return at.wrong("want @NAME METHOD")
		}
		p.requests = append(p.requests, s.Name)
	}
	s.Method = w
	if !utf8.ValidString(s.Method) || strings.ContainsAny(s.Method, `"{}[]`) {
		return at.wrong("%q is not the name of a method", s.Method)
	}
	if s.Verb = form(s.Method, p.dialect); notify {
		s.Verb = Notify
	}
	if s.Verb == Notify && s.Name != "" {
		return at.wrong("a notification has no answer, and so no name")
	}
	return p.value(c, s)
}

// messages maps the words that can replace a method to their parsers.
var messages = map[string]func(*parser, *cursor, *Step) error{
	"result": func(p *parser, c *cursor, s *Step) error { return p.answer(c, s, Result) },
	"error":  func(p *parser, c *cursor, s *Step) error { return p.answer(c, s, Error) },
	"answer": func(p *parser, c *cursor, s *Step) error { return p.answer(c, s, Answer) },
	"answers": func(_ *parser, _ *cursor, s *Step) error {
		s.Verb = Answers
		return nil
	},
	"no": (*parser).none,
	"raw": func(_ *parser, c *cursor, s *Step) error {
		s.Verb = Raw
		return c.quoted(s)
	},
	"bytes": (*parser).pieces,
	"pad":   (*parser).pad,
	"many":  (*parser).many,
}

var namePattern = lazyregexp.New(`^[A-Za-z][\w-]{0,30}$`)

func isName(s string) bool { return namePattern().MatchString(s) }

// form returns the Verb for messages with this method.
func form(method string, d dialect.Dialect) Verb {
	if m, known := dialect.Lookup(d.Protocol(), method); known && m.Form == dialect.AsNotification {
		return Notify
	}
	return Request
}

// none parses METHOD [for T] [{…}], or answer [to NAME] [for T] [{…}].
func (p *parser) none(c *cursor, s *Step) (err error) {
	s.Verb, s.Method, s.Within = None, c.word(), time.Second
	switch s.Method {
	case "":
		return c.wrong("want a method, or answer")
	case "answer":
		if err := p.to(c, s); err != nil {
			return err
		}
	}
	if c.take("for") {
		if s.Within, err = c.duration(); err != nil {
			return err
		}
	}
	return p.value(c, s)
}

// to parses [to NAME].
func (p *parser) to(c *cursor, s *Step) error {
	if !c.take("to") {
		return nil
	}
	at := *c
	if s.Name = c.word(); !slices.Contains(p.requests, s.Name) {
		return at.wrong("no request before this line is called @%s", s.Name)
	}
	return nil
}

// answer parses [to NAME] [CODE] ["TEXT"] [{…}].
func (p *parser) answer(c *cursor, s *Step, v Verb) error {
	s.Verb = v
	if err := p.to(c, s); err != nil {
		return err
	}
	if s.Verb == Error && c.rest() != "" && c.rest()[0] != '{' {
		at := *c
		s.Code = c.word()
		if _, err := strconv.ParseInt(s.Code, 10, 64); err != nil {
			return at.wrong("want the number of an error, or an object")
		}
		if strings.HasPrefix(c.rest(), `"`) {
			return c.quoted(s)
		}
	}
	return p.value(c, s)
}

// value parses the optional JSON at the end of a line.
func (p *parser) value(c *cursor, s *Step) error {
	text := c.rest()
	if text == "" {
		return nil
	}
	v, err := decode([]byte(text))
	if err != nil {
		return c.wrong("not JSON: %v", err)
	}
	var unknown string
	use := func(name string) {
		if first, _, _ := strings.Cut(name, "."); !slices.Contains(p.names, first) {
			unknown = name
		}
	}
	capture := func(name string) {
		p.names = append(p.names, name)
		p.captures++
	}
	switch err := checkPattern(v, use, capture); {
	case err != nil:
		return c.wrong("%v", err)
	case unknown != "":
		return c.wrong("nothing before this line captures %s", unknown)
	case p.captures > maxCaptures:
		return c.wrong("a script captures up to %d values", maxCaptures)
	}
	s.Value, s.Given = v, true
	c.i = len(c.line)
	return nil
}

// quoted parses a Go string.
func (c *cursor) quoted(s *Step) error {
	text, err := strconv.QuotedPrefix(c.rest())
	if err != nil {
		return c.wrong(`want a quoted text, such as "a\n"`)
	}
	c.i += len(text)
	plain, err := strconv.Unquote(text)
	if err != nil {
		return err
	}
	s.Bytes = []byte(plain)
	return nil
}

// pieces parses N PAUSE "…".
func (p *parser) pieces(c *cursor, s *Step) (err error) {
	s.Verb = Pieces
	at := *c
	if s.Count, err = strconv.Atoi(c.word()); err != nil || s.Count < 1 {
		return at.wrong("want the number of bytes in a piece")
	}
	if s.Within, err = c.duration(); err != nil {
		return err
	}
	return c.quoted(s)
}

// maxMany limits the number of requests in a step.
const maxMany = 10_000

// many parses COUNT METHOD [{…}].
func (p *parser) many(c *cursor, s *Step) error {
	at := *c
	n, err := strconv.Atoi(c.word())
	s.Verb, s.Count, s.Method = Many, n, c.word()
	if err != nil || n < 1 || n > maxMany || s.Method == "" {
		return at.wrong("want many COUNT METHOD, up to %d", maxMany)
	}
	return p.value(c, s)
}

// maxPad limits the size of a padded message.
const maxPad = 64 << 20

// pad parses METHOD SIZE.
func (p *parser) pad(c *cursor, s *Step) error {
	s.Verb, s.Method = Pad, c.word()
	at := *c
	text, unit := strings.CutSuffix(c.word(), "MiB")
	n, err := strconv.Atoi(text)
	if unit {
		n <<= 20
	}
	if s.Method == "" || err != nil || n < 0 || n > maxPad {
		return at.wrong("want pad METHOD SIZE, such as 2MiB, up to 64MiB")
	}
	s.Count = n
	return p.value(c, s)
}
