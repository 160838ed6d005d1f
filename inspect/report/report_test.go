package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/acptap/acptap/inspect/conform"
	check "github.com/acptap/acptap/inspect/conform/report"
	"github.com/acptap/acptap/inspect/report"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden are the tapes whose pages are compared.
var golden = []struct {
	name string
	tape string // below ../..
}{
	{"tool call", "testdata/tapes/acp-npm-sdk.jsonl"},
	{"idle", "inspect/screen/testdata/turns-idle.jsonl"},
	{"two sessions", "testdata/tapes/acp-v2.jsonl"},
	{"mcp", "testdata/tapes/mcp-everything.jsonl"},
	{"load", "inspect/screen/testdata/acp-npm-sdk-loaded.jsonl"},
	{"cancelled", "testdata/tapes/acpx-cancel.jsonl"},
	{"damaged", "testdata/tapes/acp-npm-sdk-again.jsonl"},
}

func TestGolden(t *testing.T) {
	for _, tt := range golden {
		t.Run(tt.name, func(t *testing.T) {
			in := input(t, "../../"+tt.tape)
			if tt.name == "damaged" {
				in.Tapes[0].Frames = damaged(in.Tapes[0].Frames)
				in.Tapes[0].Info.Lost = 4096
			}
			in.Tapes[0].Findings = map[uint64][]*check.Finding{3: {{Finding: conform.Finding{
				Rule: &conform.Rule{ID: "ACP999", Name: "a-rule"}, Strength: conform.Violation, Fault: conform.Agent,
				Evidence: conform.Evidence{Seq: 3, Text: "said <b>nothing</b>"},
			}}}}
			var b bytes.Buffer
			broken, err := report.Write(&b, in)
			if err != nil {
				t.Fatal(err)
			}
			if want := tt.name == "damaged"; want != (len(broken) > 0) {
				t.Errorf("got broken %v, want some: %v", broken, want)
			}
			checkPage(t, b.Bytes())
			checkGolden(t, strings.ReplaceAll(tt.name, " ", "-"), b.String())
		})
	}
}

// A page of a tape on which nobody says who he is tells no empty name.
func TestNobodyNamed(t *testing.T) {
	var b bytes.Buffer
	if _, err := report.Write(&b, report.Input{Tapes: []report.Tape{portable(t, hello, answer)}, Ref: "last"}); err != nil {
		t.Fatal(err)
	}
	if want := "<p><span>ACP v1</span><span>21 November 2026"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, document(b.String())[:2000])
	}
}

// checkGolden compares a page with the golden file of that name.
func checkGolden(t *testing.T, name, page string) {
	t.Helper()
	got := document(page)
	path := filepath.Join("testdata", "golden", name+".html")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the page differs from %s; -update rewrites it:\n%s", path, firstDifference(got, string(want)))
	}
}

// input returns what the page of a tape in a file is made of.
func input(t testing.TB, path string) report.Input {
	t.Helper()
	tape, err := record.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	info, err := tape.Info()
	if err != nil {
		t.Fatal(err)
	}
	return report.Input{Tapes: []report.Tape{{Info: info, Frames: tape.Redacted()}}, Ref: "last", Version: "1.2.3"}
}

// damaged yields frames without the third one.
func damaged(frames iter.Seq2[dialect.Frame, error]) iter.Seq2[dialect.Frame, error] {
	return func(yield func(dialect.Frame, error) bool) {
		for f, err := range frames {
			if f.Seq == 3 {
				f, err = dialect.Frame{}, errors.New("block 3 <is> damaged")
			}
			if !yield(f, err) {
				return
			}
		}
	}
}

// document returns a page without its style, script and packed frames, which have tests of
// their own.
func document(page string) string {
	var b strings.Builder
	for {
		i := strings.Index(page, "<style>")
		if j := strings.Index(page, "<script"); i < 0 || j >= 0 && j < i {
			i = j
		}
		if i < 0 {
			break
		}
		end := i + strings.Index(page[i:], "</s")
		b.WriteString(page[:i+strings.Index(page[i:], ">")+1])
		page = page[end:]
	}
	b.WriteString(page)
	text := b.String()
	const policy = `http-equiv="Content-Security-Policy" content="`
	i := strings.Index(text, policy) + len(policy)
	return text[:i] + text[i+strings.Index(text[i:], `"`):]
}

func firstDifference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d: got\n%s\nwant\n%s", i+1, a[i], b[i])
		}
	}
	return fmt.Sprintf("got %d lines, want %d", len(a), len(b))
}

// checkPage reports what must not be in a page, whatever was on the tape.
func checkPage(t testing.TB, page []byte) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	scripts := 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		if !allowed[n.Data] {
			t.Errorf("there is an element <%s>", n.Data)
		}
		if n.Data == "script" && len(n.Attr) == 0 {
			scripts++
			checkHash(t, page, "script-src", n)
		}
		if n.Data == "style" {
			checkHash(t, page, "style-src", n)
		}
		for _, a := range n.Attr {
			checkAttribute(t, n.Data, a, ids)
		}
	}
	if scripts != 1 {
		t.Errorf("got %d scripts, want 1", scripts)
	}
}

// allowed are the elements of a page.
var allowed = func() map[string]bool {
	all := map[string]bool{}
	for _, name := range strings.Fields(`html head meta title style body header strong nav a span button main div h1 h2 h3 p dl dt dd footer script svg defs
		pattern rect line section article figure figcaption i b g use text table thead tbody tr th td details summary ul ol li pre code img small label input select option
		aside kbd dialog output form colgroup col template noscript path polyline bdi`) {
		all[name] = true
	}
	return all
}()

func checkAttribute(t testing.TB, element string, a html.Attribute, ids map[string]bool) {
	t.Helper()
	switch {
	case strings.HasPrefix(a.Key, "on"), a.Key == "style":
		t.Errorf("<%s> has %s=%q", element, a.Key, a.Val)
	case a.Key == "href" && !strings.HasPrefix(a.Val, "#"):
		t.Errorf("<%s> leads to %q", element, a.Val)
	case a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/"):
		t.Errorf("<%s> loads %q", element, a.Val)
	case a.Key == "id" && ids[a.Val]:
		t.Errorf("there are two elements %q", a.Val)
	case a.Key == "id":
		ids[a.Val] = true
	}
	if a.Key == "class" || a.Key == "id" || a.Key == "href" {
		for _, c := range a.Val {
			if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.# ", c) {
				t.Errorf("<%s> has %s=%q", element, a.Key, a.Val)
				return
			}
		}
	}
}

// checkHash reports whether the policy allows the text of an element.
func checkHash(t testing.TB, page []byte, directive string, n *html.Node) {
	t.Helper()
	sum := sha256.Sum256([]byte(n.FirstChild.Data))
	policy := html.UnescapeString(string(page[:min(len(page), 2000)]))
	if want := directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
		t.Errorf("the policy does not have %s", want)
	}
}

// FuzzPage checks that any tape gives a page that parses and has nothing of the tape where
// it could do something.
func FuzzPage(f *testing.F) {
	for _, tt := range golden {
		text, err := os.ReadFile("../../" + tt.tape)
		if err != nil {
			f.Fatal(err)
		}
		head, lines, _ := strings.Cut(string(text), "\n")
		for some := range slices.Chunk(slices.Collect(strings.Lines(lines)), 8) { // a whole tape would make each execution slow
			if few := strings.Join(some, ""); len(few) < 4<<10 {
				f.Add([]byte(head + "\n" + few))
			}
		}
	}
	const other = `{"dir":"c2a","frame":{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}}` + "\n"
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 16<<10 {
			return
		}
		tape, err := record.ReadPortable(bytes.NewReader(text), "fuzz")
		if err != nil {
			return
		}
		info, err := tape.Info()
		if err != nil {
			return
		}
		var b bytes.Buffer
		in := report.Input{Tapes: []report.Tape{{Info: info, Frames: tape.Redacted()}}, Ref: "x"}
		if _, err := report.Write(&b, in); err != nil {
			t.Fatal(err)
		}
		checkPage(t, b.Bytes())
		b.Reset()
		beside, err := record.ReadPortable(strings.NewReader(other), "other")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := report.WriteDiff(&b, in, report.Input{Tapes: []report.Tape{{Frames: beside.Redacted()}}, Ref: "y"}); err != nil {
			t.Fatal(err)
		}
		checkPage(t, b.Bytes())
	})
}

// TestHostile checks that what looks like markup is text wherever it comes from.
func TestHostile(t *testing.T) {
	page := write(t, report.Input{Tapes: []report.Tape{hostile(t)}, Title: `"><script>alert(1)</script>`, Ref: `x"><img src=x onerror=alert(1)>`})
	checkPage(t, page)
}

// hostile returns a tape that has markup in each string.
func hostile(t testing.TB) report.Tape {
	t.Helper()
	text, err := os.ReadFile("../../testdata/tapes/acp-npm-sdk.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"pending", "completed", "in_progress", "edit", "read", "end_turn", "allow_once", "allow", "reject", "text"} {
		text = bytes.ReplaceAll(text, []byte(`":"`+word+`"`), []byte(`":"`+word+` class=bar \"><svg onload=alert(1)> `+"'"+`"`))
	}
	tape, err := record.ReadPortable(bytes.NewReader(text), "hostile")
	if err != nil {
		t.Fatal(err)
	}
	info, err := tape.Info()
	if err != nil {
		t.Fatal(err)
	}
	info.Start.Name = `<img src=x onerror=alert(1)>`
	return report.Tape{Info: info, Frames: tape.Frames(1)}
}
