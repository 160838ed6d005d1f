package portable

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/testdata/memtest"
)

// sampleForms are the forms of the files in testdata.
var sampleForms = map[string]string{
	"acp-debug.jsonl":            "logger",
	"acp-devtools-log.jsonl":     "logger",
	"acp-devtools-one-line.json": "acp-devtools, export",
	"acp-devtools.json":          "acp-devtools, export",
	"acp.el.log":                 "acp.el, log",
	"acp.el.traffic":             "acp.el, traffic",
	"acpx-0.1.stream.ndjson":     "acpx, messages",
	"acpx-index.json":            "acpx, index",
	"acpx.stream.ndjson":         "acpx, messages",
	"claude-desktop-mcp.log":     "claude desktop",
	"claude-desktop.log":         "claude desktop",
	"conductor-agent.jsons":      "conductor, trace",
	"conductor-debug.log":        "conductor, debug log",
	"conductor.jsons":            "conductor, trace",
	"jetbrains.log":              "jetbrains",
	"mcpsnoop.jsonl":             "logger",
	"no-header.jsonl":            "portable",
	"other-spellings.jsonl":      "logger",
	"portable.jsonl":             "portable",
	"relative-times.jsonl":       "logger",
	"zed.json":                   "zed",
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

// TestQuotedForms: a message that quotes another log does not change the form.
func TestQuotedForms(t *testing.T) {
	const quoted = "\n2026-02-02T15:40:53.000Z [srv] [info] Initializing server...\n" +
		"2025-12-17 11:26:25,895 [  12469]   FINE - AcpTransport - OUT: {}\nOUTGOING TEXT >\n"
	for begin, want := range map[string]string{
		"(((:direction . outgoing) (:object (a . \"": "acp.el, traffic",
		conductorTitle:                                           "conductor, debug log",
		`[{"_direction":"outgoing","params":"`:                   "zed",
		`{"jsonrpc":"2.0","method":"a"}`:                         "acpx, messages",
		`{"ts":1,"dir":"c2a","msg":{}}`:                          "logger",
		`{"type":"request","ts":1,"from":"Client","to":"Agent"}`: "conductor, trace",
		"INCOMING LINE >":                                        "acp.el, log",
	} {
		if got := formOf([]byte(begin + quoted)).name; got != want {
			t.Errorf("%s: taken for %s", want, got)
		}
	}
}

func sample(f *testing.F, name string) string {
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		f.Fatal(err)
	}
	return string(text)
}

// fuzzForm reads any text as if it had a form: that ends, needs memory by the length of
// the text only, and gives lines that a tape can have.
func fuzzForm(f *testing.F, read func(*file) error, samples ...string) {
	for _, name := range samples {
		f.Add(sample(f, name))
	}
	f.Fuzz(func(t *testing.T, text string) {
		memtest.Bound(t, func() {
			begun, lines := 0, 0
			var last time.Duration
			var enough error
			input := func() *file {
				return &file{
					in: bufio.NewReaderSize(strings.NewReader(text), beginning), name: "file", tell: func(string) {},
					begin: func(Head) { begun++ },
					line: func(l Line) error {
						lines++
						if begun != 1 || l.Dir >= wire.Directions || l.At < last || len(l.Raw) > 0 && l.Mark != nil {
							t.Errorf("line %d: %d beginnings, %+v after %v", lines, begun, l, last)
						}
						last = l.At
						return enough
					},
				}
			}
			if err := read(input()); err != nil || lines == 0 {
				return
			}
			begun, last, enough = 0, 0, errors.New("enough")
			if err := read(input()); !errors.Is(err, enough) {
				t.Errorf("got %v, want the error of the one who takes lines", err)
			}
		})
	})
}

func FuzzClaudeDesktop(f *testing.F) {
	fuzzForm(f, readClaudeDesktop, "claude-desktop.log", "claude-desktop-mcp.log")
}

func FuzzJetBrains(f *testing.F) { fuzzForm(f, readJetBrains, "jetbrains.log") }

func FuzzZed(f *testing.F) { fuzzForm(f, readZed, "zed.json") }

func FuzzMessages(f *testing.F) {
	fuzzForm(f, readMessages, "acpx.stream.ndjson", "acpx-0.1.stream.ndjson")
}

func FuzzTrace(f *testing.F) { fuzzForm(f, readTrace, "conductor.jsons", "conductor-agent.jsons") }

func FuzzConductorLog(f *testing.F) { fuzzForm(f, readConductorLog, "conductor-debug.log") }

func FuzzEmacsTraffic(f *testing.F) { fuzzForm(f, readEmacsTraffic, "acp.el.traffic") }

func FuzzEmacsLog(f *testing.F) { fuzzForm(f, readEmacsLog, "acp.el.log") }

// FuzzElisp reads any list: its elements are JSON as long as no label stands where Emacs
// prints none.
func FuzzElisp(f *testing.F) {
	f.Add(sample(f, "acp.el.traffic"))
	f.Add(`((a . #s(hash-table data ("k" 1))) (:b [1 nil t]) ("c" . #("d" 0 1 (e f))) (f :g "\\x41\\101\\n\\ "))`)
	f.Fuzz(func(t *testing.T, text string) {
		e := elisp{in: bufio.NewReader(strings.NewReader(text))}
		e.open()
		for {
			element, more, err := e.element()
			if err != nil || !more {
				return
			}
			if !json.Valid(element) && len(e.labels) == 0 {
				t.Errorf("%q is no JSON", element)
			}
		}
	})
}
