package help

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/acptap/acptap/record/termtext"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Every file is a topic, begins with its title, and fits into 80 columns.
func TestTopics(t *testing.T) {
	entries, err := files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, strings.TrimSuffix(e.Name(), ".md"))
	}
	if want := slices.Sorted(slices.Values(names)); !slices.Equal(found, want) {
		t.Errorf("files of topics %q, names %q", found, want)
	}
	for _, topic := range Topics() {
		if !strings.HasPrefix(topic.Markdown, "# ") {
			t.Errorf("%s does not begin with its title", topic.Name)
		}
		for line := range strings.Lines(topic.Text(Width, false)) {
			if n := termtext.Width(strings.TrimSuffix(line, "\n")); n > Width {
				t.Errorf("%s: %d columns: %q", topic.Name, n, line)
			}
		}
	}
}

// Links lead to a topic or to the web.
func TestLinks(t *testing.T) {
	links := 0
	for _, topic := range Topics() {
		for _, b := range parse(topic.Markdown) {
			for _, s := range slices.Concat(b.spans, spans(strings.Join(slices.Concat(b.rows...), " "))) {
				if s.style != link || strings.HasPrefix(s.target, "https://") {
					continue
				}
				links++
				if name, ok := strings.CutSuffix(s.target, ".md"); !ok || !slices.Contains(names, name) {
					t.Errorf("%s: no topic %s", topic.Name, s.target)
				}
			}
		}
	}
	if links < 5 {
		t.Errorf("only %d links found", links)
	}
}

// The topic about spans lists all names in spans, except those of OpenTelemetry.
func TestSpans(t *testing.T) {
	paths, err := filepath.Glob("../../../record/trace/spans/testdata/*.golden")
	if err != nil || len(paths) == 0 {
		t.Fatal(err)
	}
	topic, _ := Find("spans")
	for _, path := range paths {
		golden, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`"Name":"((?:acp|acptap)\.[a-z_.]+|first_output)"`).FindAllSubmatch(golden, -1) {
			if !strings.Contains(topic.Markdown, "`"+string(name[1])+"`") {
				t.Errorf("%s is not there", name[1])
			}
		}
	}
}

// testdata/forms.txtar has a text with all of the Markdown that there is, and what
// becomes of it.
func TestForms(t *testing.T) {
	const path = "testdata/forms.txtar"
	a, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	topic := Topic{Name: "forms", Title: "All *forms*", Markdown: string(a.Files[0].Data)}
	got := map[string]string{
		"wide":   topic.Text(60, false),
		"narrow": topic.Text(32, false),
		"bold":   strings.ReplaceAll(topic.Text(60, true), "\x1b", "ESC"),
		"man":    topic.page(),
	}
	for i, f := range a.Files[1:] {
		if *update {
			a.Files[i+1].Data = []byte(got[f.Name])
		} else if d := cmp.Diff(string(f.Data), got[f.Name]); d != "" {
			t.Errorf("%s: want (-) and got (+) differ:\n%s", f.Name, d)
		}
		delete(got, f.Name)
	}
	if len(got) > 0 {
		t.Errorf("not in the file: %q", got)
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// groff has nothing to say against a page.
func TestManPages(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("no groff")
	}
	for _, topic := range Topics() {
		checkPage(t, groff, topic.Name, topic.page())
	}
}

func checkPage(t *testing.T, groff, name, page string) {
	t.Helper()
	cmd := exec.Command(groff, "-man", "-Kutf8", "-Tutf8", "-ww", "-b", "-z")
	cmd.Stdin = strings.NewReader(page)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil || out.Len() > 0 {
		t.Errorf("%s: %v\n%s", filepath.Base(name), err, out.String())
	}
}
