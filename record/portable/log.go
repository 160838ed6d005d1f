package portable

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/note"
)

// A log is a file that a tool writes for its developers. It may be cut off, mixed with other
// lines, or from a newer version of the tool, so its reader skips whatever it does not
// understand. Where a message is missing, the tape gets a mark of a gap, so that no one is
// blamed for a message that was not sent.
type log struct {
	*file
	head  Head
	lacks string // the source of the tape, and what the tape lacks because of it
	unit  string // what the numbers count: "line" or "message"

	origin    time.Time // what times are measured from; zero: the first one
	begun     bool
	last      time.Duration
	runs      int // number of initialize requests of the client
	unread    count
	shortened count
}

// A count says how many lines something concerns, and has the number of the first.
type count struct{ n, first int }

func (c *count) add(number int) {
	if c.n++; c.n == 1 {
		c.first = number
	}
}

// message handles a message, or a line of the agent's stderr. n is the number of the line,
// and at the zero time if the log does not say when it was sent.
func (l *log) message(n int, dir wire.Direction, raw []byte, at time.Time) error {
	if dir == wire.ClientToAgent && bytes.Contains(raw, []byte(`"initialize"`)) && wire.ValueAt(raw, "method").Text() == dialect.Initialize {
		l.runs++
	}
	return l.send(Line{Number: n, Dir: dir, Raw: bytes.Clone(raw)}, at)
}

// missing handles a message of which only the direction and the approximate size could be
// read.
func (l *log) missing(n int, dir wire.Direction, size int, at time.Time) error {
	l.unread.add(n)
	return l.send(Line{Number: n, Dir: dir, Mark: &wire.Marked{Gap: int64(max(1, size))}}, at)
}

// lost handles a message whose direction could not be read either.
func (l *log) lost(n, size int) error {
	l.unread.add(n)
	return l.send(Line{Number: n, Mark: &wire.Marked{Damage: int64(max(1, size))}}, time.Time{})
}

func (l *log) send(p Line, at time.Time) error {
	if l.origin.IsZero() {
		l.origin, l.head.Start.Time = at, at
	}
	if !l.begun {
		l.begun = true
		l.introduce()
	}
	p.Untimed = at.IsZero()
	if !p.Untimed {
		since, err := sinceStart(l.origin, at)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", l.name, p.Number, err)
		}
		l.last = max(l.last, since) // clocks are set back
	}
	p.At = l.last
	if l.unit != "line" {
		p.Number = 0
	}
	return l.line(p)
}

// introduce reports what the log lacks, and notes it on the tape.
func (l *log) introduce() {
	l.tell(l.name + ": " + l.lacks)
	l.head.Notes.Notes = []note.Note{{Text: l.lacks}}
	l.begin(l.head)
}

// end reports what could not be read. It returns failed, unless that only says that the rest
// of the log could not be read.
func (l *log) end(failed error) error {
	switch stop := (stopped{}); {
	case failed == nil:
	case !errors.As(failed, &stop):
		return failed
	case !l.begun:
		return fmt.Errorf("%s: %w", l.name, failed)
	default:
		l.tell(fmt.Sprintf("%s: %v; what follows is left out", l.name, stop.error))
	}
	l.say(l.unread, "could not be read")
	l.say(l.shortened, "came shortened")
	if l.runs > 1 {
		l.tell(fmt.Sprintf("%s: the client initialized the agent %d times; all of its runs are on one tape", l.name, l.runs))
	}
	return nil
}

// say reports a count. what begins with a verb in the past tense.
func (l *log) say(c count, what string) {
	switch {
	case c.n == 1:
		l.tell(fmt.Sprintf("%s: %s %d %s", l.name, l.unit, c.first, what))
	case c.n > 1:
		l.tell(fmt.Sprintf("%s: %d %ss %s; the first is %s %d", l.name, c.n, l.unit, what, l.unit, c.first))
	}
}

// stopped is the reason why the rest of a log cannot be read.
type stopped struct{ error }

// stop returns the error of a log that cannot be read beyond message n.
func (l *log) stop(n int, err error) error {
	if endsEarly(err) {
		err = errors.New("the file ends here")
	}
	return stopped{fmt.Errorf("message %d: %w", n, err)}
}

// A logLine is one line of a log. It is valid until the next.
type logLine struct {
	n    int
	text []byte // without the line end
	size int    // length of the whole line; more than len(text) if that is too long for memory
	cut  bool   // the file ends within the line
}

// complete reports whether text, which ends the line, is a whole message.
func (l logLine) complete(text []byte) bool {
	return l.size == len(l.text) && (!l.cut || json.Valid(text))
}

// eachLine calls f with each line that is not blank.
func (l *log) eachLine(f func(logLine) error) error {
	var text []byte
	for n := 1; ; n++ {
		text = text[:0]
		size, err := 0, error(bufio.ErrBufferFull)
		for err == bufio.ErrBufferFull {
			var part []byte
			part, err = l.in.ReadSlice('\n')
			if size += len(part); size <= maxLine {
				text = append(text, part...)
			}
		}
		if err != nil && err != io.EOF {
			return err
		}
		whole := bytes.TrimRight(text, "\r\n")
		if size == len(text) {
			size = len(whole)
		}
		if len(bytes.TrimSpace(whole)) > 0 {
			if err := f(logLine{n, whole, size, err == io.EOF}); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
	}
}

// rebuilt builds a message from the members that a log has. An absent member is nil; a member
// that is null was absent in most tools.
func rebuilt(id, method, params, result, failure []byte) []byte {
	b := []byte(`{"jsonrpc":"2.0"`)
	add := func(name string, value []byte) {
		if value != nil {
			b = append(append(append(append(b, `,"`...), name...), `":`...), value...)
		}
	}
	add("id", id)
	add("method", method)
	if !isNull(params) {
		add("params", params)
	}
	add("result", result)
	add("error", failure)
	return append(b, '}')
}

func isNull(value []byte) bool { return len(value) == 0 || string(value) == "null" }

// isMessage reports whether a line is a JSON-RPC message itself, without a direction.
func isMessage(line wire.Value) bool {
	return line.Get("jsonrpc").Exists() && !line.Get("dir").Exists() && !line.Get("direction").Exists()
}
