package conform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/wire"
)

// A transport holds what is known about both sides' lines.
type transport struct {
	noise [Acptap]bool      // the latest line of Client or Agent was not JSON
	long  map[longLine]bool // kinds of long lines already reported
}

// A longLine is a kind of long line.
type longLine struct {
	from   Fault
	kind   wire.Kind
	method string
}

// Limits of the rules about lines.
const (
	longLineSize = 64 << 10        // bytes; where common line readers stop
	maxLongLines = 256             // kinds reported
	outliving    = 5 * time.Second // time that an agent may take to exit
)

func (t *transport) observe(s *Step) {
	t.noise[s.From] = s.Kind() == wire.Invalid && flawOf(s) == notJSON
}

// transportRules judge the lines that carry messages, and the ends of streams.
var transportRules = checks{
	{"RPC001", notUtf8},
	{"RPC002", notJson},
	{"RPC004", batch},
	{"RPC021", emptyBatch},
	{"RPC019", loneSurrogate},
	{"RPC020", longLines},
	{"RPC023", outlivesClient},
}

func notUtf8(s *Step, r *Report) {
	if !isLine(s) {
		return
	}
	r.Tried()
	if s.Kind() == wire.Invalid && flawOf(s) == notUTF8 {
		r.Add(Evidence{Text: "wrote a line that is not UTF-8", Got: strconv.Quote(cut(string(s.raw())))})
	}
}

func notJson(s *Step, r *Report) {
	if !isLine(s) {
		return
	}
	r.Tried()
	if s.Kind() == wire.Invalid && flawOf(s) == notJSON && !s.Conn.transport.noise[s.From] {
		r.Add(Evidence{Text: "wrote a line that is no JSON object", Got: string(s.raw())})
	}
}

// isLine reports whether a frame is a line of stdin or stdout, rather than a body over
// HTTP or part of one.
func isLine(s *Step) bool { return s.Frame.Stream == 0 }

// A flaw says why a line is not a message.
type flaw uint8

const (
	noFlaw flaw = iota // a blank line or an incomplete one
	notUTF8
	notJSON   // or not an object
	noMessage // a JSON object that is not a message
)

// flawOf returns why a line of kind Invalid is not a message.
func flawOf(s *Step) flaw {
	raw := s.raw()
	unended := s.Entry < 0 && (s.Frame.End == wire.None || int64(len(raw)) < s.Frame.Size)
	if unended {
		raw = bytes.TrimRightFunc(raw, func(c rune) bool { return c == utf8.RuneError })
	}
	switch line := bytes.TrimSpace(raw); {
	case len(line) == 0:
		return noFlaw
	case !utf8.Valid(raw):
		return notUTF8
	case line[0] == '{' && json.Valid(line):
		return noMessage
	case unended:
		return noFlaw
	}
	return notJSON
}

func batch(s *Step, r *Report) {
	if s.Entry >= 0 {
		return
	}
	r.Tried()
	if s.Kind() != wire.Batch {
		return
	}
	answers := false
	wire.Entries(s.Frame.Raw, func(_ int, entry []byte) bool {
		e := wire.Scan(entry)
		call := s.Conn.calls.Find(s.Frame.Dir.Opposite(), s.Frame.Stream, e.ID)
		answers = e.Kind == wire.Response && (call == nil || call.Entry >= 0)
		return answers
	})
	if !answers {
		r.Add(Evidence{Text: fmt.Sprintf("sent an array of %d messages", len(s.About.Entries)), Want: "one message"})
	}
}

func emptyBatch(s *Step, r *Report) {
	r.Judge(len(s.About.Entries) == 0, Evidence{Text: "sent an empty array", Want: "at least one message"})
}

func loneSurrogate(s *Step, r *Report) {
	if s.Entry >= 0 {
		return
	}
	raw := s.Frame.Raw
	for i := 0; ; {
		n := bytes.Index(raw[i:], []byte(`\u`))
		if n < 0 {
			return
		}
		i += n
		if slashes := i - len(bytes.TrimRight(raw[:i], `\`)); slashes%2 == 1 {
			i += len(`\u`)
			continue
		}
		first, second := escaped(raw[i:]), rune(-1)
		if i+len(`\u0000`) < len(raw) {
			second = escaped(raw[i+len(`\u0000`):])
		}
		i += len(`\u0000`)
		if !utf16.IsSurrogate(first) {
			continue
		}
		r.Tried()
		if utf16.DecodeRune(first, second) == utf8.RuneError {
			r.Add(Evidence{Text: "sent one half of a character", Got: fmt.Sprintf(`\u%04x`, first)})
			return
		}
		i += len(`\u0000`)
	}
}

// escaped returns the UTF-16 unit of the escape that text starts with; -1 if it starts
// with none.
func escaped(text []byte) rune {
	if len(text) < len(`\u0000`) || text[0] != '\\' || text[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return rune(n)
}

func longLines(s *Step, r *Report) {
	if s.Entry >= 0 || !isLine(s) {
		return
	}
	r.Tried()
	if s.Frame.Size <= longLineSize {
		return
	}
	t := &s.Conn.transport
	line := longLine{s.From, s.Kind(), s.Method}
	if t.long[line] || len(t.long) == maxLongLines {
		return
	}
	if t.long == nil {
		t.long = make(map[longLine]bool)
	}
	t.long[line] = true
	what := s.Method
	switch {
	case s.Kind() == wire.Batch:
		what = "batch"
	case s.is(wire.Response):
		what = "answer to " + what
	}
	r.Add(Evidence{Text: fmt.Sprintf("sent a line of %d KiB (%s)", s.Frame.Size>>10, what)})
}

func outlivesClient(s *Step, r *Report) {
	k := &s.Conn.closing
	left := k.eof[wire.ClientToAgent]
	d, timed := since(left, k.exit)
	if left.Seq == 0 || k.exit.Seq < left.Seq || !timed {
		return
	}
	asked, _ := since(k.asked, k.exit)
	did := ""
	switch {
	case k.killed && k.asked.Seq != 0 && asked > s.judge.checker.options.Grace:
		did = "had to be killed"
	case d > outliving:
		did = "ended"
	case k.killed, k.asked.Seq != 0:
		return // a signal ended it before its time was up
	}
	if r.Tried(); did != "" {
		r.Add(Evidence{Text: fmt.Sprintf("%s %v after the client had closed stdin (frame %d)", did, d.Round(100*time.Millisecond), left.Seq), Because: []uint64{left.Seq}})
	}
}
