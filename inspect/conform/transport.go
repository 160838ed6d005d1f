package conform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A transport is what is known of the lines of both sides.
type transport struct {
	noise [Acptap]bool      // the newest line of Client or Agent was no JSON
	long  map[longLine]bool // what long lines were already met of
}

// A longLine is what a long line is of.
type longLine struct {
	from   Fault
	kind   wire.Kind
	method string
}

// Bounds of what the rules about lines tolerate.
const (
	longLineSize = 64 << 10        // bytes; common readers of lines stop there
	maxLongLines = 256             // of which a long line is reported
	outliving    = 5 * time.Second // that an agent may need to end
)

func (t *transport) observe(s *Step) {
	t.noise[s.From] = s.Kind() == wire.Invalid && flawOf(s) == notJSON
}

// transportRules are about the lines that messages stand on, and the end of their
// streams.
var transportRules = []Rule{
	{
		ID: "RPC001", Name: "not-utf8",
		Clauses: stdioClauses(Violation, "MUST"),
		Fault:   Sender, Needs: Frame,
		On: []On{{Kinds: Messages | Batches | Invalids}},
		Text: Text{
			Asks:   "Messages are encoded as UTF-8.",
			Finds:  "A line of stdin or stdout that is not UTF-8.",
			Spares: "The last line of a stream that ended in the middle of a character.",
			Do:     "write UTF-8 to the pipe, whatever the encoding of the system is",
		},
		Check: func(s *Step, r *Report) {
			if !isLine(s) {
				return
			}
			r.Tried()
			if s.Kind() == wire.Invalid && flawOf(s) == notUTF8 {
				r.Add(Evidence{Text: "wrote a line that is not UTF-8", Got: strconv.Quote(cut(string(s.raw())))})
			}
		},
	},
	{
		ID: "RPC002", Name: "not-json",
		Clauses: stdioClauses(Violation, "MUST NOT"),
		Fault:   Sender, Needs: Frame,
		On: []On{{Kinds: Messages | Batches | Invalids}},
		Text: Text{
			Asks:   "Nothing but messages is written to stdin and stdout, each on one line.",
			Finds:  "A line that is no JSON object or array: a banner, a line of a log, a message on several lines. Such lines in succession are one finding.",
			Spares: "Blank lines, and the last line of a stream without its end, as a process leaves it that is killed.",
			Do:     "write logs and banners to stderr, and each message on one line",
		},
		Check: func(s *Step, r *Report) {
			if !isLine(s) {
				return
			}
			r.Tried()
			if s.Kind() == wire.Invalid && flawOf(s) == notJSON && !s.Conn.transport.noise[s.From] {
				r.Add(Evidence{Text: "wrote a line that is no JSON object", Got: string(s.raw())})
			}
		},
	},
	{
		ID: "RPC004", Name: "batch",
		Clauses: []Clause{
			{For: v1AndOld, Strength: Violation, Source: acp1("Transports, stdio", "transports#stdio")},
			{For: legacy, Since: "2025-06-18", Strength: Violation, Source: mcp("2025-06-18", "Changelog", "changelog")},
			{For: modern, Strength: Violation, Source: mcp("2026-07-28", "Base Protocol", "basic")},
		},
		Fault: Sender, Needs: Frame,
		On: []On{{Kinds: Messages | Batches}},
		Text: Text{
			Asks:   "A line has one message. Batches came into ACP with version 2, and stood in MCP in 2025-03-26 only.",
			Finds:  "A line with an array of messages.",
			Spares: "An array of responses to requests that came in an array.",
			Do:     "send each message on a line of its own",
		},
		Check: batch,
	},
	{
		ID: "RPC019", Name: "lone-surrogate",
		Clauses: []Clause{{Strength: Note, Source: Source{"RFC 8259, Unicode Characters", "https://www.rfc-editor.org/rfc/rfc8259#section-8.2"}}},
		Fault:   Sender, Needs: Frame,
		On: []On{{Kinds: Messages | Batches}},
		Text: Text{
			Asks:  "A character beyond U+FFFF that is written with escapes needs two of them, such as `\\ud83d\\ude00`.",
			Finds: "One half without the other. Some decoders refuse the message, others replace the character.",
			Do:    "cut texts between characters, not between UTF-16 units, before you encode them",
		},
		Check: loneSurrogate,
	},
	{
		ID: "RPC020", Name: "long-line",
		Clauses: []Clause{{Strength: Note, Source: Source{"Python, asyncio streams", "https://docs.python.org/3/library/asyncio-stream.html#asyncio.StreamReader.readline"}}},
		Fault:   Sender, Needs: Frame,
		On: []On{{Kinds: Messages | Batches | Oversizeds}},
		Text: Text{
			Asks:  "No specification limits a line, but common readers of lines do: asyncio in Python and bufio.Scanner in Go stop at 64 KiB unless they are told otherwise.",
			Finds: "A line of more than 64 KiB; of each method the first.",
			Do:    "keep messages small where you can, for instance by several chunks, and raise the limit of your own reader",
		},
		Check: longLines,
	},
	{
		ID: "RPC023", Name: "outlives-client",
		Clauses: []Clause{
			{Protocol: dialect.MCP, Strength: Note, Source: mcp("2025-11-25", "Lifecycle, Shutdown", "basic/lifecycle#shutdown")},
			{Strength: Note, Source: acp1("Transports, stdio", "transports#stdio")},
		},
		Fault: Agent, Needs: End,
		On: []On{{Kinds: Ends}},
		Text: Text{
			Asks:  "An agent is a subprocess of its client. It ends when the client has closed its stdin.",
			Finds: "An agent that ran on for more than 5 s after that, or that had to be killed because it did not end when it was asked to.",
			Do:    "end when stdin ends, and stop what still runs",
		},
		Check: outlivesClient,
	},
}

// isLine reports whether a frame is a line of stdin or stdout, not a body over HTTP or
// a part of one.
func isLine(s *Step) bool { return s.Frame.Stream == 0 }

// stdioClauses say what both protocols say about the lines of stdio.
func stdioClauses(strength Strength, word string) []Clause {
	return []Clause{
		{Protocol: dialect.MCP, Strength: strength, Word: word, Source: mcp("2025-06-18", "Transports, stdio", "basic/transports#stdio")},
		{Strength: strength, Word: word, Source: acp1("Transports, stdio", "transports#stdio")},
	}
}

// A flaw is why a line is no message.
type flaw uint8

const (
	noFlaw flaw = iota // a blank line, or one whose end is missing
	notUTF8
	notJSON   // or no object
	noMessage // a JSON object that is no message
)

// flawOf returns why a line of the kind Invalid is no message.
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

// escaped returns the UTF-16 unit that text begins with, written as an escape; -1 if
// it does not.
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
	if left.Seq == 0 || k.exit.Seq == 0 {
		return
	}
	r.Tried()
	d, timed := since(left, k.exit)
	asked, _ := since(k.asked, k.exit)
	did := "ended"
	switch {
	case !timed:
		return
	case k.killed && k.asked.Seq != 0 && asked > s.judge.checker.options.Grace:
		did = "had to be killed"
	case d <= outliving:
		return
	}
	r.Add(Evidence{Text: fmt.Sprintf("%s %v after the client had closed stdin (frame %d)", did, d.Round(100*time.Millisecond), left.Seq), Because: []uint64{left.Seq}})
}
