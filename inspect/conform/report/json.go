package report

import (
	"cmp"
	"io"
	"strings"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace/nested"
)

// A Line is a finding as a line of JSON.
type Line struct {
	Kind     string           `json:"kind" help:"finding"`
	Rule     string           `json:"rule" help:"id, such as ACP441"`
	Name     string           `json:"name" help:"such as cancelled-prompt"`
	Strength conform.Strength `json:"strength" help:"violation, warning, hurts or note"`
	Fault    conform.Fault    `json:"fault" help:"client or agent: who did it; empty: no one"`
	Tape     string           `json:"tape" help:"id"`
	Session  string           `json:"session,omitempty" help:"id"`
	Seq      uint64           `json:"seq,omitempty" help:"number of the frame"`
	Entry    *int             `json:"entry,omitempty" help:"index in a batch"`
	At       *float64         `json:"at,omitempty" help:"seconds since the tape began"`
	Method   string           `json:"method,omitempty" help:"of the frame; of a response, that of its request"`
	Update   string           `json:"update,omitempty" help:"variant of a session/update"`
	Path     string           `json:"path,omitempty" help:"of the value in the message"`
	Want     string           `json:"want,omitempty" help:"what should be there"`
	Got      string           `json:"got,omitempty" help:"what is there"`
	Text     string           `json:"text" help:"what the side did"`
	Victim   *VictimLine      `json:"victim,omitempty" help:"the peer that is known to break on it, if no text forbids it:"`
	Hang     bool             `json:"hang,omitempty" help:"true: nobody ever answered"`
	Because  []uint64         `json:"because,omitempty" help:"numbers of the frames that prove it"`
	Spec     *Spec            `json:"spec,omitempty" help:"where the text says so:"`
	Key      string           `json:"key" help:"the same for the same fault on another tape"`
	New      bool             `json:"new" help:"false if a baseline knows it"`
}

// A Spec locates a rule in a specification.
type Spec struct {
	Title   string `json:"title"`
	Section string `json:"section"`
	URL     string `json:"url"`
	Word    string `json:"word,omitempty"`
	Date    string `json:"date"` // of the specification that was read
}

// A Total sums up the rules on a tape, as a line of JSON.
type Total struct {
	Kind  string `json:"kind" help:"summary"`
	Tape  string `json:"tape" help:"id"`
	Rules int    `json:"rules" help:"how many of the specifications"`
	Tried int    `json:"tried" help:"how many of them applied"`
	Open  []Open `json:"open" help:"rules that could not be checked everywhere:"`

	Uncalled []nested.Uncalled `json:"uncalled,omitempty" help:"MCP servers that acptap was asked to record and the agent never called, as in acptap summary:"`

	Lost []Lost `json:"lost,omitempty" help:"how often rules were broken after the first 1,000 findings on the tape, which are the only ones listed:"`
}

// An Open is a rule that could not be judged everywhere.
type Open struct {
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

// A Lost is a rule with more findings than are kept.
type Lost struct {
	Rule string `json:"rule"`
	N    int    `json:"n"`
}

// JSON writes findings for programs, one object per line.
type JSON struct{ W io.Writer }

// Section writes a section's findings, including those in the baseline, and a summary of
// each tape.
func (j JSON) Section(s *Section) error {
	for i := range s.Findings {
		if err := j.Finding(s, &s.Findings[i]); err != nil {
			return err
		}
	}
	return j.Totals(s)
}

// Totals writes a section's summaries.
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

// valid replaces invalid UTF-8, which Go releases encode differently.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// LineOf returns a finding on a tape in the form for programs.
func LineOf(tape string, f *Finding) Line {
	line := Line{
		Kind: "finding", Rule: f.Rule.ID, Name: f.Rule.Name, Strength: f.Strength, Fault: f.Fault,
		Tape: tape, Session: f.Session, Seq: f.Seq, Method: f.Method, Update: f.Update,
		Path: valid(f.Path), Want: valid(f.Want), Got: valid(f.Got), Text: valid(f.Text), Hang: f.Hang, Because: f.Because, Key: f.Key, New: !f.Known,
	}
	if f.Victim != nil && f.Strength == conform.Hurts {
		v := VictimLine(*f.Victim)
		line.Victim = &v
	}
	if f.Seq != 0 {
		at := termtext.Seconds(f.At.Round(time.Microsecond)).Float()
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

// id names a tape: by its id or, if it has none, by its file.
func (t *Tape) id() string { return cmp.Or(t.ID, t.File) }

func specOf(c *conform.Clause) *Spec {
	return &Spec{Title: c.Source.Title, Section: c.Source.Section(), URL: c.Source.URL, Word: c.Word, Date: conform.Date}
}

func (t *Tape) total() Total {
	total := Total{Kind: "summary", Tape: t.id(), Open: []Open{}, Uncalled: t.Uncalled}
	for _, v := range t.Verdicts {
		if !isOwn(v.Rule) {
			total.Rules++
			if v.Tried {
				total.Tried++
			}
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
