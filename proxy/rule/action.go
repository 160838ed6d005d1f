package rule

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// An action is what a rule does to a frame: an effect, a pacing, or a lack.
type action any

// An effect acts on a frame when the Engine sees it.
type effect interface {
	// act performs the effect. It returns a note for the tape, or "" if there is nothing to
	// note.
	act(p *passage) (did string)

	ends() bool // whether later rules are skipped
}

// A pacing decides when a frame is written.
type pacing interface {
	pace(f *wire.Frame, random *rand.Rand) (pace proxy.Pace, did string)
}

// actions lists the actions with the functions that read their arguments, in the order of the
// documentation.
var actions = []struct {
	name string
	read func(p *scanner) (action, error)
}{
	{"delay", readDelay},
	{"slow", func(p *scanner) (action, error) {
		n, err := p.size("the rate", 1<<30)
		return slow(n), err
	}},
	{"split", readSplit},
	{"drop", func(*scanner) (action, error) { return drop{}, nil }},
	{"duplicate", readDuplicate},
	{"postpone", readPostpone},
	{"stall", func(p *scanner) (action, error) { return stall{both: p.take("both") != ""}, nil }},
	{"hold", readHold},
	{"set", readSet},
	{"delete", func(p *scanner) (action, error) {
		at, err := p.path()
		return remove{at}, err
	}},
	{"replace", readReplace},
	{"corrupt", readCorrupt},
	{"truncate", func(p *scanner) (action, error) {
		n, err := p.count("the length", 0)
		return truncate(n), err
	}},
	{"answer", func(p *scanner) (action, error) {
		t, err := p.json("the result")
		return answer{t}, err
	}},
	{"error", readError},
	{"inject", readInject},
	{"noise", func(p *scanner) (action, error) {
		n, err := p.size("the noise", maxNoise)
		return noise(n), err
	}},
	{"die", readDie},
	{"hangup", func(*scanner) (action, error) { return hangUp{}, nil }},
	{"kill", readKill},
	{"mark", func(p *scanner) (action, error) {
		text, err := p.words("the text")
		return mark(text), err
	}},
	{"pass", func(*scanner) (action, error) { return pass{}, nil }},
}

// action reads an action with its arguments.
func (p *scanner) action() (action, error) {
	p.blanks()
	at := p.i
	name := p.word()
	var names []string
	for _, a := range actions {
		if a.name == name {
			return a.read(p)
		}
		names = append(names, a.name)
	}
	problem := "an action is missing"
	if name != "" {
		problem = fmt.Sprintf("%q is not an action", name)
	}
	return nil, p.wrong(at, problem, names...)
}

// drop withholds a frame.
type drop struct{}

func (drop) act(p *passage) string {
	p.withhold()
	return "drop"
}

func (drop) ends() bool { return true }

// maxCopies limits how many lines a rule adds to one frame.
const maxCopies = 10_000

// duplicate sends a frame more than once.
type duplicate struct{ more int }

func readDuplicate(p *scanner) (action, error) {
	if !p.more() {
		return duplicate{1}, nil
	}
	n, err := p.count("the number of copies", 1)
	if err == nil && n > maxCopies {
		err = p.wrong(p.i, fmt.Sprintf("at most %d copies", maxCopies))
	}
	return duplicate{n}, err
}

func (d duplicate) act(p *passage) string {
	p.copies = copies{p.copies.number + d.more, p.rule}
	p.touched = true
	return ""
}

func (duplicate) ends() bool { return false }

// copies counts the copies of a frame that follow it.
type copies struct {
	number int
	rule   *Rule // the rule that makes them
}

// append appends the copies of f to out, after a note about them.
func (c copies) append(out []wire.Frame, f wire.Frame) []wire.Frame {
	if c.number == 0 {
		return out
	}
	out = append(out, note(f.Dir, c.rule.Name, "duplicate", c.number*lines(f.Raw)))
	copied := wire.Frame{Dir: f.Dir, Origin: wire.Injected, Raw: f.Raw, End: f.End}
	for range c.number {
		out = append(out, copied)
	}
	return out
}

// stall blocks all later frames.
type stall struct{ both bool }

func (a stall) act(p *passage) string {
	p.withhold()
	p.engine.stalled[p.frame.Dir] = true
	if !a.both {
		return "stall: nothing more passes in this direction"
	}
	p.engine.stalled[p.frame.Dir.Opposite()] = true
	return "stall: nothing more passes in either direction"
}

func (stall) ends() bool { return true }

// answer answers a request, or replaces a result.
type answer struct{ result template }

func (a answer) act(p *passage) string {
	return p.reply("answer", func(id []byte) []byte { return wire.NewResult(id, a.result.fill(p.frame.Raw)) })
}

func (answer) ends() bool { return true }

// fail answers a request with an error, or replaces a result.
type fail struct {
	code int
	text string
	data template
}

func readError(p *scanner) (action, error) {
	p.blanks()
	at := p.i
	code, err := strconv.Atoi(p.word())
	if err != nil {
		return nil, p.wrong(at, "the code of an error is a number, such as -32603")
	}
	a := fail{code: code}
	if a.text, err = p.words("the message"); err == nil && p.more() {
		a.data, err = p.json("the data")
	}
	return a, err
}

func (a fail) act(p *passage) string {
	return p.reply(fmt.Sprintf("error %d", a.code), func(id []byte) []byte {
		var data []byte
		if a.data != nil {
			data = a.data.fill(p.frame.Raw)
		}
		return wire.NewFailure(id, a.code, a.text, data)
	})
}

func (fail) ends() bool { return true }

// inject sends more lines.
type inject struct {
	before bool
	times  int
	dir    wire.Direction
	json   template
	text   []byte // instead of json
}

func readInject(p *scanner) (action, error) {
	a := inject{before: p.take("before") != "", times: 1}
	p.blanks()
	at := p.i
	if at < p.end && '0' <= p.plain[at] && p.plain[at] <= '9' {
		var err error
		if a.times, err = p.count("how often", 1); err == nil && a.times > maxCopies {
			err = p.wrong(at, fmt.Sprintf("at most %d times", maxCopies))
		}
		if err != nil {
			return nil, err
		}
		p.blanks()
		at = p.i
	}
	var ok bool
	if a.dir, ok = wire.To(p.word()); !ok {
		return nil, p.wrong(at, "who gets the line is missing", "client", "agent", "stderr", "before")
	}
	p.blanks()
	if p.i < p.end && p.plain[p.i] == '"' {
		text, err := p.words("the line")
		if a.text = []byte(text); strings.ContainsAny(text, "\n") {
			err = p.wrong(p.i, "a line has no line end")
		}
		return a, err
	}
	var err error
	a.json, err = p.json("the line")
	return a, err
}

func (a inject) act(p *passage) string {
	line, asks := a.text, false
	if a.json != nil {
		line = a.json.fill(p.frame.Raw)
		asks = wire.Scan(line).Kind == wire.Request
	}
	lines := make([]wire.Frame, a.times)
	for i := range lines {
		one := line
		if asks {
			one = wire.Set(line, p.engine.ownID(p.rule.Name), "id")
		}
		lines[i] = wire.Frame{Dir: a.dir, Raw: one, End: wire.LF}
	}
	p.add(a.before, "inject", lines...)
	return ""
}

func (inject) ends() bool { return false }

// noise writes log lines to stderr. The frame waits until they are written, as if the agent
// had written them first.
type noise int

// maxNoise limits the bytes of noise that one rule adds per frame.
const maxNoise = 16 << 20

func (a noise) act(p *passage) string {
	const line = 80
	var lines []wire.Frame
	for left := int(a); left > 0; left -= line {
		text := fmt.Appendf(nil, "acptap rule %s: noise, line %d ", p.rule.Name, len(lines)+1)
		for len(text) < line-1 {
			text = append(text, '.')
		}
		lines = append(lines, wire.Frame{Dir: wire.AgentStderr, Raw: text[:max(0, min(line, left)-1)], End: wire.LF})
	}
	p.add(true, fmt.Sprintf("noise of %d bytes", int(a)), lines...)
	p.engine.noisy[p.came.Dir] = true
	return ""
}

func (noise) ends() bool { return false }

// die ends the agent.
type die struct {
	keep   int // bytes of the frame still sent
	code   int
	signal syscall.Signal // 0: none
}

func readDie(p *scanner) (action, error) {
	a := die{code: 128 + int(syscall.SIGKILL), signal: syscall.SIGKILL}
	var err error
	p.blanks()
	if p.i < p.end && '0' <= p.plain[p.i] && p.plain[p.i] <= '9' {
		if a.keep, err = p.count("the number of bytes", 0); err != nil {
			return nil, err
		}
	}
	switch p.take("status", "signal") {
	case "status":
		if a.code, err = p.count("a status", 0); err == nil && a.code > 255 {
			err = p.wrong(p.i, "a status is at most 255")
		}
		a.signal = 0
	case "signal":
		a.signal, err = p.signal()
		a.code = 128 + int(a.signal)
	}
	return a, err
}

func (a die) act(p *passage) string {
	if keep := min(a.keep, len(p.frame.Raw)); keep > 0 {
		p.change(p.frame.Raw[:keep:keep])
		p.end = wire.None
	} else {
		p.withhold()
	}
	var sig os.Signal
	text := fmt.Sprintf("die with status %d", a.code)
	if a.signal != 0 {
		sig, text = a.signal, "die by signal "+a.signal.String()
	}
	p.engine.dead = true
	p.later(func(h proxy.Handle) { h.Exit(a.code, sig) })
	return text
}

func (die) ends() bool { return true }

// hangUp closes the client's stdout after the frame.
type hangUp struct{}

func (hangUp) act(p *passage) string {
	p.later(func(h proxy.Handle) { h.HangUp() })
	return "hang up after this"
}

func (hangUp) ends() bool { return false }

// kill sends the agent a signal.
type kill struct{ signal syscall.Signal }

func readKill(p *scanner) (action, error) {
	if !p.more() {
		return kill{syscall.SIGTERM}, nil
	}
	sig, err := p.signal()
	return kill{sig}, err
}

func (a kill) act(p *passage) string {
	p.later(func(h proxy.Handle) { h.Signal(a.signal) })
	return "signal " + a.signal.String()
}

func (kill) ends() bool { return false }

var signals = []struct {
	name   string
	number syscall.Signal
}{
	{"HUP", syscall.SIGHUP}, {"INT", syscall.SIGINT}, {"QUIT", syscall.SIGQUIT}, {"ABRT", syscall.SIGABRT},
	{"KILL", syscall.SIGKILL}, {"SEGV", syscall.SIGSEGV}, {"PIPE", syscall.SIGPIPE}, {"TERM", syscall.SIGTERM},
}

// signal reads the name of a signal.
func (p *scanner) signal() (syscall.Signal, error) {
	p.blanks()
	at := p.i
	name := strings.TrimPrefix(strings.ToUpper(p.word()), "SIG")
	var names []string
	for _, s := range signals {
		if s.name == name {
			return s.number, nil
		}
		names = append(names, s.name)
	}
	return 0, p.wrong(at, "a signal is missing", names...)
}

// mark writes a text to the tape.
type mark string

func (a mark) act(*passage) string { return string(a) }
func (mark) ends() bool            { return false }

// pass exempts the frame from the rules that follow.
type pass struct{}

func (pass) act(*passage) string { return "" }
func (pass) ends() bool          { return true }

// postpone lets later frames pass first.
type postpone struct {
	frames int
	time   time.Duration // instead of frames
}

func readPostpone(p *scanner) (action, error) {
	p.blanks()
	at := p.i
	word := p.word()
	if n, err := strconv.Atoi(word); err == nil && n > 0 && n < 1<<30 {
		return postpone{frames: n}, nil
	}
	if d, ok := parseTime(word); ok && d > 0 {
		return postpone{time: d}, nil
	}
	return nil, p.wrong(at, "a number of frames or a time such as 2s is missing")
}

func (a postpone) act(p *passage) string {
	p.postpone(a)
	if a.time > 0 {
		return fmt.Sprintf("postpone by %v", a.time)
	}
	return fmt.Sprintf("postpone behind %d more", a.frames)
}

func (postpone) ends() bool { return true }
