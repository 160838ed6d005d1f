package ship

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/record/trace/spans"
)

// A delivery sends one tape.
type delivery struct {
	shipper *Shipper
	tape    string
	kept    bool // store the cursor
	spans   spans.Builder
	meter   spans.Meter
	arrived uint64 // everything that completed with frames up to this one has arrived
	cursor  Cursor
	last    uint64 // number of the last added frame
	batch
}

// A batch holds the contents of one request. Spans that complete together are in the same
// one.
type batch struct {
	sets  []spans.Set
	count int // of spans
	size  int // approximately, in bytes
	turns int
	logs  otlp.Records
}

// maxSize limits a request before compression, unless spans that complete together exceed
// it.
const maxSize = 1 << 20

// add adds a frame. If it would make the batch too large, it sends the batch first.
func (d *delivery) add(ctx context.Context, f *dialect.Frame) error {
	sets := d.spans.Add(f)
	d.last = f.Seq
	if f.Seq > d.arrived {
		err := d.put(ctx, f.Seq-1, sets)
		if err == nil && d.spans.Logs {
			err = d.log(ctx, f)
		}
		return err
	}
	if d.meter.Cumulative {
		d.measure(sets)
	}
	return nil
}

// log adds the record of a frame to the batch.
func (d *delivery) log(ctx context.Context, f *dialect.Frame) error {
	r, ok := d.spans.Record(f)
	if !ok {
		return nil
	}
	d.logs, d.size = append(d.logs, r), d.size+otlp.Encoder{}.Size(otlp.Records{r})
	if len(d.logs) < otlp.MaxRecords && d.size < maxSize {
		return nil
	}
	return d.send(ctx, f.Seq, false)
}

// measure returns the points of sets.
func (d *delivery) measure(sets []spans.Set) otlp.Points {
	for _, set := range sets {
		d.meter.Add(set)
	}
	return otlp.Points{Measured: d.meter.Take(), Cumulative: d.meter.Cumulative}
}

// put adds sets to the batch. Everything in the batch completed with frames up to before.
func (d *delivery) put(ctx context.Context, before uint64, sets []spans.Set) error {
	for _, set := range sets {
		size := otlp.Encoder{}.Size(otlp.Spans{set})
		if d.count > 0 && (d.count+len(set.Spans) > otlp.MaxSpans || d.size+size > maxSize) {
			if err := d.send(ctx, before, false); err != nil {
				return err
			}
		}
		d.sets, d.count, d.size = append(d.sets, set), d.count+len(set.Spans), d.size+size
		if len(set.Spans) > 0 && set.Spans[0].Kind == spans.Turn {
			d.turns++
		}
	}
	return nil
}

// flush sends the batch if it is not empty.
func (d *delivery) flush(ctx context.Context) error {
	if d.count == 0 && len(d.logs) == 0 {
		return nil
	}
	return d.send(ctx, d.last, false)
}

// end sends the batch together with the spans that complete at the end of the tape.
func (d *delivery) end(ctx context.Context) error {
	if err := d.put(ctx, d.last, d.spans.End()); err != nil {
		return err
	}
	return d.send(ctx, d.last, true)
}

// send sends the batch. It then records that everything up to frame seq has arrived or,
// with done, the whole tape.
func (d *delivery) send(ctx context.Context, seq uint64, done bool) error {
	e := Event{Kind: Delivered, Tape: d.tape, Turns: d.turns}
	for _, signal := range []otlp.Signal{otlp.Traces, otlp.Logs, otlp.Metrics} {
		if err := d.sendSignal(ctx, signal, &e); err != nil {
			return errors.Join(err, d.remember())
		}
	}
	c := d.cursor
	c.Seq, c.Done, c.Turns, c.Refused = max(c.Seq, seq), done, c.Turns+uint64(d.turns), c.Refused+uint64(e.Refused)
	if err := d.shipper.acknowledge(d, c, e.Text); err != nil {
		return err
	}
	d.cursor, d.batch = c, batch{}
	if e.Spans+e.Points+e.Records > 0 {
		d.shipper.Tell(e)
	}
	return nil
}

// sendSignal sends a signal of the batch, unless it is off, and counts it in e. Metrics
// must be sent last: if they fail, everything sent before them is sent again.
func (d *delivery) sendSignal(ctx context.Context, signal otlp.Signal, e *Event) error {
	to := d.shipper.Clients[signal]
	if to == nil {
		return nil
	}
	var r otlp.Request
	switch signal {
	case otlp.Traces:
		r = otlp.Spans(d.sets)
		e.Spans = r.Len()
	case otlp.Metrics:
		r = d.measure(d.sets)
		e.Points = r.Len()
	case otlp.Logs:
		r = d.logs
		e.Records = r.Len()
	}
	if r.Len() == 0 {
		return nil
	}
	refused, why, err := d.shipper.send(ctx, to, r)
	e.Refused, e.Text = e.Refused+refused, cmp.Or(e.Text, why)
	return err
}

// remember stores that the tape must be delivered, before any of it has arrived.
func (d *delivery) remember() error {
	if _, known := d.shipper.cursors[d.tape]; known || !d.kept {
		return nil
	}
	return d.shipper.put(d.tape, d.cursor)
}

// acknowledge stores how much of a tape has arrived.
func (s *Shipper) acknowledge(d *delivery, c Cursor, refusal string) error {
	was := s.head
	s.head.Refusal = cmp.Or(refusal, s.head.Refusal)
	s.head.Trouble, s.head.Since = "", time.Time{}
	switch {
	case d.kept:
		return s.put(d.tape, c)
	case s.head != was:
		return s.keep(func(*Update) {})
	}
	return nil
}

// Waits before a request is repeated, unless the answer specifies one: the first takes a
// second, and each further one is longer.
const (
	firstWait = time.Second
	maxWait   = 30 * time.Second
	growth    = 1.5
)

// send repeats a request until the destination accepts or refuses it. It returns how much
// was refused, and why.
func (s *Shipper) send(ctx context.Context, to *otlp.Client, r otlp.Request) (refused int, why string, err error) {
	if s.Dry {
		return 0, "", nil
	}
	began, wait := time.Now(), firstWait
	for {
		answer, err := to.Send(ctx, r)
		var f *otlp.Failure
		switch {
		case err == nil && answer.Refused == 0: // a message is only a warning here
			s.told = ""
			return 0, "", nil
		case err == nil:
			s.told = ""
			return answer.Refused, cmp.Or(answer.Message, "it refused a part, and did not say why"), nil
		case !errors.As(err, &f):
			return 0, "", err
		case f.Kind == otlp.Refused, f.Kind == otlp.Absent && s.takesMain(ctx, to):
			s.told = ""
			return r.Len(), f.Error(), nil
		}
		pause := cmp.Or(f.After, time.Duration(float64(wait)*(0.75+rand.Float64()/2)))
		mistaken := f.Kind == otlp.Denied || f.Kind == otlp.Absent
		if mistaken {
			pause = maxWait
		}
		again := s.Patience == 0 || !mistaken && time.Since(began)+pause <= s.Patience
		if err := s.trouble(f, again); err != nil {
			return 0, "", err
		}
		if !again {
			return 0, "", f
		}
		if err := sleep(ctx, pause); err != nil {
			return 0, "", err
		}
		wait = min(time.Duration(float64(wait)*growth), maxWait)
	}
}

// takesMain reports whether the destination accepts the signal of Main, and to is not
// Main: then it does not support the signal of to, and its URL is not wrong. It sends an
// empty request, because records of a long turn are sent before its spans. Servers should
// accept that (OTLP specification); one that refuses it has at least parsed it.
func (s *Shipper) takesMain(ctx context.Context, to *otlp.Client) bool {
	if to == s.Main() {
		return false
	}
	_, err := s.Main().Send(ctx, otlp.Spans(nil))
	var f *otlp.Failure
	return err == nil || errors.As(err, &f) && f.Kind == otlp.Refused
}

// AnswerKind returns what answers of one kind have in common: their text without the
// numbers and ids that differ each time, such as those of the request.
func AnswerKind(text string) string { return numbers().ReplaceAllString(text, "#") }

var numbers = lazyregexp.New(`[0-9A-Fa-f-]*[0-9][0-9A-Za-z-]*`)

// trouble reports a failure, and stores it for acptap ship --status.
func (s *Shipper) trouble(f *otlp.Failure, again bool) error {
	if s.told == AnswerKind(f.Error()) {
		return nil
	}
	s.told = AnswerKind(f.Error())
	s.Tell(Event{Kind: Trouble, Text: f.Error(), Again: again})
	if s.head.Trouble == "" {
		s.head.Since = time.Now().Round(time.Second)
	}
	s.head.Trouble = f.Error()
	return s.keep(func(*Update) {})
}

// sleep waits for d, or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
