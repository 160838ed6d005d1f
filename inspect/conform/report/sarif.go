package report

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy/lazyregexp"
)

// SARIF writes findings in the Static Analysis Results Interchange Format, version 2.1.0,
// as GitHub's code scanning reads it: one run, rules with all texts that GitHub shows,
// and results with one location each.
type SARIF struct {
	W       io.Writer
	Version string // of acptap
	Rules   []*conform.Rule

	sections []*Section
}

// maxResults is the number of results that GitHub shows per upload. It accepts 25,000.
const maxResults = 5000

// The URLs of acptap and of the log's schema.
const (
	home        = "https://github.com/acptap/acptap"
	sarifSchema = "https://json.schemastore.org/sarif-2.1.0.json"
)

// Section adds a section.
func (s *SARIF) Section(section *Section) error {
	s.sections = append(s.sections, section)
	return nil
}

// Close writes the log.
func (s *SARIF) Close() error {
	index := map[*conform.Rule]int{}
	driver := sarifDriver{Name: "acptap", Version: semantic(s.Version), URI: home, Rules: []sarifRule{}}
	for _, r := range s.Rules {
		index[r] = len(driver.Rules)
		driver.Rules = append(driver.Rules, ruleOf(r))
	}
	results := []sarifResult{}
	for _, found := range worstFirst(s.sections) {
		i, ok := index[found.Rule]
		if !ok || len(results) == maxResults {
			continue
		}
		results = append(results, resultOf(found, i))
	}
	enc := json.NewEncoder(s.W)
	enc.SetIndent("", " ")
	return enc.Encode(sarifLog{
		Schema: sarifSchema, Version: "2.1.0",
		Runs: []sarifRun{{Tool: sarifTool{driver}, Results: results, ColumnKind: "utf16CodeUnits"}},
	})
}

var semver = lazyregexp.New(`^\d+\.\d+\.\d+([-+].*)?$`)

// semantic returns a version in semantic versioning syntax.
func semantic(version string) string {
	if version = strings.TrimPrefix(version, "v"); semver().MatchString(version) {
		return version
	}
	return "0.0.0"
}

func ruleOf(r *conform.Rule) sarifRule {
	look := looks[r.Strength()]
	asks, finds, do := plain(r.Text.Asks), plain(r.Text.Finds), plain(r.Text.Do)
	links, text := "", ""
	for i := range r.Clauses {
		c := &r.Clauses[i]
		if c.Source.URL == "" {
			continue
		}
		links += fmt.Sprintf("\n- %s in %s: [%s](%s)", c.Strength, scope(r, c), c.Source.Title, c.Source.URL)
		text += "\n" + sourceLine(c)
	}
	return sarifRule{
		ID: r.ID, Name: r.Name,
		Short: sarifText{Text: finds}, Full: sarifText{Text: asks},
		Help: sarifText{
			Text:     asks + "\nFound: " + finds + "\nTo do: " + do + "." + text,
			Markdown: r.Text.Asks + "\n\nFound: " + r.Text.Finds + "\n\nTo do: " + r.Text.Do + ".\n" + links,
		},
		HelpURI:    URL(r),
		Default:    sarifConfiguration{look.level},
		Properties: sarifProperties{Tags: tags(r), Precision: look.precision, Severity: look.severity},
	}
}

// tags returns words that GitHub users can filter by.
func tags(r *conform.Rule) []string {
	list := []string{"protocol", strings.ToLower(protocols[r.Protocol()])}
	if isCase(r) {
		list[1] = "probe"
	}
	if r.About != "" {
		list = append(list, r.About)
	}
	if len(r.Hurts) > 0 || isCase(r) && r.Strength() == conform.Hurts {
		list = append(list, "interop")
	}
	return list
}

func resultOf(found located, index int) sarifResult {
	f, t := found.Finding, found.section.Tapes[found.Tape]
	result := sarifResult{
		RuleID: f.Rule.ID, RuleIndex: index, Level: looks[f.Strength].level,
		Message:      sarifText{Text: sentence(found.section, f.Shared()) + " " + plain(f.Rule.Text.Asks)},
		Locations:    []sarifLocation{locationOf(t, f.Line)},
		Fingerprints: sarifFingerprints{f.Key},
	}
	for i, seq := range f.Because {
		l := locationOf(t, f.BecauseLines[i])
		l.ID, l.Message = i+1, &sarifText{Text: fmt.Sprintf("frame %d", seq)}
		result.Related = append(result.Related, l)
	}
	return result
}

func locationOf(t *Tape, line int) sarifLocation {
	line = max(line, 1)
	return sarifLocation{Physical: sarifPhysical{
		Artifact: sarifArtifact{uri(t.File)},
		Region:   sarifRegion{StartLine: line, StartColumn: 1, EndLine: line, EndColumn: 2},
	}}
}

// uri returns a path with slashes as a URI reference. A relative path stays relative:
// GitHub refuses URIs with schemes other than its own.
func uri(path string) string {
	u := url.URL{Path: path}
	if strings.HasPrefix(path, "/") {
		u.Scheme = "file"
	}
	return u.String()
}
