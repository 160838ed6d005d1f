package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/lake"
	"github.com/acptap/acptap/proxy/dialect"
)

// TestViewsAgree: what several commands tell of a tape is the same.
func TestViewsAgree(t *testing.T) {
	for _, file := range recordedTapes(t) {
		t.Run(strings.TrimPrefix(file, "../../testdata/"), func(t *testing.T) {
			t.Parallel()
			v := views{t: t, store: t.TempDir(), facts: map[string]map[string]string{}}
			v.say("import", file)
			v.summary()
			v.stats()
			v.turns()
			v.chat()
			v.list()
			v.sessions()
			v.session()
			v.filters()
			v.tables()
			v.spans()
			v.check()
			v.page()
			v.compare()
		})
	}
}

// recordedTapes returns the tapes in testdata, and those that are made for what is slow,
// killed or cut off.
func recordedTapes(t *testing.T) []string {
	var files []string
	for _, dir := range []string{"../../testdata", "testdata/views"} {
		filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".jsonl") {
				files = append(files, path)
			}
			return nil
		})
	}
	if len(files) < 30 {
		t.Fatalf("only %d tapes", len(files))
	}
	return files
}

// views are what commands tell of a tape, by the fact and by the command.
type views struct {
	t     *testing.T
	store string
	facts map[string]map[string]string

	single bool // there is one session
}

// say returns what a command writes.
func (v *views) say(args ...string) string {
	v.t.Helper()
	var out, stderr bytes.Buffer
	if code := run(context.Background(), append([]string{"--store", v.store}, args...), strings.NewReader(""), &out, &stderr); code > 1 {
		v.t.Fatalf("acptap %q: exit %d, %s", args, code, stderr.String())
	}
	return out.String()
}

// tells notes what a view tells.
func (v *views) tells(fact, view string, value any) {
	if v.facts[fact] == nil {
		v.facts[fact] = map[string]string{}
	}
	v.facts[fact][view] = fmt.Sprint(value)
}

func (v *views) compare() {
	for _, fact := range slices.Sorted(maps.Keys(v.facts)) {
		told := v.facts[fact]
		values := slices.Compact(slices.Sorted(maps.Values(told)))
		if len(values) > 1 {
			v.t.Errorf("%s: %v", fact, told)
		}
	}
}

func (v *views) summary() {
	var s struct {
		Outcome  string
		Sessions int
		Frames   uint64
		Turns    struct {
			Count int
			Ends  []struct {
				What  string
				Count int
			}
		}
		Time     struct{ FirstOutput struct{ Count int } }
		Failures struct{ Count int }
		Slow     []struct {
			Kind  string
			Count int
		}
		Usage struct {
			Tokens map[string]int64
		}
	}
	if err := json.Unmarshal([]byte(v.say("summary", "--json")), &s); err != nil {
		v.t.Fatal(err)
	}
	v.tells("outcome", "summary", s.Outcome)
	v.tells("frames", "summary", s.Frames)
	v.tells("turns", "summary", s.Turns.Count)
	v.tells("failures", "summary", s.Failures.Count)
	v.single = s.Sessions == 1
	v.tells("first outputs", "summary", s.Time.FirstOutput.Count)
	ends := map[string]int{}
	for _, e := range s.Turns.Ends {
		ends[e.What] = e.Count
	}
	v.tells("ends", "summary", ends)
	for _, slow := range []string{"silent", "tool", "setup", "hung"} {
		n := 0
		for _, one := range s.Slow {
			if one.Kind == slow {
				n = one.Count
			}
		}
		v.tells("slow "+slow, "summary", n)
	}
	for stats, name := range map[string]string{"input": "input", "output": "output", "thought": "thought", "total": "total"} {
		if n, ok := s.Usage.Tokens[name]; ok {
			v.tells("tokens "+stats, "summary", n)
		}
	}
}

// table returns the rows of comma-separated values, by name.
func (v *views) table(args ...string) (rows []map[string]string) {
	lines, err := csv.NewReader(strings.NewReader(v.say(args...))).ReadAll()
	if err != nil {
		v.t.Fatal(err)
	}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, name := range lines[0] {
			row[name] = line[i]
		}
		rows = append(rows, row)
	}
	return rows
}

func (v *views) stats() {
	ends := map[string]int{}
	turns, silences, outputs := 0, 0, 0
	for _, row := range v.table("stats", "--csv") {
		n, _ := strconv.Atoi(row["n"])
		open, _ := strconv.Atoi(row["open"])
		switch row["table"] {
		case "turns":
			switch row["name"] {
			case "turn":
				turns = n + open
			case "first output":
				outputs = n
			case "first text", "cancel to end", "chunks a second":
			default:
				ends[row["name"]] = n + open
			}
		case "waits":
			if row["name"] == "silences" {
				silences = n
			}
		case "tokens":
			if sum := row["sum"]; sum != "" {
				v.tells("tokens "+row["name"], "stats", sum)
			}
		}
	}
	v.tells("first outputs", "stats", outputs)
	v.tells("turns", "stats", turns)
	v.tells("ends", "stats", ends)
	v.tells("slow silent", "stats", silences)
}

func (v *views) turns() {
	ends := map[string]int{}
	rows := v.table("stats", "--by", "turn", "--csv")
	for _, row := range rows {
		ends[row["end"]]++
	}
	v.tells("turns", "stats --by turn", len(rows))
	v.tells("ends", "stats --by turn", ends)
}

var endOfTurn = regexp.MustCompile(`(?m)^── turn \d+: ([a-z ]+[a-z])`)

func (v *views) chat() {
	ends, turns := map[string]int{}, 0
	for _, found := range endOfTurn.FindAllStringSubmatch(v.say("show", "--chat"), -1) {
		turns++
		word := found[1]
		if strings.HasPrefix(word, "agent died") {
			word = "agent died"
		}
		ends[word]++
	}
	v.tells("turns", "show --chat", turns)
	v.tells("ends", "show --chat", ends)
}

func (v *views) list() {
	var i struct {
		Outcome  string
		Frames   uint64
		Turns    int
		Failures int
		Sessions int
	}
	if err := json.Unmarshal([]byte(v.say("ls", "--json")), &i); err != nil {
		v.t.Fatal(err)
	}
	v.tells("outcome", "ls", i.Outcome)
	v.tells("frames", "ls", i.Frames)
	v.tells("turns", "ls", i.Turns)
	v.tells("failures", "ls", i.Failures)
	v.tells("sessions", "ls", i.Sessions)
}

func (v *views) sessions() {
	n := 0
	for _, flag := range []string{"--deleted", "--all"} {
		n += strings.Count(v.say("sessions", "--json", flag), "\n")
	}
	v.tells("sessions", "sessions", n)
}

// session tells what views of a session say if it is the only one: its turns are those of
// the tape.
func (v *views) session() {
	var one struct {
		Session, Outcome string
		Failures         int
	}
	lines := v.say("sessions", "--json", "--all")
	if !v.single || json.Unmarshal([]byte(lines), &one) != nil || v.facts["turns"]["ls"] == "0" {
		return
	}
	var s struct {
		Turns struct {
			Ends []struct {
				What  string
				Count int
			}
		}
		Failures struct{ Count int }
	}
	if err := json.Unmarshal([]byte(v.say("summary", "--json", one.Session)), &s); err != nil {
		v.t.Fatal(err)
	}
	ends, worst := map[string]int{}, dialect.NoOutcome
	for _, e := range s.Turns.Ends {
		ends[e.What] = e.Count
		for how := worst; how <= dialect.Running; how++ {
			if how.String() == e.What {
				worst = how
			}
		}
	}
	v.tells("ends", "summary of the session", ends)
	v.tells("worst turn", "summary of the session", worst)
	how := one.Outcome
	for _, word := range []string{"agent died", "error"} {
		if strings.HasPrefix(how, word) {
			how = word
		}
	}
	v.tells("worst turn", "sessions", how)
	v.tells("failures of the session", "sessions", one.Failures)
	v.tells("failures of the session", "summary", s.Failures.Count)
	page, _ := os.ReadFile(v.pageOf(one.Session))
	head, _, _ := strings.Cut(v.say("summary", one.Session), "\n")
	parts := strings.Split(head, " · ")
	if length := factsOf.FindSubmatch(page); length != nil {
		v.tells("length of the session", "report", string(length[1]))
		v.tells("length of the session", "summary", parts[slices.IndexFunc(parts, isLength)])
	}
}

var factsOf = regexp.MustCompile(`<span>([0-9][0-9.]*(?: [mµn]?s|m[0-9]+s|h[0-9]+m))</span></p>`)

func isLength(part string) bool { return factsOf.MatchString("<span>" + part + "</span></p>") }

// pageOf writes the page of a subject.
func (v *views) pageOf(subject string) string {
	out := filepath.Join(v.t.TempDir(), "page.html")
	v.say("report", "-o", out, subject)
	return out
}

func (v *views) filters() {
	v.tells("failures", "show --filter", strings.Count(v.say("show", "--json", "--filter", "is:failed"), "\n"))
	for _, slow := range []string{"silent", "tool", "setup", "hung"} {
		v.tells("slow "+slow, "show --filter", strings.Count(v.say("show", "--json", "--filter", "slow:"+slow), "\n"))
	}
}

// tables tells what is in the tables of Parquet.
func (v *views) tables() {
	dir := v.t.TempDir()
	v.say("export", "--format", "parquet", "-o", dir, "last")
	files, err := filepath.Glob(filepath.Join(dir, "table=turns", "*", "*.parquet"))
	if err != nil {
		v.t.Fatal(err)
	}
	ends, turns, silences := map[string]int{}, 0, 0
	for _, file := range files {
		rows, err := parquet.ReadFile[lake.Turn](file)
		if err != nil {
			v.t.Fatal(err)
		}
		for _, row := range rows {
			ends[row.Outcome]++
			turns++
			silences += int(row.Silences)
		}
	}
	v.tells("turns", "parquet", turns)
	v.tells("ends", "parquet", ends)
	v.tells("slow silent", "parquet", silences)
}

func (v *views) spans() {
	v.tells("turns", "spans", strings.Count(v.say("export", "--format", "otlp", "last"), `{"key":"gen_ai.operation.name","value":{"stringValue":"invoke_agent"}}`))
}

func (v *views) check() {
	v.tells("findings", "check", strings.Count(v.say("check", "--json", "--severity", "note", "last"), `{"kind":"finding"`))
}

var figureOf = regexp.MustCompile(`<dt>([^<]+)</dt><dd>([^<]+)`)

func (v *views) page() {
	page, err := os.ReadFile(v.pageOf("last"))
	if err != nil {
		v.t.Fatal(err)
	}
	found := "0"
	for _, f := range figureOf.FindAllStringSubmatch(string(page), -1) {
		value := strings.ReplaceAll(f[2], ",", "")
		switch f[1] {
		case "turns", "failures", "frames":
			v.tells(f[1], "report", value)
		case "findings":
			found = value
		case "tokens in":
			v.tells("tokens input", "report", value)
		case "tokens out":
			v.tells("tokens output", "report", value)
		}
	}
	v.tells("findings", "report", found)
}
