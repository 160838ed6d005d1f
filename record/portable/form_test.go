package portable

import (
	"os"
	"path/filepath"
	"testing"
)

// sampleForms are the forms of the files in testdata.
var sampleForms = map[string]string{
	"acp-debug.jsonl":            "logger",
	"acp-devtools-log.jsonl":     "logger",
	"acp-devtools-one-line.json": "acp-devtools, export",
	"acp-devtools.json":          "acp-devtools, export",
	"mcpsnoop.jsonl":             "logger",
	"no-header.jsonl":            "portable",
	"other-spellings.jsonl":      "logger",
	"portable.jsonl":             "portable",
	"relative-times.jsonl":       "logger",
}

// TestForms gives every sample to every form: exactly one takes it.
func TestForms(t *testing.T) {
	samples, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{"portable": true}
	for _, sample := range samples {
		if sample.IsDir() {
			continue // fuzz
		}
		text, err := os.ReadFile(filepath.Join("testdata", sample.Name()))
		if err != nil {
			t.Fatal(err)
		}
		head := text[:min(len(text), beginning)]
		want := sampleForms[sample.Name()]
		seen[want] = true
		if got := formOf(head).name; got != want {
			t.Errorf("%s: taken for %s, want %s", sample.Name(), got, want)
		}
		for _, f := range forms {
			if f.is(head) && f.name != want {
				t.Errorf("%s: could also be taken for %s", sample.Name(), f.name)
			}
		}
	}
	for _, f := range forms {
		if !seen[f.name] {
			t.Errorf("%s: no sample", f.name)
		}
	}
}
