package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"path"
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
	XMLName  xml.Name    `xml:"testsuites"`
	Tests    int         `xml:"tests,attr"`
	Failures int         `xml:"failures,attr"`
	Errors   int         `xml:"errors,attr"`
	Skipped  int         `xml:"skipped,attr"`
	Time     int         `xml:"time,attr"`
	Suites   []testsuite `xml:"testsuite"`
}

type testsuite struct {
	Name      string     `xml:"name,attr"`
	Tests     int        `xml:"tests,attr"`
	Failures  int        `xml:"failures,attr"`
	Errors    int        `xml:"errors,attr"`
	Skipped   int        `xml:"skipped,attr"`
	Time      int        `xml:"time,attr"`
	Timestamp string     `xml:"timestamp,attr,omitempty"`
	Cases     []testcase `xml:"testcase"`
}

type testcase struct {
	Class   string    `xml:"classname,attr"`
	Name    string    `xml:"name,attr"`
	File    string    `xml:"file,attr,omitempty"`
	Line    int       `xml:"line,attr,omitempty"`
	Time    int       `xml:"time,attr"`
	Failure *failure  `xml:"failure"`
	Skipped *struct{} `xml:"skipped"`
	Out     string    `xml:"system-out,omitempty"`
}

type failure struct {
	Type    string `xml:"type,attr"`
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// Section adds a section.
func (j *JUnit) Section(s *Section) error {
	for i, t := range s.Tapes {
		suite := testsuite{Name: t.suite()}
		if !t.Start.IsZero() {
			suite.Timestamp = t.Start.UTC().Format("2006-01-02T15:04:05")
		}
		for _, v := range t.Verdicts {
			suite.add(j.test(s, i, v))
		}
		all := &j.suites
		all.Tests += suite.Tests
		all.Failures += suite.Failures
		all.Skipped += suite.Skipped
		all.Suites = append(all.Suites, suite)
	}
	return nil
}

// suite names a tape: by its id or, if it has none, by its file.
func (t *Tape) suite() string {
	if t.ID != "" {
		return t.ID
	}
	return strings.TrimSuffix(path.Base(t.File), path.Ext(t.File))
}

func (u *testsuite) add(c testcase) {
	u.Tests++
	switch {
	case c.Failure != nil:
		u.Failures++
	case c.Skipped != nil:
		u.Skipped++
	}
	u.Cases = append(u.Cases, c)
}

// test returns a rule's result on a section's tape.
func (j *JUnit) test(s *Section, tape int, v conform.Verdict) testcase {
	t := s.Tapes[tape]
	c := testcase{Class: t.suite(), Name: v.Rule.ID + " " + v.Rule.Name, File: t.File}
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
		c.Skipped = &struct{}{}
	case len(list) == 0:
	case !fails:
		c.Out = texts(list, s.Frame)
	default:
		c.Failure = &failure{Type: worst.String(), Message: headline(list, s.Frame), Text: texts(list, s.Frame)}
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
