package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/cli"
	"github.com/acptap/acptap/cmd/acptap/internal/ship"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/inspect/tapetext"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/termtext"
)

// A shipped counts what was sent.
type shipped struct {
	tapes                                  map[string]bool
	turns, spans, points, records, refused int
	unreadable                             int
	refusals                               []*refusal // by kind, in order of arrival
}

// A refusal sums up what answers of one kind refused.
type refusal struct {
	kind, text                      string // text is that of the first
	answers                         int
	refused, spans, points, records int
	tape                            string // the first
	tapes                           map[string]bool
}

// refuse counts a refusal and returns it.
func (s *shipped) refuse(e ship.Event) *refusal {
	kind := ship.AnswerKind(e.Text)
	i := slices.IndexFunc(s.refusals, func(r *refusal) bool { return r.kind == kind })
	if i < 0 {
		i = len(s.refusals)
		s.refusals = append(s.refusals, &refusal{kind: kind, text: e.Text, tape: e.Tape, tapes: map[string]bool{}})
	}
	r := s.refusals[i]
	r.answers++
	r.refused, r.spans, r.points, r.records = r.refused+e.Refused, r.spans+e.Spans, r.points+e.Points, r.records+e.Records
	r.tapes[e.Tape] = true
	return r
}

// warn reports a refusal.
func (s *shipping) warn(r *refusal) {
	of, times := "tape "+tapetext.ShortID(r.tape), ""
	if len(r.tapes) > 1 {
		of = termtext.Counted(len(r.tapes), "tape")
	}
	if r.answers > 1 {
		times = fmt.Sprintf(" (%s)", termtext.Counted(r.answers, "answer"))
	}
	cli.Warn(s.stderr, "%d of %s of %s refused: %s%s", r.refused, s.listed(r.spans, r.points, r.records), of, r.text, times)
}

// A shipLine is an event as --json writes it.
type shipLine struct {
	Event       string `json:"event"`
	Destination string `json:"destination,omitempty"`
	Tape        string `json:"tape,omitempty"`
	Tapes       *int   `json:"tapes,omitempty"`
	Turns       *int   `json:"turns,omitempty"`
	Spans       *int   `json:"spans,omitempty"`
	Points      *int   `json:"points,omitempty"`
	Records     *int   `json:"records,omitempty"`
	Refused     *int   `json:"refused,omitempty"`
	Text        string `json:"text,omitempty"`
}

// tell reports an event.
func (s *shipping) tell(e ship.Event) {
	line := shipLine{Event: "delivered", Tape: e.Tape, Text: e.Text}
	switch e.Kind {
	case ship.Trouble:
		line.Event = "trouble"
	case ship.Unreadable:
		line.Event = "unreadable"
		s.sent.unreadable++
	case ship.Delivered:
		line.Turns, line.Refused = &e.Turns, &e.Refused
		line.Spans, line.Points, line.Records = s.ifSent(otlp.Traces, &e.Spans), s.ifSent(otlp.Metrics, &e.Points), s.ifSent(otlp.Logs, &e.Records)
		if s.sent.tapes == nil {
			s.sent.tapes = map[string]bool{}
		}
		s.sent.tapes[e.Tape] = true
		s.sent.turns, s.sent.spans, s.sent.refused = s.sent.turns+e.Turns, s.sent.spans+e.Spans, s.sent.refused+e.Refused
		s.sent.points, s.sent.records = s.sent.points+e.Points, s.sent.records+e.Records
	}
	switch {
	case s.asJSON:
		s.write(cli.WriteJSON(s.stdout, line))
	case e.Kind == ship.Trouble && !e.Again: // the final error says the same
	case e.Kind == ship.Trouble && s.follow:
		cli.Warn(s.stderr, "%s; it is tried again", e.Text)
	case e.Kind == ship.Trouble:
		cli.Warn(s.stderr, "%s; it is tried for %v", e.Text, patience)
	case e.Kind == ship.Unreadable:
		cli.Warn(s.stderr, "%s", e.Text)
	case e.Refused > 0: // done reports it, and with --follow again
		if r := s.sent.refuse(e); s.follow && r.answers == 1 {
			s.warn(r)
		}
	case s.follow, s.dry:
		_, err := fmt.Fprintf(s.stdout, "%s  %s, %s\n", tapetext.ShortID(e.Tape), termtext.Counted(e.Turns, "turn"), s.listed(e.Spans, e.Points, e.Records))
		s.write(err)
	}
}

// ifSent returns n if the signal is being sent, otherwise nil.
func (s *shipping) ifSent(signal otlp.Signal, n *int) *int {
	if slices.Contains(s.signals, signal) {
		return n
	}
	return nil
}

// listed counts spans, points and records in words, for the signals that are sent.
func (s *shipping) listed(spans, points, records int) string {
	var parts []string
	for _, signal := range s.signals {
		parts = append(parts, [...]string{termtext.Counted(spans, "span"), termtext.Counted(points, "data point"), termtext.Counted(records, "log record")}[signal])
	}
	return strings.Join(parts, ", ")
}

func (s *shipping) write(err error) { s.err = errors.Join(s.err, err) }

// done reports how much was sent.
func (s *shipping) done() {
	n, to := len(s.sent.tapes), s.shipper.Main().Name()
	if s.asJSON {
		s.write(cli.WriteJSON(s.stdout, shipLine{
			Event: "done", Destination: to, Tapes: &n, Turns: &s.sent.turns, Refused: &s.sent.refused,
			Spans: s.ifSent(otlp.Traces, &s.sent.spans), Points: s.ifSent(otlp.Metrics, &s.sent.points), Records: s.ifSent(otlp.Logs, &s.sent.records),
		}))
		return
	}
	for _, r := range s.sent.refusals {
		if !s.follow || r.answers > 1 {
			s.warn(r)
		}
	}
	verb := "sent"
	if s.dry {
		verb = "would send"
	}
	refused := ""
	if s.sent.refused > 0 {
		refused = fmt.Sprintf(", which refused %d of them", s.sent.refused)
	}
	_, err := fmt.Fprintf(s.stdout, "%s %s: %s, %s to %s%s\n", verb, termtext.Counted(n, "tape"), termtext.Counted(s.sent.turns, "turn"), s.listed(s.sent.spans, s.sent.points, s.sent.records), to, refused)
	s.write(err)
}

// answer returns the error that sets the exit status.
func (s *shipping) answer() error {
	switch {
	case s.err != nil:
		return s.err
	case s.sent.unreadable > 0:
		return errors.New("a part of what was to be sent cannot be read")
	case s.sent.refused > 0:
		return cli.ErrNo
	}
	return nil
}

// A shipStatus is the status of a destination, as --json writes it.
type shipStatus struct {
	Destination  string     `json:"destination"`
	Since        *time.Time `json:"since,omitempty"`
	Running      bool       `json:"running"`
	Arrived      int        `json:"arrived"`
	Tapes        int        `json:"tapes"`
	Turns        uint64     `json:"turns"`
	Oldest       *time.Time `json:"oldest,omitempty"`
	Refused      uint64     `json:"refused"`
	Refusal      string     `json:"refusal,omitempty"`
	Pruned       uint64     `json:"pruned"`
	Trouble      string     `json:"trouble,omitempty"`
	TroubleSince *time.Time `json:"troubleSince,omitempty"`

	single bool // so far only individual tapes were delivered
}

// statusOf reads the status of a destination. l is the listing of the store.
func statusOf(d *ship.Destination, store *record.Store, l *record.Listing) (shipStatus, error) {
	head, cursors, err := d.Read()
	if err != nil {
		return shipStatus{}, err
	}
	lag := ship.LagOf(store, l, &head, cursors)
	arrived := 0
	for _, c := range cursors {
		if c.Done {
			arrived++
		}
	}
	return shipStatus{
		Destination: head.Name, Since: unlessZero(head.From), Running: d.Locked(), Arrived: arrived, single: !head.Begun,
		Tapes: lag.Tapes, Turns: lag.Turns, Oldest: unlessZero(lag.Oldest), Refused: lag.Refused, Refusal: head.Refusal,
		Pruned: head.Pruned, Trouble: head.Trouble, TroubleSince: unlessZero(head.Since),
	}, nil
}

func unlessZero(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// waiting says what has not arrived yet.
func (s *shipStatus) waiting(now time.Time) string {
	switch {
	case s.Tapes == 0 && s.single:
		return termtext.Counted(s.Arrived, "tape") + " arrived"
	case s.Tapes == 0:
		return "all has arrived"
	}
	text := termtext.Counted(s.Tapes, "tape") + " with " + termtext.Counted(s.Turns, "turn") + " not yet sent"
	if s.Oldest != nil {
		text += ", the oldest ended " + termtext.Duration(max(now.Sub(*s.Oldest).Round(time.Second), time.Second)) + " ago"
	}
	return text
}

// writeStatus writes the status of all destinations, or of the named one.
func (s *shipping) writeStatus(store *record.Store) error {
	list, err := ship.Destinations(store.Dir())
	if err != nil {
		return err
	}
	named := "" // of the destination in --otlp
	if s.otlp != otlpFromEnv {
		u, err := otlp.Environment(func(string) string { return "" }).Endpoint(s.signals[0], s.otlp)
		if err != nil {
			return err
		}
		list, named = []*ship.Destination{ship.To(store.Dir(), u.String())}, otlp.Name(u)
	}
	if len(list) == 0 && !s.asJSON {
		_, err := fmt.Fprintln(s.stdout, "Nothing was sent from this store.")
		return err
	}
	listing, err := store.List()
	if err != nil {
		return err
	}
	now := time.Now()
	for _, d := range list {
		of, err := statusOf(d, store, &listing)
		if err != nil {
			return err
		}
		of.Destination = cmp.Or(of.Destination, named)
		if s.asJSON {
			err = cli.WriteJSON(s.stdout, of)
		} else {
			_, err = s.stdout.Write([]byte(of.text(now)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// text returns the status of a destination as lines.
func (s *shipStatus) text(now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  %s\n", s.Destination, s.waiting(now))
	if s.Running {
		b.WriteString("  an acptap is sending what is recorded\n")
	}
	if s.Refused > 0 {
		fmt.Fprintf(&b, "  %d refused for good; at last: %s\n", s.Refused, termtext.Line(s.Refusal))
	}
	if s.Pruned > 0 {
		fmt.Fprintf(&b, "  %s deleted before all of it had arrived\n", termtext.Counted(s.Pruned, "tape"))
	}
	if s.Trouble != "" {
		fmt.Fprintf(&b, "  since %s: %s\n", s.TroubleSince.Local().Format(time.DateTime), termtext.Line(s.Trouble))
	}
	return b.String()
}

// examineShipping returns diagnoses about tapes that have not arrived.
func examineShipping(store *record.Store, now time.Time) (found []record.Diagnosis) {
	list, err := ship.Destinations(store.Dir())
	var listing record.Listing
	if err == nil && len(list) > 0 {
		listing, err = store.List()
	}
	if err != nil {
		return []record.Diagnosis{{What: err.Error(), Bad: true, Advice: "look at the directory ship of the store"}}
	}
	for _, d := range list {
		s, err := statusOf(d, store, &listing)
		if err != nil {
			found = append(found, record.Diagnosis{What: err.Error(), Bad: true, Advice: "what has arrived there is not known"})
			continue
		}
		about := record.Diagnosis{What: s.Destination + ": " + s.waiting(now)}
		if s.Tapes > 0 && s.Trouble != "" {
			about.What += "; " + s.Trouble
			about.Bad, about.Advice = true, "acptap ship sends them once it can be reached; to give it up, remove "+d.Path()
		}
		found = append(found, about)
		if s.Refused > 0 {
			found = append(found, record.Diagnosis{
				What: fmt.Sprintf("%s: %d refused for good; at last: %s", s.Destination, s.Refused, s.Refusal),
				Bad:  true, Advice: "acptap ship --again sends them once more; they are forgotten with their tapes",
			})
		}
	}
	return found
}
