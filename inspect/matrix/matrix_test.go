package matrix_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/testdata/conformtest"
	"github.com/acptap/acptap/inspect/matrix"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
)

var update = flag.Bool("update", false, "rewrite golden files")

// read takes conversations into a matrix.
func read(t *testing.T, side dialect.Side, tapes ...txtar.File) *matrix.Matrix {
	t.Helper()
	m := &matrix.Matrix{Side: side}
	for _, tape := range tapes {
		x := conform.Example{Name: tape.Name, Text: string(tape.Data)}
		frames, err := conformtest.Frames(x)
		if err != nil {
			t.Fatal(err)
		}
		one := &matrix.Matrix{Side: side}
		r := one.Read(tape.Name, "stored-name", conform.Options{Beginning: true})
		for i := range frames {
			r.Add(&frames[i])
		}
		r.End()
		m.Merge(one)
	}
	return m
}

// TestMatrix: each file has conversations and their matrix.
func TestMatrix(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "want" })
			if i < 0 {
				t.Fatal("wants nothing")
			}
			side := dialect.AgentSide
			if strings.Contains(string(a.Comment), "side: client") {
				side = dialect.ClientSide
			}
			m := read(t, side, a.Files[:i]...)
			var got strings.Builder
			for _, g := range m.Grids() {
				for _, line := range g.Lines(0) {
					var b strings.Builder
					for _, s := range line {
						b.WriteString(s.Text)
					}
					got.WriteString(strings.TrimRight(b.String(), " ") + "\n")
				}
			}
			for _, row := range m.Rows() {
				data, err := json.Marshal(row)
				if err != nil {
					t.Fatal(err)
				}
				got.WriteString(strings.ReplaceAll(string(data), `":{"mark"`, "\":\n  {\"mark\"") + "\n")
			}
			a.Files[i].Data = []byte(got.String())
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if text := string(txtar.Format(a)); text != string(want) {
				t.Errorf("got\n%s\nwant\n%s", text, want)
			}
		})
	}
}

// hello begins a connection with an agent that has a version and capabilities.
func hello(version, capabilities string) string {
	return `> {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"editor","version":"1"}}}
< {"id":0,"result":{"protocolVersion":1,"agentCapabilities":` + capabilities + `,"authMethods":[],"agentInfo":{"name":"A","version":"` + version + `"}}}
`
}

func tape(name string, lines ...string) txtar.File {
	return txtar.File{Name: name, Data: []byte(strings.Join(lines, ""))}
}

const (
	works   = "> {\"id\":7,\"method\":\"session/load\",\"params\":{\"sessionId\":\"s9\",\"cwd\":\"/w\",\"mcpServers\":[]}}\n< {\"id\":7,\"result\":{}}\n"
	missing = "> {\"id\":7,\"method\":\"session/load\",\"params\":{\"sessionId\":\"s9\",\"cwd\":\"/w\",\"mcpServers\":[]}}\n< {\"id\":7,\"error\":{\"code\":-32601,\"message\":\"not here\"}}\n"
	noID    = "> {\"id\":8,\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[]}}\n< {\"id\":8,\"result\":{\"sessionId\":\"\"}}\n"
	withID  = "> {\"id\":8,\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[]}}\n< {\"id\":8,\"result\":{\"sessionId\":\"s1\"}}\n"
)

// TestCompare lists exactly what has become worse.
func TestCompare(t *testing.T) {
	load := `{"loadSession":true}`
	for _, tt := range []struct {
		name          string
		before, after txtar.File
		want          []string
	}{
		{"equal", tape("a", hello("1", load), works, withID), tape("b", hello("2", load), works, withID), nil},
		{"gone", tape("a", hello("1", load), works), tape("b", hello("2", `{}`)), []string{"capability load works not offered"}},
		{"broken", tape("a", hello("1", load), works), tape("b", hello("2", load), missing), []string{"capability load works broken", "rule ACP112 kept broken once", "error -32601 never once"}},
		{"rule", tape("a", hello("1", load), withID), tape("b", hello("2", load), noID), []string{"rule ACP201 kept broken once"}},
		{"no occasion", tape("a", hello("1", load), works), tape("b", hello("2", load), noID), nil},
		{"unoffered", tape("a", hello("1", `{}`)), tape("b", hello("2", `{}`), works), []string{"capability load not offered unoffered"}},
		{"only new", tape("a", hello("1", `{}`)), tape("b", hello("2", load), works), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := read(t, dialect.AgentSide, tt.before, tt.after)
			before, err := m.Find("A@1")
			if err != nil {
				t.Fatal(err)
			}
			after, err := m.Find("A@2")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range matrix.Compare(dialect.AgentSide, before, after).Worse {
				got = append(got, w.Kind+" "+w.What+" "+w.From+" "+w.To)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("worse: %q, want %q", got, tt.want)
			}
		})
	}
}

// TestSetUps: offers in answers to session/new count once for a connection with several
// sessions.
func TestSetUps(t *testing.T) {
	opens := func(id, more string) string {
		return `> {"id":"` + id + `","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}` + "\n" +
			`< {"id":"` + id + `","result":{"sessionId":"` + id + `"` + more + "}}\n"
	}
	modes := `,"modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"}]}`
	m := read(t, dialect.AgentSide, tape("a", hello("1", `{}`), opens("x", ""), opens("y", modes), opens("z", modes)), tape("b", hello("1", `{}`), opens("x", "")))
	p, err := m.Find("A@1")
	if err != nil {
		t.Fatal(err)
	}
	if c := p.Cell("modes"); c.Connections != 2 || c.Offered != 1 {
		t.Errorf("modes on %d of %d connections, want 1 of 2", c.Offered, c.Connections)
	}
}

// TestCompareTimes: times that have doubled are worse, if both versions have enough.
func TestCompareTimes(t *testing.T) {
	setups := func(n int, wait string) string {
		one := "> {\"id\":\"n#\",\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[]}}\n+ " + wait + "\n< {\"id\":\"n#\",\"result\":{\"sessionId\":\"s#\"}}\n"
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(one, "#", strings.Repeat("i", i)))
		}
		return b.String()
	}
	for _, tt := range []struct {
		before, after int
		wait          string
		want          int
	}{{20, 20, "90ms", 1}, {19, 20, "90ms", 0}, {20, 20, "15ms", 0}} {
		m := read(t, dialect.AgentSide, tape("a", hello("1", `{}`), setups(tt.before, "10ms")), tape("b", hello("2", `{}`), setups(tt.after, tt.wait)))
		before, _ := m.Find("A@1")
		after, _ := m.Find("A@2")
		c := matrix.Compare(dialect.AgentSide, before, after)
		if len(c.Worse) != tt.want {
			t.Errorf("%d and %d setups, the newer after %s: worse %v, want %d", tt.before, tt.after, tt.wait, c.Worse, tt.want)
		}
		if skipped := strings.Contains(strings.Join(c.NotCompared, "\n"), "session/new"); skipped != (tt.before < matrix.Enough) {
			t.Errorf("%d and %d setups: not compared %q", tt.before, tt.after, c.NotCompared)
		}
	}
}

func TestFind(t *testing.T) {
	m := read(t, dialect.AgentSide, tape("a", hello("1.9.0", `{}`)), tape("b", hello("1.10.0", `{}`)), tape("c", hello("1.10.0-rc1", `{}`)))
	for ref, want := range map[string]string{"A": "1.10.0", "A@1": "1.10.0", "A@1.9": "1.9.0", "A@1.10.0-rc1": "1.10.0-rc1"} {
		p, err := m.Find(ref)
		if err != nil || p.Version != want {
			t.Errorf("%s: %v, %v; want version %s", ref, p, err, want)
		}
	}
	if _, err := m.Find("A@2"); err == nil || !strings.Contains(err.Error(), "A@1.10.0, A@1.10.0-rc1, A@1.9.0") {
		t.Errorf("A@2: %v", err)
	}
}

// TestBetween: an agent is judged by its own answer to initialize, not by the one that
// acptap made of it for the client.
func TestBetween(t *testing.T) {
	x := conform.Example{Text: `> {"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{},"clientInfo":{"name":"editor","version":"1"}}}
< withheld {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{},"authMethods":[],"agentInfo":{"name":"A","version":"1"}}}
< rewritten {"id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"authMethods":[],"agentInfo":{"name":"A","version":"1"}}}
`}
	frames, err := conformtest.Frames(x)
	if err != nil {
		t.Fatal(err)
	}
	m := &matrix.Matrix{Side: dialect.AgentSide}
	r := m.Read("a", "stored-name", conform.Options{Beginning: true, Between: true})
	for i := range frames {
		r.Add(&frames[i])
	}
	r.End()
	p, err := m.Find("A@1")
	if err != nil {
		t.Fatal(err)
	}
	if cell := p.Cell("load"); cell.Mark() != matrix.NotOffered {
		t.Errorf("load is %v: the agent did not offer it", cell.Mark())
	}
}

// TestHostile: names of the wire are text in each form, whatever they hold.
func TestHostile(t *testing.T) {
	lines := strings.NewReplacer(`"name":"A"`, `"name":"<script>|x|\u001b[31m\n**"`).Replace(hello(`"><img>`, `{}`))
	lines = strings.ReplaceAll(lines, `"version":""><img>"`, `"version":"\"><img>"`)
	m := read(t, dialect.AgentSide, tape("a", lines))
	var page bytes.Buffer
	if err := m.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	if s := page.String(); strings.Contains(s, "<script") || strings.Contains(s, "<img") || strings.Contains(s, "\x1b") {
		t.Errorf("the page has what came over the wire:\n%s", s)
	}
	if s := page.String(); regexp.MustCompile(`(?i)(src|href|@import|url\()`).MatchString(s) {
		t.Error("the page needs something else")
	}
	markdown := m.Markdown()
	if rows := strings.Count(markdown, "\n|"); rows != 2 || strings.Contains(markdown, "<script") || strings.Contains(markdown, "**") {
		t.Errorf("the table is\n%s", markdown)
	}
	for _, g := range m.Grids() {
		for _, line := range g.Lines(40) {
			if w := termtext.SpansWidth(line); w > 40 {
				t.Errorf("a line of %d columns: %v", w, line)
			}
			for _, s := range line {
				if strings.ContainsAny(s.Text, "\x1b\n") {
					t.Errorf("control characters: %q", s.Text)
				}
			}
		}
	}
}
