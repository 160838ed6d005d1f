package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/lazyregexp"
	"github.com/acptap/acptap/record/termtext"
)

// JobSummary writes findings as Markdown, for the summary page of a job of GitHub Actions,
// GitLab or Forgejo: a row for each tape, and the worst findings.
type JobSummary struct {
	W      io.Writer
	FailOn FailOn // findings that make a check fail are marked

	sections []*Section
}

// summarized is the number of findings in a summary.
const summarized = 20

// Section adds a section.
func (j *JobSummary) Section(s *Section) error {
	j.sections = append(j.sections, s)
	return nil
}

// Close writes the page.
func (j *JobSummary) Close() error {
	w := bufio.NewWriter(j.W)
	var all Tally
	tapes := 0
	found := worstFirst(j.sections)
	for _, f := range found {
		all[f.Strength]++
	}
	for _, s := range j.sections {
		tapes += len(s.Tapes)
	}
	fmt.Fprintf(w, "### acptap check: %s on %s\n\n", &all, termtext.Counted(tapes, "tape"))
	fmt.Fprint(w, "| | tape | how it ended | findings |\n| --- | --- | --- | --- |\n")
	for _, s := range j.sections {
		for i, t := range s.Tapes {
			j.row(w, s, i, t)
		}
	}
	for i, f := range found {
		if i == 0 {
			fmt.Fprintln(w)
		}
		if i == summarized {
			fmt.Fprintf(w, "\nand %s\n", termtext.Counted(len(found)-i, "more finding"))
			break
		}
		shared := f.Shared()
		fmt.Fprintf(w, "- %s **%s %s** in %s: %s %s\n", Sign(f.Strength), f.Rule.ID, f.Rule.Name,
			markdown(f.section.Tapes[f.Tape].File), markdown(sentence(f.section, shared)), link(f.Clause))
	}
	return w.Flush()
}

// row writes the row of a tape.
func (j *JobSummary) row(w io.Writer, s *Section, tape int, t *Tape) {
	var count Tally
	fails := false
	for i := range s.Findings {
		f := &s.Findings[i]
		if f.Tape == tape && !f.Known {
			count[f.Strength]++
			fails = fails || j.FailOn.Fails(&f.Finding)
		}
	}
	sign := "✓"
	if fails {
		sign = "✗"
	}
	fmt.Fprintf(w, "| %s | %s | %s | %s |\n", sign, markdown(t.File), markdown(cmp.Or(t.Outcome.Brief(), "done")), &count)
}

// link returns a link to the source text of a clause.
func link(c *conform.Clause) string {
	if c == nil || c.Source.URL == "" {
		return ""
	}
	return fmt.Sprintf("([%s](%s))", markdown(c.Source.Title), c.Source.URL)
}

// signs matches the characters that have a meaning in Markdown or HTML.
var signs = lazyregexp.New("[\\\\`*_{}\\[\\]<>&#|~@]")

// markdown returns text as one line of Markdown that shows the text unchanged.
func markdown(text string) string { return signs().ReplaceAllString(termtext.Line(text), `\$0`) }
