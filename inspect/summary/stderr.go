package summary

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Quote is a line that the agent wrote to stderr, without its time and log level.
type Quote struct {
	Line  string `json:"line"`
	Frame Frame  `json:"frame"`
}

// Text returns the line in quotes, after the word that says where it is from.
func (q *Quote) Text() string { return `stderr: "` + q.Line + `"` }

// Retries are the lines of stderr in which the agent says that its model was busy, or that it
// tries again.
type Retries struct {
	Count int   `json:"count"`
	First Quote `json:"first"`
}

// A stderrLog remembers the last lines of an agent's stderr, and the one that tells most. The
// zero value is ready to use.
type stderrLog struct {
	tail    [tailLines]logLine // a ring
	next    int                // index in tail
	grave   logLine            // the first line of the last panic, uncaught exception or the like
	spoke   bool               // the agent has sent a message since
	retries Retries            // of all tapes
	heard   time.Duration      // when either side has last sent a message
	model   busyModel
}

// tailLines is how many of the last lines are remembered: more than the last lines of stack
// traces that say nothing.
const tailLines = 16

// A logLine is the beginning of a line of stderr. Its text is reused.
type logLine struct {
	text    []byte
	frame   Frame
	at      time.Duration
	untimed bool
}

// maxLogLine limits the bytes kept of a line.
const maxLogLine = 2 << 10

// take processes the next frame of a tape.
func (s *stderrLog) take(f *dialect.Frame, run int) {
	if f.Kind.IsMessage() {
		defer func() { s.heard = f.At }()
	}
	switch {
	case f.Events.Has(dialect.TurnBegan):
		s.forget()
	case f.Kind.IsMessage() && f.Dir == wire.AgentToClient:
		s.spoke = true
		s.model.over(f.At)
	case f.Kind == wire.Stderr:
		line := &s.tail[s.next]
		s.next = (s.next + 1) % tailLines
		line.set(f, run)
		s.note(line)
	}
}

// forget drops all lines: what comes next has another cause.
func (s *stderrLog) forget() {
	for i := range s.tail {
		s.tail[i].frame = Frame{}
	}
	s.grave.frame, s.spoke = Frame{}, false
	s.model.forget()
}

// set makes l the line in a frame.
func (l *logLine) set(f *dialect.Frame, run int) {
	l.text = append(l.text[:0], f.Raw[:min(len(f.Raw), maxLogLine)]...)
	l.frame, l.at, l.untimed = Frame{Run: run, Seq: f.Seq}, f.At, f.Untimed
}

// note notes what a line tells.
func (s *stderrLog) note(line *logLine) {
	known := s.grave.frame.Seq != 0 && !s.spoke
	switch {
	case known && s.grave.frame.Seq+1 == line.frame.Seq && bytes.HasSuffix(s.grave.text, []byte(":")):
		s.grave.text = append(append(s.grave.text, ' '), bytes.TrimSpace(line.text)...) // Rust has the message of a panic on the next line
	case !known && hasAny(line.text, "panic", "rror", "xception", "emory", "illed", "ncaught", "nhandled", "OOM") && graveLine().Match([]byte(logText(line.text))):
		s.grave.text = append(s.grave.text[:0], line.text...)
		s.grave.frame, s.grave.at, s.grave.untimed, s.spoke = line.frame, line.at, line.untimed, false
	}
	if hasAny(line.text, "429", "529", "ate limit", "ate_limit", "verloaded", "Too Many", "too many", "onnect", "etry", "ECONN", "TIMEDOUT", "etwork") {
		if text := logText(line.text); retryLine().MatchString(text) {
			if !line.untimed {
				s.model.busy(text, line.at, s.heard)
			}
			if s.retries.Count++; s.retries.Count == 1 {
				s.retries.First = Quote{fromWord(text, retryLine()), line.frame}
			}
		}
	}
}

// fromWord returns a line without most of what precedes the word that matters, if that is far
// from the beginning.
func fromWord(line string, matters *regexp.Regexp) string {
	const far = 40
	at := matters.FindStringIndex(line)
	if at == nil || at[0] < far {
		return line
	}
	return "…" + line[strings.LastIndexByte(line[:at[0]], ' ')+1:]
}

// hasAny reports whether a line contains one of some words. It spares most lines the search for
// a pattern.
func hasAny(line []byte, words ...string) bool {
	for _, word := range words {
		if bytes.Contains(line, []byte(word)) {
			return true
		}
	}
	return false
}

var (
	// graveLine matches the first line that programs and the shell write when they die.
	graveLine = lazyregexp.New(`^(?:panic: |panicked at |fatal error: |thread '.*' .*panicked|[Uu]ncaught |[Uu]nhandled|[\w.$]*(?:Error|Exception)(?: \[\w+\])?: )|\b[Kk]illed\b|(?i:out of memory|cannot allocate memory)|\bOOM\b`)
	// retryLine matches what programs write when their model is busy: the number of the status alone is not enough, as in "took 429 ms".
	retryLine = lazyregexp.New(`(?i)(?:status\w*|code|http|error|api)\W{0,3}[45]29\b|\bretry(?:ing)? (?:in|after|attempt|\d)|^[45]29\b|too many requests|rate.limit|overloaded|stream disconnected|\bretrying [^(]{0,40}\(?\d+/\d+|\breconnecting|\b(?:ECONNRESET|ETIMEDOUT|ECONNREFUSED)\b`)
)

// serverLine matches what agents write when an MCP server does not start: its name, and why.
var serverLine = lazyregexp.New("(?i)\\b(?:server|mcp client for) ['\"`]?([\\w.-]+)['\"`]?:? (?:failed to (?:start|connect|initialize)|could not (?:be )?start(?:ed)?|did not start)\\b(?:[:.]\\s*(.*))?" +
	"|failed to (?:start|connect to|initialize) (?:the )?mcp server:? ['\"`]?([\\w.-]+)['\"`]?(?:[:.]\\s*(.*))?")

// serverDown returns the name of an MCP server that a line of stderr says did not start, and why.
func serverDown(line []byte) (name, why string) {
	if !hasAny(line, "erver", "MCP", "mcp") {
		return "", ""
	}
	m := serverLine().FindStringSubmatch(termtext.Brief(string(line[:min(len(line), maxLogLine)]), 0))
	if m == nil {
		return "", ""
	}
	return m[1] + m[3], m[2] + m[4]
}

// causeAge is the longest time from a line of stderr to what it may explain.
const causeAge = time.Minute

// before returns the line that may say why something failed with a frame: the first one of a
// panic or the like, or else the last one with something to say. It is nil if there is none
// shortly before.
func (s *stderrLog) before(f *dialect.Frame) *Quote {
	near := func(l *logLine) *Quote {
		if l.frame.Seq == 0 || !l.untimed && !f.Untimed && f.At-l.at > causeAge {
			return nil
		}
		if text := logText(l.text); text != "" {
			return &Quote{text, l.frame}
		}
		return nil
	}
	if grave := near(&s.grave); grave != nil {
		return grave
	}
	for i := range tailLines {
		if q := near(&s.tail[(s.next+2*tailLines-1-i)%tailLines]); q != nil {
			return q
		}
	}
	return nil
}

// logColumns limits the columns of a line of stderr.
const logColumns = 120

var (
	// logHead matches the time and the level before a message, each with what separates it.
	logHead = lazyregexp.New(`^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?|\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?|` +
		`[\[(<]?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL)[\])>]?|[\[(<](?:trace|debug|info|notice|warn|warning|error|fatal|critical)[\])>]|` +
		`(?:time|ts)=\S+|(?:level|lvl)=\w+)(?:[:|-]*\s+|:)`)
	// panicHead matches what Rust writes before the message of a panic.
	panicHead = lazyregexp.New(`^thread '[^']*'(?: \(\d+\))? panicked at (?:\S*/)?(\S+?:\d+)(?::\d+)?: *`)
	// unwrapHead matches what it writes before an error that nobody handled.
	unwrapHead = lazyregexp.New("^(panicked at \\S+: )?called `[^`]*` on an `Err` value: ")
	// traceLine matches lines of stack traces that are not indented.
	traceLine = lazyregexp.New(`^(?:goroutine \d+ |[\w./*()]+\(.*\)$|Traceback \(|stack backtrace:|note: run with |Node\.js v\d|exit status \d|\S+:\d+$|at )`)
)

// logText returns the message in a line of stderr, clean and without its time and level, or
// nothing if the line is part of a stack trace or only draws something.
func logText(line []byte) string {
	if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		return ""
	}
	text := termtext.Brief(string(line), 0)
	if log := wire.ValueOf(line); strings.HasPrefix(text, "{") && log.IsObject() { // a log of JSON lines
		for _, member := range [...]string{"msg", "message", "error"} {
			if said := log.Get(member); said.IsString() {
				text = termtext.Brief(said.Text(), 0)
				break
			}
		}
	}
	for head := logHead().FindString(text); head != ""; head = logHead().FindString(text) {
		text = text[len(head):]
	}
	if said, ok := strings.CutPrefix(text, "msg="); ok { // logfmt
		if text = said; strings.HasPrefix(said, `"`) {
			if quoted, err := strconv.QuotedPrefix(said); err == nil {
				text, _ = strconv.Unquote(quoted)
				text = termtext.Brief(text, 0)
			}
		}
	}
	text = unwrapHead().ReplaceAllString(panicHead().ReplaceAllString(text, "panicked at $1: "), "$1")
	if !strings.ContainsFunc(text, unicode.IsLetter) || traceLine().MatchString(text) {
		return ""
	}
	return termtext.CutWords(text, logColumns)
}
