package conform_test

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
)

// TestRulesPage: the page of the rules is that of the rules that there are, and each has
// the anchor that its address names.
func TestRulesPage(t *testing.T) {
	var b bytes.Buffer
	if err := report.WriteMarkdown(&b, conform.Rules()); err != nil {
		t.Fatal(err)
	}
	const file = "RULES.md"
	if *update {
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(page, b.Bytes()) {
		t.Error("RULES.md is not that of the rules: go test ./inspect/conform -update")
	}
	for _, r := range conform.Rules() {
		page, anchor, _ := strings.Cut(report.URL(r), "#")
		if page != report.RulesURL || !anchors(b.String())[anchor] {
			t.Errorf("%s: the page has no anchor %q", r.ID, anchor)
		}
	}
}

// anchors returns the anchors that GitHub makes of the headings of a page: in small
// letters, without what is neither letter, digit, hyphen nor blank, which becomes a
// hyphen.
func anchors(page string) map[string]bool {
	all := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(page, -1) {
		name := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		all[strings.ReplaceAll(name, " ", "-")] = true
	}
	return all
}
