package main

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"math"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/query"
	"github.com/acptap/acptap/cmd/acptap/internal/ref"
	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/termtext"
)

// A listing shows the matching frames of a subject.
type listing struct {
	*show
	sub           ref.Subject
	w             *bufio.Writer
	stderr        io.Writer
	form          frametext.Lines
	shown, broken int // frames, and unreadable parts

	tapes  []*listedTape // of the current part: the agent's first, then those of its servers
	latest *listedTape   // the one that the last line belongs to
}

// A listedTape is a tape whose frames are listed.
type listedTape struct {
	*listing
	match *query.Matcher
	lines frametext.Lines
	start time.Time // when the tape began, from which the shown times count
	noted bool      // the notes on the tape were written
	ended bool
}

// frames shows the matching frames.
func (s *show) frames(ctx context.Context, w *bufio.Writer, stderr io.Writer, sub ref.Subject, form frametext.Lines) error {
	if err := s.match.Judge(ctx, sub.Tapes()...); err != nil {
		return err
	}
	l := listing{show: s, sub: sub, w: w, stderr: stderr, form: form}
	for i, p := range sub.Parts {
		if err := l.part(ctx, p, s.follow && i == len(sub.Parts)-1); err != nil {
			return err
		}
	}
	picky := !s.match.IsZero() || s.from > 1 || s.to != math.MaxUint64
	switch {
	case l.broken > 0:
		return unreadable(l.broken)
	case l.shown == 0 && picky:
		return cli.ErrNo
	}
	return nil
}

// part shows a part of the subject, and with --mcp the tapes of the servers started on it.
func (l *listing) part(ctx context.Context, p ref.Part, follow bool) error {
	r, err := l.reader(p)
	if err != nil {
		return err
	}
	r.Follow = follow
	l.tapes, l.latest = nil, nil // frame numbers restart on each tape
	for e := range r.Read(ctx) {
		for _, part := range r.Parts[len(l.tapes):] {
			if err := l.begin(ctx, part); err != nil {
				return err
			}
		}
		if e.Kind == reading.Read && e.Err == nil && e.Frame.Seq > l.to {
			break
		}
		if err := l.take(e); err != nil {
			return err
		}
	}
	for _, t := range l.tapes {
		if err := t.end(); err != nil {
			return err
		}
	}
	return nil
}

// reader returns a reader of a part of the subject.
func (l *listing) reader(p ref.Part) (*reading.Reader, error) {
	if l.nested {
		return l.sub.Reader(true, p)
	}
	agents, err := l.sub.Agents(p)
	if err != nil && !l.asJSON && l.match.IsZero() { // the frames may be readable
		agents, err = []reading.Part{{Tape: p.Tape}}, nil
	}
	return reading.New(agents), err
}

// begin begins a tape.
func (l *listing) begin(ctx context.Context, part *reading.Part) (err error) {
	t := &listedTape{listing: l, match: &l.match, lines: l.form, start: part.Info.Start.Time, noted: l.asJSON}
	if l.tapes = append(l.tapes, t); part.IsServer() {
		t.match = &query.Matcher{Filter: l.match.Filter}
		if err := t.match.Judge(ctx, part.Tape); err != nil {
			return err
		}
		t.start, t.lines.Began = l.tapes[0].start, part.Began
	}
	if t.lines.Notes, err = part.Tape.Notes(); err != nil {
		cli.Warn(l.stderr, "%v", err)
	}
	t.lines.Server, t.lines.Fold = part.Server, t.match.IsZero()
	t.match.LookAhead = true
	t.match.StartTape(part)
	part.From = t.match.From(part.From, l.from)
	l.align()
	if !part.IsServer() && len(l.sub.Parts) > 1 && !l.asJSON {
		return t.lines.Heading("tape " + part.Tape.ID())
	}
	return nil
}

// align gives the numbers of all tapes the same width.
func (l *listing) align() {
	digits := 0
	for _, t := range l.tapes {
		if width := termtext.Width(frametext.ServerLabel(t.lines.Server)); width > 0 {
			digits = max(digits, width+len(":1234"))
		}
	}
	for _, t := range l.tapes {
		t.lines.Digits = digits
	}
}

// take handles the next event of the tapes.
func (l *listing) take(e *reading.Event) error {
	if e.Part == nil {
		return e.Err
	}
	switch t := l.tapes[e.Part.Index]; e.Kind {
	case reading.Read:
		return t.read(e)
	case reading.Ends:
		return t.end()
	}
	return nil
}

// read shows a frame if it matches, or the error in its place.
func (t *listedTape) read(e *reading.Event) error {
	if t.latest != nil && t.latest != t {
		t.lines.Interrupted()
	}
	f := &e.Frame
	if e.Err != nil {
		t.latest = t
		return t.trouble(e.Err)
	}
	subject := t.match.Observe(f)
	if t.match.Match(&subject) && f.Seq >= t.from && e.Part.Holds(f) {
		t.latest = t
		return t.write(&subject)
	}
	t.lines.Pass(f)
	return nil
}

// end finishes the output of the tape, once.
func (t *listedTape) end() error {
	if t.ended || t.asJSON {
		return nil
	}
	t.ended = true
	return t.lines.Close()
}

func (t *listedTape) write(s *filter.Subject) error {
	t.shown++
	var err error
	if !t.noted {
		t.noted = true
		err = t.lines.Written()
	}
	if t.asJSON {
		err = t.lines.WriteJSON(s, t.start)
	} else {
		err = cmp.Or(err, t.lines.Write(s))
	}
	if err != nil || !t.follow {
		return err
	}
	return t.w.Flush()
}

// trouble reports an unreadable part. The frames after it are still shown.
func (t *listedTape) trouble(err error) error {
	t.broken++
	cli.Warn(t.stderr, "%v", err)
	if t.asJSON {
		return nil
	}
	return t.lines.Trouble(err)
}
