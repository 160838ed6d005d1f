package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"path"
	"strconv"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
)

// JUnit writes findings as test results, with the elements and attributes that Jenkins,
// GitLab, Azure and GitHub's actions all read; there is no standard. Each rule is a test,
// so the number of tests is constant. GitLab shows neither a failure's message nor a
// suite's name, so the text has everything, and the class is the tape.
type JUnit struct {
	W      io.Writer
	FailOn FailOn // the findings that fail a test

	suites testsuites
}

type testsuites struct {
	XMLName  xml.Name `xml:"testsuites"`
	Tests    int      `xml:"tests,attr"`
	Failures int      `xml:"failures,attr"`
	Errors   int      `xml:"errors,attr"`
	Skipped  int      `xml:"skipped,attr"`
	Time     Seconds  `xml:"time,attr"`
	Suites   []Suite  `xml:"testsuite"`
}

// A Suite holds the tests of one tape, or of one probe.
type Suite struct {
	Name      string  `xml:"name,attr"`
	Tests     int     `xml:"tests,attr"`
	Failures  int     `xml:"failures,attr"`
	Errors    int     `xml:"errors,attr"`
	Skipped   int     `xml:"skipped,attr"`
	Time      Seconds `xml:"time,attr"`
	Timestamp string  `xml:"timestamp,attr,omitempty"`
	Cases     []Test  `xml:"testcase"`
}

// A Test is a test's result.
type Test struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	File    string   `xml:"file,attr,omitempty"`
	Line    int      `xml:"line,attr,omitempty"`
	Time    Seconds  `xml:"time,attr"`
	Failure *Failure `xml:"failure"`
	Error   *Failure `xml:"error"`
	Skipped *Skipped `xml:"skipped"`
	Out     string   `xml:"system-out,omitempty"`
}

// A Failure says why a test failed, or could not be made.
type Failure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// A Skipped says why a test was not made.
type Skipped struct {
	Why string `xml:"message,attr,omitempty"`
}

// Seconds are written with as few digits as they need.
type Seconds float64

// MarshalText writes the number.
func (s Seconds) MarshalText() ([]byte, error) {
	return strconv.AppendFloat(nil, math.Round(float64(s)*1000)/1000, 'f', -1, 64), nil
}

// Section adds a section.
func (j *JUnit) Section(s *Section) error {
	for i, t := range s.Tapes {
		suite := Suite{Name: t.suite()}
		if !t.Start.IsZero() {
			suite.Timestamp = t.Start.UTC().Format("2006-01-02T15:04:05")
		}
		for _, v := range t.Verdicts {
			suite.Add(j.test(s, i, v))
		}
		j.Suite(suite)
	}
	return nil
}

// Suite adds a suite.
func (j *JUnit) Suite(s Suite) {
	all := &j.suites
	all.Tests += s.Tests
	all.Failures += s.Failures
	all.Errors += s.Errors
	all.Skipped += s.Skipped
	all.Time += s.Time
	all.Suites = append(all.Suites, s)
}

// suite names a tape: by its id or, if it has none, by its file.
func (t *Tape) suite() string {
	if t.ID != "" {
		return t.ID
	}
	return strings.TrimSuffix(path.Base(t.File), path.Ext(t.File))
}

// Add adds a test.
func (u *Suite) Add(c Test) {
	u.Tests++
	u.Time += c.Time
	switch {
	case c.Failure != nil:
		u.Failures++
	case c.Error != nil:
		u.Errors++
	case c.Skipped != nil:
		u.Skipped++
	}
	u.Cases = append(u.Cases, c)
}

// test returns a rule's result on a section's tape.
func (j *JUnit) test(s *Section, tape int, v conform.Verdict) Test {
	t := s.Tapes[tape]
	c := Test{Class: t.suite(), Name: v.Rule.ID + " " + v.Rule.Name, File: t.File}
	var list []*conform.Finding
	worst, fails := conform.None, false
	for i := range s.Findings {
		f := &s.Findings[i]
		if f.Known || f.Tape != tape || f.Rule != v.Rule {
			continue
		}
		if len(list) == 0 {
			c.Line = f.Line
		}
		list = append(list, f.Shared())
		worst, fails = max(worst, f.Strength), fails || j.FailOn.Fails(&f.Finding)
	}
	switch {
	case len(list) == 0 && !v.Tried:
		c.Skipped = &Skipped{}
	case len(list) == 0:
	case !fails:
		c.Out = texts(list, s.Frame)
	default:
		c.Failure = &Failure{Type: worst.String(), Message: headline(list, s.Frame), Text: texts(list, s.Frame)}
	}
	return c
}

// texts returns the groups of findings with all their frames.
func texts(list []*conform.Finding, frame func(*conform.Finding) string) string {
	var b strings.Builder
	groups := Groups(list)
	for i := range groups {
		(&Text{full: len(list)}).whole(&b, &groups[i], frame)
	}
	return b.String()
}

// headline describes the first of the findings in one line.
func headline(list []*conform.Finding, frame func(*conform.Finding) string) string {
	f := list[0]
	var words []string
	if f.Fault != conform.Sender {
		words = append(words, f.Fault.String())
	}
	if name := frame(f); name != "" {
		words = append(words, "frame "+name)
	}
	line := Said(f)
	if len(words) > 0 {
		line = strings.Join(words, ", ") + ": " + line
	}
	if n := len(list) - 1; n > 0 {
		line += fmt.Sprintf(" (and %d more)", n)
	}
	return line
}

// Close writes the document.
func (j *JUnit) Close() error {
	if _, err := io.WriteString(j.W, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(j.W)
	enc.Indent("", "  ")
	if err := enc.Encode(j.suites); err != nil {
		return err
	}
	_, err := io.WriteString(j.W, "\n")
	return err
}
