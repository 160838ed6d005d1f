package check

import (
	"slices"
	"strings"
	"testing"

	"github.com/acptap/acptap/inspect/conform"
)

var rule = &conform.Rule{ID: "ACP405", Name: "relative-path"}

func finding(change func(f *conform.Finding)) *conform.Finding {
	f := &conform.Finding{Rule: rule, Fault: conform.Agent, Session: "sess_abcdef", Method: "session/update", Update: "tool_call"}
	f.Text, f.Path, f.Got = "named a relative path", "locations[3].path", `"src/main.go"`
	change(f)
	return f
}

// The same fault has the same key, however the run went; another one has another.
func TestKey(t *testing.T) {
	key := faultKey(finding(func(*conform.Finding) {}))
	for name, change := range map[string]func(*conform.Finding){
		"another frame":   func(f *conform.Finding) { f.Seq, f.At, f.Because = 7, 9, []uint64{3} },
		"another entry":   func(f *conform.Finding) { f.Path = "locations[12].path" },
		"another file":    func(f *conform.Finding) { f.Got = `"lib/util.rs"` },
		"another text":    func(f *conform.Finding) { f.Text = "named a relative path again" },
		"another session": func(f *conform.Finding) { f.Session = "other" },
	} {
		if got := faultKey(finding(change)); got != key {
			t.Errorf("%s: got another key", name)
		}
	}
	for name, change := range map[string]func(*conform.Finding){
		"another rule":    func(f *conform.Finding) { f.Rule = &conform.Rule{ID: "ACP406"} },
		"another side":    func(f *conform.Finding) { f.Fault = conform.Client },
		"another variant": func(f *conform.Finding) { f.Update = "tool_call_update" },
		"another method":  func(f *conform.Finding) { f.Update, f.Method = "", "fs/read_text_file" },
		"another path":    func(f *conform.Finding) { f.Path = "content[0].path" },
		"another value":   func(f *conform.Finding) { f.Got = "null" },
	} {
		if got := faultKey(finding(change)); got == key {
			t.Errorf("%s: got the same key", name)
		}
	}
}

// Details that differ between runs do not count.
func TestAbout(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"answered end_turn, 9 ms after session/cancel (frame 58)", "answered end_turn, 0 s after session/cancel (frame 0)"},
		{"silent for 1m30s, after 2h0m5s and 1.25 s", "silent for 0 s, after 0 s and 0 s"},
		{"has keys that the schema of " + conform.Date + " does not have, 3 of them", "has keys that the schema of " + conform.Date + " does not have, 0 of them"},
		{`used call_00_aB3dE of /home/me/x.go at 2026-01-02T15:04:05Z`, `used 0 of / at 0:0:0`},
		{`opened C:\Users\me\x.txt and ~/y`, `opened / and /`},
		{"spoke of sess_abcdef, text/plain", "spoke of 0, text/plain"},
		{"used kjhgfdsaqwertyuiopmnbvcxzlkjhgfdsa", "used 0"},
	} {
		f := finding(func(f *conform.Finding) { f.Text, f.Path = tt.text, "" })
		if got := aboutFault(f); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// A baseline is written back unchanged, in order, and reports faults that are gone.
func TestReadWrite(t *testing.T) {
	var b baseline
	f := finding(func(*conform.Finding) {})
	b.Add(f, "k2")
	b.Add(f, "k2")
	other := finding(func(f *conform.Finding) { f.Rule = &conform.Rule{ID: "ACP108"} })
	b.Add(other, "k1")
	var out strings.Builder
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	const want = `{"key":"k1","rule":"ACP108","fault":"agent","text":"named a relative path (locations[0].path)","count":1}
{"key":"k2","rule":"ACP405","fault":"agent","text":"named a relative path (locations[0].path)","count":2}
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	read, err := parseBaseline(strings.NewReader("\n"+out.String()), "b")
	if err != nil {
		t.Fatal(err)
	}
	if read.Len() != 2 || !read.Knows("k1") || read.Knows("k3") {
		t.Errorf("%d faults; k1 %v, k3 %v", read.Len(), read.Knows("k1"), read.Knows("k3"))
	}
	gone := read.Gone()
	if !slices.EqualFunc(gone, []string{"k2"}, func(e entry, key string) bool { return e.Key == key }) {
		t.Errorf("got %v gone, want k2", gone)
	}
}

// Faults of rules that were not judged this time are kept.
func TestKeep(t *testing.T) {
	older, err := parseBaseline(strings.NewReader("\uFEFF"+`{"key":"k1","rule":"ACP108","count":3}
{"key":"k2","rule":"ACP108"}
{"key":"k3","rule":"RPC001"}
{"key":"k4","rule":"ACP108","count":9}
`), "b")
	if err != nil {
		t.Fatal(err)
	}
	older.Knows("k1")
	older.Knows("k4")
	var b baseline
	b.Add(finding(func(f *conform.Finding) { f.Rule = &conform.Rule{ID: "ACP108"} }), "k4")
	b.Keep(older, func(rule string) bool { return rule == "ACP108" })
	var out strings.Builder
	if err := b.Write(&out); err != nil {
		t.Fatal(err)
	}
	const want = `{"key":"k1","rule":"ACP108","fault":"","text":"","count":3}
{"key":"k4","rule":"ACP108","fault":"agent","text":"named a relative path (locations[0].path)","count":1}
{"key":"k3","rule":"RPC001","fault":"","text":"","count":0}
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestBaselineErrors(t *testing.T) {
	for in, want := range map[string]string{
		"{\"key\":\"k\",\"rule\":\"R\"}\n{": "b:2: unexpected end of JSON input",
		`{"rule":"R"}`:                      "b:1: a line of a baseline has key and rule",
		strings.Repeat("x", 2<<20):          "b: bufio.Scanner: token too long",
	} {
		if _, err := parseBaseline(strings.NewReader(in), "b"); err == nil || err.Error() != want {
			t.Errorf("%.20q: got %v, want %s", in, err, want)
		}
	}
}

// FuzzBaseline reads any file, and writes it back.
func FuzzBaseline(f *testing.F) {
	f.Add(`{"key":"k1","rule":"ACP108","fault":"agent","text":"t","count":1}`)
	f.Add("{}\n")
	f.Fuzz(func(t *testing.T, text string) {
		b, err := parseBaseline(strings.NewReader(text), "b")
		if err != nil {
			return
		}
		var out strings.Builder
		if err := b.Write(&out); err != nil {
			t.Fatal(err)
		}
		again, err := parseBaseline(strings.NewReader(out.String()), "b")
		if err != nil || again.Len() != b.Len() {
			t.Errorf("%d faults, then %v and %v", b.Len(), again, err)
		}
	})
}
