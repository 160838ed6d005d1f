package report

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Line is a finding as a line of JSON.
type Line struct {
	Kind     string           `json:"kind"` // finding
	Rule     string           `json:"rule"`
	Name     string           `json:"name"`
	Strength conform.Strength `json:"strength"`
	Fault    conform.Fault    `json:"fault"`
	Tape     string           `json:"tape"`
	Session  string           `json:"session,omitempty"`
	Seq      uint64           `json:"seq,omitempty"`
	Entry    *int             `json:"entry,omitempty"`
	At       *float64         `json:"at,omitempty"`
	Method   string           `json:"method,omitempty"`
	Update   string           `json:"update,omitempty"`
	Path     string           `json:"path,omitempty"`
	Want     string           `json:"want,omitempty"`
	Got      string           `json:"got,omitempty"`
	Text     string           `json:"text"`
	Because  []uint64         `json:"because,omitempty"`
	Spec     *Spec            `json:"spec,omitempty"`
	Key      string           `json:"key"`
	New      bool             `json:"new"`
}

// A Spec is the place of a rule in a specification.
type Spec struct {
	Title   string `json:"title"`
	Section string `json:"section"`
	URL     string `json:"url"`
	Word    string `json:"word,omitempty"`
	Date    string `json:"date"` // of the specification that was read
}

// A Total is what became of the rules on a tape, as a line of JSON.
type Total struct {
	Kind  string `json:"kind"` // summary
	Tape  string `json:"tape"`
	Rules int    `json:"rules"`
	Tried int    `json:"tried"`
	Open  []Open `json:"open"`
	Lost  []Lost `json:"lost,omitempty"`
}

// An Open is a rule that could not be judged somewhere.
type Open struct {
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// A Lost is a rule with more findings than are kept.
type Lost struct {
	Rule string `json:"rule"`
	N    int    `json:"n"`
}

// JSON writes findings for programs, one object a line.
type JSON struct{ W io.Writer }

// Section writes the findings of a section, including those that the baseline knows, and a
// summary for each tape.
func (j JSON) Section(s *Section) error {
	for i := range s.Findings {
		if err := j.Finding(s, &s.Findings[i]); err != nil {
			return err
		}
	}
	return j.Totals(s)
}

// Totals writes the summaries of a section.
func (j JSON) Totals(s *Section) error {
	for _, t := range s.Tapes {
		if err := writeLine(j.W, t.total()); err != nil {
			return err
		}
	}
	return nil
}

// Finding writes one finding.
func (j JSON) Finding(s *Section, f *Finding) error {
	return writeLine(j.W, LineOf(s.Tapes[f.Tape].id(), f))
}

// valid replaces what is not UTF-8, which releases of Go encode differently.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// LineOf returns a finding on a tape for programs.
func LineOf(tape string, f *Finding) Line {
	line := Line{
		Kind: "finding", Rule: f.Rule.ID, Name: f.Rule.Name, Strength: f.Strength, Fault: f.Fault,
		Tape: tape, Session: f.Session, Seq: f.Seq, Method: f.Method, Update: f.Update,
		Path: valid(f.Path), Want: valid(f.Want), Got: valid(f.Got), Text: valid(f.Text), Because: f.Because, Key: f.Key, New: !f.Known,
	}
	if f.Seq != 0 {
		at := f.At.Round(time.Microsecond).Seconds()
		line.At = &at
		if f.Entry >= 0 {
			line.Entry = &f.Entry
		}
	}
	if c := f.Clause; c != nil && c.Source.URL != "" {
		line.Spec = specOf(c)
	}
	return line
}

// id names a tape: by its id, else by its file.
func (t *Tape) id() string { return cmp.Or(t.ID, t.File) }

func specOf(c *conform.Clause) *Spec {
	return &Spec{Title: c.Source.Title, Section: c.Source.Section(), URL: c.Source.URL, Word: c.Word, Date: conform.Date}
}

func (t *Tape) total() Total {
	total := Total{Kind: "summary", Tape: t.id(), Rules: len(t.Verdicts), Open: []Open{}}
	for _, v := range t.Verdicts {
		if v.Tried {
			total.Tried++
		}
		if v.Open != "" {
			total.Open = append(total.Open, Open{v.Rule.ID, v.Open})
		}
		if v.Lost > 0 {
			total.Lost = append(total.Lost, Lost{v.Rule.ID, v.Lost})
		}
	}
	return total
}

// writeLine writes a value as one line of JSON without terminal control characters.
func writeLine(w io.Writer, v any) error {
	_, err := w.Write(append(termtext.JSON(wire.Encode(v)), '\n'))
	return err
}
