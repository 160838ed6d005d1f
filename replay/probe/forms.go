package probe

import (
	"fmt"
	"io"
	"strings"

	"github.com/acptap/acptap/inspect/conform/report"
)

// WriteJUnit writes one test per case, in whichever dialects the peer speaks, and one test for
// the rule findings. The number of tests is therefore the number of cases plus one.
func (r *Report) WriteJUnit(w io.Writer, on report.FailOn) error {
	suite := report.Suite{Name: "acptap probe " + r.Peer()}
	for i := 0; i < len(r.Results); {
		end := i + 1
		for end < len(r.Results) && r.Results[end].Case == r.Results[i].Case {
			end++
		}
		suite.Add(r.test(r.Results[i:end], on))
		i = end
	}
	suite.Add(r.rulesTest(on))
	junit := report.JUnit{W: w, FailOn: on}
	junit.Suite(suite)
	return junit.Close()
}

// suiteClass is the JUnit class of all tests.
const suiteClass = "acptap.probe"

// test returns the JUnit test for the results of one case in several dialects.
func (r *Report) test(results []Result, on report.FailOn) report.Test {
	t := report.Test{Class: suiteClass, Name: results[0].Case.ID, File: results[0].File}
	skipped := 0
	for i := range results {
		res := results[i].shared()
		t.Time += report.Seconds(res.Seconds)
		said := r.title(res) + ": " + res.Outcome.String()
		switch {
		case res.Outcome == Stuck:
			t.Error = &report.Failure{Type: "stuck", Message: res.Got, Text: res.Case.Title + "\n" + res.Got}
			continue
		case res.Fault != nil && !res.Fault.Known && on.Fails(&res.Fault.Finding):
			t.File = res.File
			if t.Failure == nil {
				t.Failure = &report.Failure{Type: res.Outcome.String(), Message: r.title(res) + ": " + res.Fault.Public.Text}
			}
			for _, line := range []string{res.Case.Title, res.Fault.Public.Text, res.Case.Source, res.evidence()} {
				if line != "" {
					t.Failure.Text += line + "\n"
				}
			}
			continue
		case res.Fault != nil:
			said += ": " + res.Fault.Public.Text
		case res.Outcome == NotOffered || res.Outcome == NotTried:
			skipped++
			said += ": " + res.Got
		case len(res.Told) > 0:
			said += ": " + strings.Join(res.Told, "; ")
		}
		t.Out += said + "\n"
	}
	if skipped == len(results) {
		t.Skipped, t.Out = &report.Skipped{Why: strings.TrimSpace(strings.TrimPrefix(t.Out, results[0].Case.ID+": "))}, ""
	}
	return t
}

// rulesTest returns the JUnit test for the rule findings.
func (r *Report) rulesTest(on report.FailOn) report.Test {
	t := report.Test{Class: suiteClass, Name: "rules"}
	for _, f := range r.Rest() {
		text := fmt.Sprintf("%s %s: %s (%s)", f.Rule.ID, f.Rule.Name, report.Said(f.Shared()), caseList(f.Cases))
		switch {
		case f.Known || !on.Fails(&f.Finding.Finding):
			t.Out += text + "\n"
		case t.Failure == nil:
			t.Failure = &report.Failure{Type: f.Strength.String(), Message: text, Text: text + "\n"}
		default:
			t.Failure.Text += text + "\n"
		}
	}
	return t
}

// Peer returns the peer's name and version.
func (r *Report) Peer() string {
	name := r.Name
	if name == "" {
		name = "the peer"
	}
	return strings.TrimSpace(name + " " + r.Version)
}

// WriteSARIF writes the faults for code scanning. version is acptap's own.
func (r *Report) WriteSARIF(w io.Writer, version string) error {
	return write(r, &report.SARIF{W: w, Version: version, Rules: r.rules()})
}

// WriteGitHub writes the faults as annotations of a GitHub Actions step.
func (r *Report) WriteGitHub(w io.Writer) error {
	return write(r, &report.GitHub{W: w, Title: "acptap probe", Total: (&Text{}).total(r)})
}

func write(r *Report, w interface {
	Section(*report.Section) error
	Close() error
}) error {
	for _, s := range r.sections() {
		if err := w.Section(s); err != nil {
			return err
		}
	}
	return w.Close()
}
