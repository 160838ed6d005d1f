package script

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"

	"github.com/acptap/acptap/proxy/dialect"
)

//go:embed usual.txt
var usualText []byte

// usual holds the sections of usual.txt by name.
var usual = sync.OnceValue(func() map[string]string {
	sections := map[string]string{}
	for _, f := range txtar.Parse(usualText).Files {
		sections[f.Name] = string(f.Data)
	}
	return sections
})

// section returns the section for d: that of the dialect, else of its protocol, else the
// general one.
func section(name string, d dialect.Dialect) (string, bool) {
	for _, scope := range []string{" " + d.String(), " " + d.Protocol().String(), ""} {
		if text, ok := usual()[name+scope]; ok {
			return text, true
		}
	}
	return "", false
}

// parameters returns the default params of a method, or nil.
func parameters(method string, d dialect.Dialect) any {
	for line := range strings.Lines(usual()["parameters"]) {
		scope, line, _ := strings.Cut(line, " ")
		name, params, _ := strings.Cut(line, " ")
		if name == method && (scope == d.String() || scope == d.Protocol().String()) {
			v, err := decode([]byte(params))
			if err != nil {
				panic(err) // a test parses all of them
			}
			return v
		}
	}
	return nil
}

// macro parses a step that expands to others, or one that is not a message.
func (p *parser) macro(at int, c *cursor, s Step) error {
	steps, ok := section("word "+c.peek(), p.dialect)
	if !ok || c.i > 0 {
		return p.word(at, c, s)
	}
	c.word()
	args := c.rest()
	for line := range strings.Lines(steps) {
		line = strings.ReplaceAll(line, "ARGS", args)
		if err := p.step(at, strings.TrimSpace(line), p.word); err != nil {
			if m, ok := err.(*mistake); ok {
				m.at = min(c.i, len(c.line))
			}
			return err
		}
	}
	return nil
}

// verbs are the words that begin a step other than a message, followed by their arguments.
var verbs = []string{"hello", "login", "session", "alive", "awake", "offers", "on", "eof", "signal", "exits", "children", "stalls", "wait", "forget", "servers", "echo", "model", "closes", "shows", "exit", "stderr"}

// word parses a step that is not a message.
func (p *parser) word(_ int, c *cursor, s Step) (err error) {
	if err := p.wait(c, &s); err != nil {
		return err
	}
	at := *c
	switch w := c.word(); w {
	case "on":
		return p.on(c, s)
	case "eof":
		s.Verb = EOF
	case "forget":
		s.Verb = Forget
	case "signal":
		at = *c
		s.Verb, s.Words = Signal, []string{c.word()}
		if !slices.Contains(signals, s.Words[0]) {
			return at.expected(signals, "no such signal")
		}
	case "exits", "children", "stalls", "wait", "closes":
		s.Verb = map[string]Verb{"exits": Exits, "children": Children, "stalls": Stalls, "wait": Wait, "closes": Closes}[w]
		if s.Within, err = c.duration(); err != nil {
			return err
		}
		if w == "exits" && c.take("error") {
			s.Words = []string{"error"}
		}
	case "servers":
		at = *c
		s.Verb, s.Words = Servers, strings.Fields(c.rest())
		c.i = len(c.line)
		for _, kind := range s.Words {
			if !slices.Contains(serverKinds, kind) {
				return at.expected(serverKinds, "%q is no kind of server", kind)
			}
		}
		if len(s.Words) == 0 {
			return at.expected(serverKinds, "want a kind of server")
		}
	case "echo":
		s.Verb = Echo
		if s.Within, err = c.duration(); err != nil {
			return err
		}
		if s.Words = strings.Fields(c.rest()); len(s.Words) == 0 {
			return c.wrong("want what the server has seen: started, or methods")
		}
		c.i = len(c.line)
	case "model":
		at = *c
		s.Verb, s.Words = Model, strings.Fields(c.rest())
		if len(s.Words) == 0 || !slices.Contains(modelTurns, s.Words[0]) {
			return at.expected(modelTurns, "want what the model says")
		}
		c.i = len(c.line)
	case "exit":
		s.Verb = Exit
		if s.Count, err = strconv.Atoi(c.word()); err != nil || s.Count < 0 || s.Count > 255 {
			return at.wrong("want an exit status")
		}
	case "stderr", "shows":
		s.Verb = map[string]Verb{"stderr": Stderr, "shows": Shows}[w]
		if err := c.quoted(&s); err != nil {
			return err
		}
	default:
		return at.expected(verbs, "%q is no step: a message begins with > or <", w)
	}
	return p.add(c, s)
}

// The arguments of signal, servers and model.
var (
	signals     = []string{"TERM", "INT", "HUP", "KILL"}
	serverKinds = []string{"echo", "missing", "silent", "exits", "empty", "http"}
	modelTurns  = []string{"text", "slow", "call", "fail"}
)

// on parses METHOD result {…}, METHOD error CODE, METHOD never, or permission followed by what
// the user does.
func (p *parser) on(c *cursor, s Step) error {
	at := *c
	s.Verb, s.Method = On, c.word()
	how := c.word()
	if s.Method == "permission" && slices.Contains(choices, how) {
		s.Words = []string{how}
		return p.add(c, s)
	}
	switch how {
	case "never":
		s.Words = []string{how}
	case "result", "error":
		if err := messages[how](p, c, &s); err != nil {
			return err
		}
		s.Words, s.Verb = []string{how}, On
	default:
		return at.expected(choices, "want on METHOD result {…}, error CODE or never, or on permission")
	}
	return p.add(c, s)
}

// choices are the user's possible reactions to a permission request.
var choices = []string{"allow", "reject", "cancel", "never"}
