// Package portable has the JSON Lines form of a tape, for other tools to read, compare and
// keep. An Exporter writes it, and redacts secrets unless told otherwise. Read reads it,
// with frames of any length in bounded memory, and the files of other tools (form.go).
//
// The package reads and writes lines. The caller decides what they mean on a tape, and
// which numbers they get there.
package portable

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/disk"
	"github.com/acptap/acptap/record/journal"
	"github.com/acptap/acptap/record/note"
)

// The portable form of a tape is JSON Lines: a header, then a line for each frame.
//
//	{"acptap":1,"tape":"…","started":"2026-01-02T15:04:05Z","command":["agent"],"cwd":"/w"}
//	{"seq":1,"at":0.013,"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"initialize"}}
//	{"seq":2,"at":0.015,"dir":"err","text":"ready"}
//	{"seq":3,"at":0.021,"dir":"c2a","eof":true}
//
// frame has the bytes themselves if they are a JSON-RPC message without blanks around it that
// cannot control a terminal (termtext.JSON). Otherwise text has them if they are valid UTF-8;
// base64 has all others, and those of a frame that was too long to be read into memory.
// origin is omitted for the wire, and end for a line feed. Marks have the fields of
// wire.Marked. A line needs dir, and one of frame, text, base64 or a mark. If a line has no
// at, its time is unknown, but no earlier than that of the previous line. A line without seq
// gets the next number. Numbers that a file skips stay unused; where numbers do not rise, all
// that follow are renumbered.
//
// The header has the tags of the tape and the notes on it. The line of a frame has the
// notes on it, before the bytes, as an array of objects with text and at. Readers that do
// not know them ignore them.
//
// Each finding of acptap check is in a separate line after that of its frame, with finding as
// the only member. Readers skip these lines: findings are computed again from the frames.
//
// The header names kinds of lines that some readers do not know: "needs":["rules"] if there
// are marks of rules, "needs":["streams"] if there are lines of streams (stream.go).

// header is the first line.
type header struct {
	Acptap  int        `json:"acptap"`
	Needs   disk.Needs `json:"needs,omitempty"`
	Tape    string     `json:"tape,omitempty"`
	Started time.Time  `json:"started,omitzero"`
	Command []string   `json:"command,omitempty"`
	Cwd     string     `json:"cwd,omitempty"`
	Name    string     `json:"name,omitempty"`
	Version string     `json:"version,omitempty"`
	Proto   string     `json:"protocol,omitempty"`

	Parent    journal.Parent `json:"parent,omitzero"`
	Transport string         `json:"transport,omitempty"`
	Upstream  string         `json:"upstream,omitempty"`

	Tags  []string    `json:"tags,omitempty"`
	Notes []note.Note `json:"notes,omitempty"` // on the tape
}

// A Head is what a file says about its tape as a whole.
type Head struct {
	Tape  string // its id; may be empty
	Start journal.Start
	Needs disk.Needs // what a reader must know to understand the lines
	Notes note.List
}

func (h header) head() Head {
	h.Parent.Claimed = false // a file cannot know
	return Head{
		Tape: h.Tape,
		Start: journal.Start{
			Time: h.Started, Command: h.Command, Cwd: h.Cwd, Name: h.Name, Version: h.Version, Proto: h.Proto,
			Parent: h.Parent, Transport: h.Transport, Upstream: h.Upstream,
		},
		Needs: h.Needs,
		Notes: note.List{Tags: h.Tags, Notes: placed(h.Notes)},
	}
}

// A Line is one line of a portable file: bytes of a direction, or a mark.
type Line struct {
	Number  int    // number of the line in the file, from 1; 0: the file does not consist of lines
	Seq     uint64 // 0: the line has none
	Dir     wire.Direction
	Origin  wire.Origin
	At      time.Duration
	Untimed bool // the line has no time, and At is that of the line before
	End     wire.LineEnd
	Framing Framing
	Raw     []byte
	Body    io.Reader // instead of Raw, if the line is too long for memory
	Mark    *wire.Marked
	Notes   []note.Note // notes on the frame
}

// MaxSeq exceeds the number of any frame, and is small enough that arithmetic with numbers
// cannot overflow.
const MaxSeq = 1 << 48

// parseHeader reads a header. ok is false if line is not a header.
func parseHeader(line []byte) (h header, ok bool, err error) {
	if !wire.ValueAt(line, "acptap").Exists() {
		return h, false, nil
	}
	if err := disk.CheckNeeds("the file", line); err != nil {
		return h, true, err
	}
	err = json.Unmarshal(line, &h)
	if is := (*json.UnmarshalTypeError)(nil); errors.As(err, &is) {
		return h, true, fmt.Errorf("header: %q cannot be of type %s", is.Field, is.Value)
	}
	if err != nil {
		return h, true, fmt.Errorf("header: %w", err)
	}
	if h.Acptap > disk.Format {
		return h, true, fmt.Errorf("portable form of version %d: %w", h.Acptap, disk.ErrNewer)
	}
	return h, true, nil
}

// errFinding says that a line is a finding, which is not on the tape.
var errFinding = errors.New("a finding")

// errNoJSON says that a line is not JSON.
var errNoJSON = errors.New("no JSON")

// parseLine reads a line other than the header. last is the time of the previous line.
func parseLine(line []byte, last time.Duration) (Line, error) {
	l := Line{At: last, Untimed: true}
	if !json.Valid(line) {
		return l, errNoJSON
	}
	g := wire.ValueOf(line)
	if !g.IsObject() {
		return l, errors.New("no JSON object")
	}
	dir := g.Get("dir")
	if !dir.Exists() && g.Get("finding").IsObject() {
		return l, errFinding
	}
	if !dir.Exists() {
		return l, errors.New(`"dir" is missing; it is c2a, a2c or err`)
	}
	if err := l.Dir.UnmarshalText([]byte(dir.Text())); err != nil {
		return l, err
	}
	if v := g.Get("origin"); v.Exists() {
		if err := l.Origin.UnmarshalText([]byte(v.Text())); err != nil {
			return l, err
		}
	}
	if v := g.Get("end"); v.Exists() {
		if err := l.End.UnmarshalText([]byte(v.Text())); err != nil {
			return l, err
		}
	}
	var err error
	if l.Framing, err = parseFraming(g); err != nil {
		return l, err
	}
	if v := g.Get("seq"); v.Exists() {
		n, err := strconv.ParseUint(v.Raw(), 10, 64)
		if err != nil || n > MaxSeq {
			return l, fmt.Errorf(`"seq": %s is no number of a frame`, v.Raw())
		}
		l.Seq = n
	}
	if v := g.Get("at"); v.Exists() {
		at, err := strconv.ParseFloat(v.Raw(), 64)
		if err != nil || at < 0 || at > 1e9 {
			return l, fmt.Errorf("%q is no time in seconds", v.Raw())
		}
		l.At, l.Untimed = time.Duration(at*1e9+0.5), false
	}
	if v := g.Get("notes"); v.Exists() {
		if err := json.Unmarshal([]byte(v.Raw()), &l.Notes); err != nil {
			return l, errors.New(`"notes" is no list of {"text", "at"}`)
		}
		l.Notes = placed(l.Notes)
	}
	switch frame, text, b64 := g.Get("frame"), g.Get("text"), g.Get("base64"); {
	case frame.Exists():
		l.Raw = bytes.Clone(wire.Get(line, "frame")) // as it was sent: a Value omits overridden members
	case text.IsString():
		l.Raw = []byte(text.Text())
	case b64.IsString():
		var err error
		if l.Raw, err = base64.StdEncoding.DecodeString(b64.Text()); err != nil {
			return l, fmt.Errorf("base64: %w", err)
		}
	default:
		l.Mark = new(wire.Marked)
		if err := json.Unmarshal(line, l.Mark); err != nil {
			return l, err
		}
		if *l.Mark == (wire.Marked{}) {
			return l, errors.New(`neither "frame", "text", "base64" nor a mark`)
		}
		if l.Mark.Gap < 0 || l.Mark.Damage < 0 {
			return l, errors.New(`"gap" and "damage" are numbers of bytes`)
		}
		if err := numberMark(l.Mark, &l.Framing.Stream); err != nil {
			return l, err
		}
	}
	return l, nil
}
