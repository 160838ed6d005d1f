package report_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/report"
)

// hostileSections are findings that say what no form must take as it is, and as much of
// it as a frame may have.
func hostileSections() []*report.Section {
	var all []*report.Section
	for _, text := range []string{"\x00\x01\x1f\ufffe\uffff\xff\xc3", "]]>", "<![CDATA[", "&amp;<x/>", "::error::x", "\n::error::x\r::set-output name=a::b", strings.Repeat("]]>\x00\n", 1<<18)} {
		s := sections()[0]
		s.Findings = []report.Finding{found(relative, 0, 1, conform.Evidence{Text: text, Path: text, Want: text, Got: text}, text)}
		all = append(all, s)
	}
	return all
}

// TestJUnitIsXML: whatever is in the traffic, the document is valid XML 1.0, and its counts
// match its elements.
func TestJUnitIsXML(t *testing.T) {
	text := write(t, "junit", hostileSections())
	dec := xml.NewDecoder(strings.NewReader(text))
	dec.Strict = true
	count := map[string]int{}
	var numbers string
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
			if e.Name.Local == "testsuites" {
				for _, a := range e.Attr {
					numbers += a.Name.Local + "=" + a.Value + " "
				}
			}
			if e.Name.Local == "skipped" && len(e.Attr) > 0 {
				t.Errorf("skipped has %v", e.Attr)
			}
		}
	}
	want := fmt.Sprintf("tests=%d failures=%d errors=0 skipped=%d time=0 ", count["testcase"], count["failure"], count["skipped"])
	if numbers != want || count["failure"] != len(hostileSections()) {
		t.Errorf("got %s, want %s, and %d failures", numbers, want, len(hostileSections()))
	}
}

// TestJUnitNumber: the number of tests does not depend on the findings.
func TestJUnitNumber(t *testing.T) {
	clean := sections()
	for _, s := range clean {
		s.Findings = nil
	}
	number := regexp.MustCompile(`<testsuites tests="\d+"`)
	got, want := number.FindString(write(t, "junit", sections())), number.FindString(write(t, "junit", clean))
	if got != want || got == "" {
		t.Errorf("got %s, without findings %s", got, want)
	}
}

// TestGitHubCommands: nothing in the traffic is a command of its own.
func TestGitHubCommands(t *testing.T) {
	ours := regexp.MustCompile(`^::(error|warning|notice) (file=[^:,\r\n]*,line=[1-9][0-9]*,)?title=[^:,\r\n]*::[^\r\n]*\n$`)
	count := map[string]int{}
	for line := range strings.Lines(write(t, "github", append(hostileSections(), sections()...))) {
		m := ours.FindStringSubmatch(line)
		if m == nil {
			t.Errorf("got %.200q", line)
			continue
		}
		count[m[1]]++
	}
	if count["error"] != 10 || count["warning"] != 1 || count["notice"] != 2 {
		t.Errorf("got %v", count)
	}
}

// TestSARIFForGitHub: all is there that GitHub requires of an upload, and nothing is
// empty ("SARIF support for code scanning").
func TestSARIFForGitHub(t *testing.T) {
	var many []*report.Section
	for range 20 {
		s := sections()[0]
		for len(s.Findings) < 400 {
			s.Findings = append(s.Findings, s.Findings...)
		}
		many = append(many, s)
	}
	text := write(t, "sarif", append(append(many, hostileSections()...), sections()...))
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name, SemanticVersion, InformationURI string
					Rules                                 []map[string]any
				}
			}
			Results []map[string]any
		}
	}
	if err := json.Unmarshal([]byte(text), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || log.Schema == "" || len(log.Runs) != 1 {
		t.Fatalf("version %q, schema %q, %d runs", log.Version, log.Schema, len(log.Runs))
	}
	run := log.Runs[0]
	driver := run.Tool.Driver
	if driver.Name == "" || driver.SemanticVersion != "1.2.3" || driver.InformationURI == "" || len(driver.Rules) != 6 {
		t.Errorf("the driver is %s %s %s with %d rules", driver.Name, driver.SemanticVersion, driver.InformationURI, len(driver.Rules))
	}
	for _, rule := range driver.Rules {
		for _, path := range []string{
			"id", "name", "shortDescription.text", "fullDescription.text", "help.text", "help.markdown", "helpUri",
			"defaultConfiguration.level", "properties.tags", "properties.precision", "properties.problem.severity",
		} {
			if isEmpty(at(rule, path)) {
				t.Errorf("%v has no %s", rule["id"], path)
			}
		}
		if tags := at(rule, "properties.tags").([]any); len(tags) > 10 {
			t.Errorf("%v has the tags %v", rule["id"], tags)
		}
	}
	if n := len(run.Results); n != 5000 {
		t.Errorf("%d results, want 5000", n)
	}
	for i, result := range run.Results {
		for _, path := range []string{"ruleId", "ruleIndex", "level", "message.text", "partialFingerprints.primaryLocationLineHash"} {
			if isEmpty(at(result, path)) {
				t.Fatalf("result %d has no %s", i, path)
			}
		}
		if rule := driver.Rules[int(result["ruleIndex"].(float64))]; rule["id"] != result["ruleId"] {
			t.Fatalf("result %d is of %v, and its index of %v", i, result["ruleId"], rule["id"])
		}
		locations := result["locations"].([]any)
		if len(locations) != 1 {
			t.Fatalf("result %d has %d locations", i, len(locations))
		}
		for _, path := range []string{"artifactLocation.uri", "region.startLine", "region.startColumn", "region.endLine", "region.endColumn"} {
			if isEmpty(at(locations[0], "physicalLocation."+path)) {
				t.Fatalf("result %d has no %s", i, path)
			}
		}
	}
	if level := run.Results[0]["level"]; level != "error" {
		t.Errorf("the first result is of level %v", level)
	}
}

// at returns the value at a path; the last name may have a dot in it.
func at(value any, path string) any {
	for path != "" {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		if v, ok := object[path]; ok {
			return v
		}
		var name string
		name, path, _ = strings.Cut(path, ".")
		value = object[name]
	}
	return value
}

func isEmpty(value any) bool {
	list, _ := value.([]any)
	return value == nil || value == "" || value == "0" || list != nil && len(list) == 0
}

// TestURI: a path is a relative reference, whatever is in it.
func TestURI(t *testing.T) {
	text := write(t, "sarif", sections())
	for _, want := range []string{`"uri": "20260102T150405000-aaaaa1.jsonl"`, `"uri": "../dir/a%20b%25.jsonl"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
}
