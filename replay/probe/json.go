package probe

import (
	"fmt"
	"io"
	"math"

	"github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/replay/script"
)

// A CaseLine is the JSON line of a result.
type CaseLine struct {
	Kind    string      `json:"kind" help:"case"`
	ID      string      `json:"id" help:"such as load/unknown"`
	Title   string      `json:"title" help:"what has to hold"`
	Tier    script.Tier `json:"tier" help:"must, should, hurts or tell: what the case wants, unless a line says otherwise"`
	Dialect string      `json:"dialect" help:"v1, v2-early, v2 or mcp"`
	Outcome Outcome     `json:"outcome" help:"ok, broken, weak, hurts, told, not offered, not tried or stuck"`
	Step    string      `json:"step,omitempty" help:"the line of the case that decided it"`
	Line    int         `json:"line,omitempty" help:"its number in the file"`
	Want    string      `json:"want,omitempty" help:"what it wanted"`
	Got     string      `json:"got,omitempty" help:"what came instead, or why the case was not tried"`
	Told    []string    `json:"told,omitempty" help:"what the peer does where the case only tells"`
	Tape    string      `json:"tape,omitempty" help:"id"`
	Name    string      `json:"name,omitempty" help:"of the tape"`
	File    string      `json:"file,omitempty" help:"with --tapes: path of the tape"`
	Frames  []uint64    `json:"frames,omitempty" help:"their numbers on the tape"`
	Seconds float64     `json:"seconds" help:"how long it took"`
	Times   int         `json:"times" help:"how often it ended so"`
	Runs    int         `json:"runs" help:"of how many"`
	Slow    bool        `json:"slow,omitempty" help:"true: something came too late at first, and in time alone"`
	Source  string      `json:"source,omitempty" help:"URL of the text"`
	Same    string      `json:"same,omitempty" help:"the requirement of acp-tck that it covers"`
	Known   bool        `json:"known,omitempty" help:"true: a baseline or an exception knows it"`
	New     bool        `json:"new,omitempty" help:"true: younger than --as-of"`
	Key     string      `json:"key,omitempty" help:"the same for the same fault in another run"`
}

// A FindingLine is the JSON line of a rule finding on the tapes of cases.
type FindingLine struct {
	report.Line
	Cases []string `json:"cases" help:"ids"`
}

// A SummaryLine is the JSON line that sums up a run.
type SummaryLine struct {
	Kind     string         `json:"kind" help:"summary"`
	Run      string         `json:"run" help:"with which the names of the tapes begin"`
	Peer     string         `json:"peer" help:"what it calls itself"`
	Version  string         `json:"version" help:"its version"`
	Dialects []string       `json:"dialects" help:"those that it speaks, of those that were asked for"`
	Cases    int            `json:"cases" help:"number of lines about cases"`
	Counts   map[string]int `json:"counts" help:"of cases, by outcome"`
	Findings int            `json:"findings" help:"number of lines about findings"`
	Login    []string       `json:"login,omitempty" help:"methods that the peer offers"`
	Walled   bool           `json:"walled,omitempty" help:"true: it wants a login"`
	Seconds  float64        `json:"seconds" help:"how long it took"`
}

// WriteJSON writes one line for each result and finding, followed by a summary line.
func (r *Report) WriteJSON(w io.Writer) error {
	for i := range r.Results {
		if err := writeLine(w, lineOf(&r.Results[i])); err != nil {
			return err
		}
	}
	for _, f := range r.Rest() {
		if err := writeLine(w, FindingLine{report.LineOf(f.First.Tape, f.Finding), f.Cases}); err != nil {
			return err
		}
	}
	sum := SummaryLine{
		Kind: "summary", Run: r.Run, Peer: r.Name, Version: r.Version, Cases: len(r.Results), Counts: map[string]int{}, Findings: len(r.Rest()),
		Login: r.Login, Walled: r.Walled, Seconds: millis(r.Seconds),
	}
	for _, d := range r.Dialects {
		sum.Dialects = append(sum.Dialects, scopeName(d))
	}
	for o := OK; o <= Stuck; o++ {
		sum.Counts[o.String()] = r.Count(o)
	}
	return writeLine(w, sum)
}

func lineOf(res *Result) CaseLine {
	c := res.Case
	line := CaseLine{
		Kind: "case", ID: c.ID, Title: c.Title, Tier: c.Tier, Dialect: scopeName(res.Dialect), Outcome: res.Outcome, Got: res.Got, Told: res.Told,
		Tape: res.Tape, Name: res.Name, File: res.File, Frames: res.Frames, Seconds: millis(res.Seconds), Times: res.Times, Runs: res.Runs, Slow: res.Slow,
		Source: c.Source, Same: c.Same, New: res.New,
	}
	if res.Step != nil {
		line.Step, line.Line, line.Want = res.Step.Text, res.Step.Line, Wanted(res.Step)
	}
	if res.Fault != nil {
		line.Known, line.Key = res.Fault.Known && !res.New, res.Fault.Key
	}
	return line
}

// writeLine writes v as one line of JSON and escapes terminal control characters.
func writeLine(w io.Writer, v any) error {
	_, err := fmt.Fprintf(w, "%s\n", termtext.JSON(wire.Encode(v)))
	return err
}

// millis rounds a number of seconds to milliseconds.
func millis(s float64) float64 { return math.Round(s*1000) / 1000 }
