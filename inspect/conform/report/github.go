package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/record/termtext"
)

// GitHub writes findings as annotations for a GitHub Actions step, which shows ten of
// each level.
type GitHub struct {
	W     io.Writer
	Title string // of the totals; empty: acptap check
	Total string // what the totals say; empty: counts of findings and tapes

	sections []*Section
}

// annotations is the number per level that GitHub shows for a step.
const annotations = 10

// Section adds a section.
func (g *GitHub) Section(s *Section) error {
	g.sections = append(g.sections, s)
	return nil
}

// Close writes the worst findings of each level, and the totals.
func (g *GitHub) Close() error {
	left := map[string]int{
		looks[conform.Violation].level: annotations, looks[conform.Warning].level: annotations,
		looks[conform.Note].level: annotations - 1, // the totals need one
	}
	var count Tally
	for _, found := range worstFirst(g.sections) {
		f := found.Finding
		count[f.Strength]++
		level := looks[f.Strength].level
		if left[level]--; left[level] < 0 {
			continue
		}
		if err := g.annotate(found.section, f); err != nil {
			return err
		}
	}
	tapes := 0
	for _, s := range g.sections {
		tapes += len(s.Tapes)
	}
	total := cmp.Or(g.Total, fmt.Sprintf("%s on %s", &count, termtext.Counted(tapes, "tape")))
	_, err := fmt.Fprintf(g.W, "::notice title=%s::%s\n", property(cmp.Or(g.Title, "acptap check")), message(total))
	return err
}

func (g *GitHub) annotate(s *Section, f *Finding) error {
	t := s.Tapes[f.Tape]
	command := "notice"
	if f.Strength >= conform.Warning {
		command = looks[f.Strength].level
	}
	shared := f.Shared()
	_, err := fmt.Fprintf(g.W, "::%s file=%s,line=%d,title=%s::%s\n", command,
		property(t.File), max(f.Line, 1), property(strings.TrimSpace(f.Rule.ID+" "+f.Rule.Name)), message(sentence(s, shared)+" "+plain(f.Rule.Text.Asks)))
	return err
}

// sentence says who did what, and where.
func sentence(s *Section, f *conform.Finding) string {
	var words []string
	if f.Fault != conform.Sender {
		words = append(words, "by the "+f.Fault.String())
	}
	if name := s.Frame(f); name != "" {
		words = append(words, "in frame "+name)
	}
	said := strings.TrimSuffix(Said(f), ".") + "."
	if len(words) == 0 {
		return said
	}
	where := strings.Join(words, " ")
	return strings.ToUpper(where[:1]) + where[1:] + ": " + said
}

// message escapes the text of a GitHub Actions command, which must be a single line.
func message(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(termtext.Line(text))
}

// property escapes the value of a command's property.
func property(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}
