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
			v.matrix()
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
	if long := longNumber.FindString(out.String()); long != "" && args[0] != "show" { // show has what peers said
		v.t.Errorf("acptap %q: %s has more than nine decimals", args, long)
	}
	return out.String()
}

// longNumber is a number that no clock tells, such as 5.3469999999999995.
var longNumber = regexp.MustCompile(`[0-9]+\.[0-9]{10,}`)

// tells notes what a view tells.
func (v *views) tells(fact, view string, value any) {
	if v.facts[fact] == nil {
		v.facts[fact] = map[string]string{}
	}
	v.facts[fact][view] = fmt.Sprint(value)
}

// seconds are a time that views tell, to the microsecond.
type seconds float64

func (s seconds) String() string { return fmt.Sprintf("%.6f", float64(s)) }

// number returns the number in a cell, 0 if it is empty.
func number(cell string) float64 {
	n, _ := strconv.ParseFloat(cell, 64)
	return n
}

// parts are what turns wait for.
var parts = []string{"agent", "tool", "client", "user"}

// waits notes what a view tells that turns waited for.
func (v *views) waits(view string, waited map[string]float64) {
	for _, part := range parts {
		v.tells("waited for "+part, view, seconds(waited[part]))
	}
}

// tools notes how often a view tells that tools were called, in all and by how that ended.
func (v *views) tools(view string, ended, failed, open int) {
	v.tells("tool calls that ended", view, ended)
	v.tells("tool calls that failed", view, failed)
	v.tells("open tool calls", view, open)
}

// A cost is what sessions have cost in a currency.
type cost struct {
	Amount   float64
	Currency string
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
		Seconds  float64
		Turns    struct {
			Count int
			Ends  []struct {
				What  string
				Count int
			}
		}
		Time struct {
			FirstOutput struct{ Count int }
			Waited      map[string]float64
			Beside      map[string]float64
		}
		Servers []struct {
			Call                string
			Count, Failed, Open int
		}
		Failures struct{ Count int }
		Rejected struct{ Count, ToolCalls int }
		Slow     []struct {
			Kind  string
			Count int
		}
		Usage struct {
			Tokens map[string]int64
			Costs  []cost
		}
	}
	if err := json.Unmarshal([]byte(v.say("summary", "--json")), &s); err != nil {
		v.t.Fatal(err)
	}
	v.tells("outcome", "summary", s.Outcome)
	v.tells("frames", "summary", s.Frames)
	v.tells("length", "summary", s.Seconds)
	v.tells("costs", "summary", s.Usage.Costs)
	v.tells("turns", "summary", s.Turns.Count)
	v.tells("failures", "summary", s.Failures.Count)
	if s.Turns.Count > 0 {
		v.tells("tool calls that the user rejected", "summary", s.Rejected.ToolCalls)
	}
	v.tells("rejected or cancelled by the user", "summary", s.Rejected.Count)
	v.single = s.Sessions == 1
	v.tells("first outputs", "summary", s.Time.FirstOutput.Count)
	for part, beside := range s.Time.Beside {
		s.Time.Waited[part] += beside
	}
	v.waits("summary", s.Time.Waited)
	servers := map[string][3]int{}
	for _, one := range s.Servers {
		servers[one.Call] = [3]int{one.Count, one.Failed, one.Open}
	}
	v.tells("calls of servers", "summary", servers)
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
	turns, silences, outputs, took, prompts := 0, 0, 0, 0.0, 0
	waited, servers := map[string]float64{}, map[string][3]int{}
	for _, row := range v.table("stats", "--csv") {
		n, open, failed := int(number(row["n"])), int(number(row["open"])), int(number(row["failed"]))
		switch row["table"] {
		case "servers":
			servers[row["name"]] = [3]int{n, failed, open}
		case "methods":
			if row["name"] == dialect.Prompt {
				prompts = n
			}
		case "turns":
			switch row["name"] {
			case "turn":
				turns, took = n+open, number(row["sum"])
			case "first output":
				outputs = n
			case "first text", "cancel to end", "chunks a second":
			default:
				ends[row["name"]] = n + open
			}
		case "waits":
			if row["name"] == "silences" {
				silences = n
			} else {
				waited[row["name"]] = number(row["sum"])
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
	v.tells("time of turns", "stats", seconds(took))
	v.tells("prompts that ended", "stats", prompts)
	v.tells("calls of servers", "stats", servers)
	v.waits("stats", waited)
	var tools [3]int
	for _, row := range v.table("stats", "--by", "tool", "--csv") {
		for i, of := range []string{"n", "failed", "open"} {
			tools[i] += int(number(row[of]))
		}
	}
	v.tools("stats", tools[0], tools[1], tools[2])
}

func (v *views) turns() {
	ends, waited := map[string]int{}, map[string]float64{}
	took, tools, failed, cancelled := 0.0, 0, 0, 0
	rows := v.table("stats", "--by", "turn", "--csv")
	for _, row := range rows {
		ends[row["end"]]++
		took += number(row["sum"])
		tools += int(number(row["toolCalls"]))
		failed += int(number(row["failedToolCalls"]))
		cancelled += int(number(row["cancelledToolCalls"]))
		for _, part := range parts {
			waited[part] += number(row["waited"+strings.ToUpper(part[:1])+part[1:]])
		}
	}
	v.tells("time of turns", "stats --by turn", seconds(took))
	v.tells("tool calls in turns", "stats --by turn", tools)
	v.tells("tool calls in turns that failed", "stats --by turn", failed)
	v.tells("tool calls in turns that were cancelled", "stats --by turn", cancelled)
	v.waits("stats --by turn", waited)
	v.tells("turns", "stats --by turn", len(rows))
	v.tells("ends", "stats --by turn", ends)
}

var toolInChat = regexp.MustCompile(`(?m)^ *\S.* · .* \[(completed|failed|cancelled|rejected)(?:, [^]]*)?\]  \S+$`)

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
	if turns > 0 {
		tools := map[string]int{}
		for _, found := range toolInChat.FindAllStringSubmatch(v.say("show", "--chat"), -1) {
			tools[found[1]]++
		}
		v.tells("tool calls that the user rejected", "show --chat", tools["rejected"])
		tools["cancelled"] += tools["rejected"]
		v.tells("tool calls that ended", "show --chat", tools["completed"]+tools["failed"]+tools["cancelled"])
		v.tells("tool calls that failed", "show --chat", tools["failed"])
		v.tells("tool calls that failed", "show --filter", strings.Count(v.say("show", "--json", "--filter", "failure:tool"), "\n"))
		v.tells("tool calls that were cancelled", "show --chat", tools["cancelled"])
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
		Seconds  float64
		Costs    []cost
	}
	if err := json.Unmarshal([]byte(v.say("ls", "--json")), &i); err != nil {
		v.t.Fatal(err)
	}
	v.tells("outcome", "ls", i.Outcome)
	v.tells("frames", "ls", i.Frames)
	v.tells("length", "ls", i.Seconds)
	v.tells("costs", "ls", i.Costs)
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
	for _, word := range []string{"agent died", "error", "cancelled"} {
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
	answers := "kind:response (permission:rejected | permission:cancelled method:elicitation/create)"
	v.tells("rejected or cancelled by the user", "show --filter", strings.Count(v.say("show", "--json", "--filter", answers), "\n"))
	for _, slow := range []string{"silent", "tool", "setup", "hung"} {
		v.tells("slow "+slow, "show --filter", strings.Count(v.say("show", "--json", "--filter", "slow:"+slow), "\n"))
	}
}

// tables tells what is in the tables of Parquet.
func (v *views) tables() {
	dir := v.t.TempDir()
	v.say("export", "--format", "parquet", "-o", dir, "last")
	ends, turns, silences := map[string]int{}, 0, 0
	waited, took, calls, failedCalls, cancelledCalls := map[string]float64{}, 0.0, 0, 0, 0
	for _, row := range rowsOf[lake.Turn](v, dir, "turns") {
		ends[row.Outcome]++
		turns++
		silences += int(row.Silences)
		calls += int(row.ToolCalls)
		failedCalls += int(row.FailedToolCalls)
		cancelledCalls += int(row.CancelledToolCalls)
		if row.Duration != nil {
			took += *row.Duration
		}
		for i, part := range []*float64{row.AgentTime, row.ToolTime, row.ClientTime, row.UserTime} {
			if part != nil {
				waited[parts[i]] += *part
			}
		}
	}
	v.tells("turns", "parquet", turns)
	v.tells("ends", "parquet", ends)
	v.tells("slow silent", "parquet", silences)
	v.tells("time of turns", "parquet", seconds(took))
	v.tells("tool calls in turns", "parquet", calls)
	v.tells("tool calls in turns that failed", "parquet", failedCalls)
	v.tells("tool calls in turns that were cancelled", "parquet", cancelledCalls)
	v.waits("parquet", waited)
	tools := map[string]int{}
	for _, row := range rowsOf[lake.Tool](v, dir, "tools") {
		tools[row.Outcome]++
	}
	if v.facts["tool calls that were cancelled"] != nil {
		v.tells("tool calls that were cancelled", "parquet", tools["cancelled"])
	}
	v.tools("parquet", tools["completed"]+tools["failed"]+tools["cancelled"], tools["failed"], tools["unfinished"]+tools["still open"]+tools["replaced"])
}

// rowsOf returns the rows of a table of Parquet.
func rowsOf[T any](v *views, dir, table string) (rows []T) {
	files, err := filepath.Glob(filepath.Join(dir, "table="+table, "*", "*.parquet"))
	if err != nil {
		v.t.Fatal(err)
	}
	for _, file := range files {
		more, err := parquet.ReadFile[T](file)
		if err != nil {
			v.t.Fatal(err)
		}
		rows = append(rows, more...)
	}
	return rows
}

// spans tells what is exported to OpenTelemetry.
func (v *views) spans() {
	var exported struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					Attributes []struct {
						Key   string
						Value struct {
							StringValue string
							DoubleValue float64
						}
					}
				}
			}
		}
	}
	turns, waited := 0, map[string]float64{}
	for line := range strings.Lines(v.say("export", "--format", "otlp", "last")) {
		if err := json.Unmarshal([]byte(line), &exported); err != nil {
			v.t.Fatal(err)
		}
		for _, of := range exported.ResourceSpans {
			for _, scope := range of.ScopeSpans {
				for _, span := range scope.Spans {
					for _, a := range span.Attributes {
						if part, ok := strings.CutPrefix(a.Key, "acp.turn."); ok {
							waited[strings.TrimSuffix(part, "_seconds")] += a.Value.DoubleValue
						}
						if a.Key == "acp.turn.number" { // subagents have none
							turns++
						}
					}
				}
			}
		}
	}
	v.tells("turns", "spans", turns)
	v.waits("spans", waited)
}

// matrix tells which prompts were answered.
func (v *views) matrix() {
	ended := 0
	for line := range strings.Lines(v.say("matrix", "--format", "json", "last")) {
		var row struct {
			Capabilities map[string]struct{ Worked, Missing, Failed int }
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			v.t.Fatal(err)
		}
		prompt := row.Capabilities["prompt"]
		ended += prompt.Worked + prompt.Missing + prompt.Failed
	}
	v.tells("prompts that ended", "matrix", ended)
}

func (v *views) check() {
	frames, rules, all := map[uint64]bool{}, map[string]map[uint64]bool{}, 0
	for line := range strings.Lines(v.say("check", "--json", "--severity", "note", "last")) {
		var f struct {
			Kind, Rule string
			Seq        uint64
		}
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			v.t.Fatal(err)
		}
		if f.Kind != "finding" {
			continue
		}
		if all++; f.Seq == 0 {
			continue
		}
		if frames[f.Seq] = true; rules[f.Rule] == nil {
			rules[f.Rule] = map[uint64]bool{}
		}
		rules[f.Rule][f.Seq] = true
	}
	v.tells("findings", "check", all)
	v.tells("frames with findings", "check", len(frames))
	v.tells("frames with findings", "show --filter", strings.Count(v.say("show", "--json", "--filter", "is:finding"), "\n"))
	for _, rule := range []string{"WATCH", "ACP223"} {
		v.tells("frames with "+rule, "check", len(rules[rule]))
		v.tells("frames with "+rule, "show --filter", strings.Count(v.say("show", "--json", "--filter", "rule:"+rule), "\n"))
	}
}

var (
	figureOf = regexp.MustCompile(`<dt>([^<]+)</dt><dd>(?:<a [^>]*>)?([^<]+)`)
	notesOf  = regexp.MustCompile(`<dt>protocol findings</dt>.*and ([0-9,]+) notes?</small>`)
	didOf    = regexp.MustCompile(`<dt>did</dt><dd>([^<]*)</dd>`)
	callsOf  = regexp.MustCompile(`([0-9,]+) tool calls?.*?(?:[(,] ?([0-9,]+) failed[,)]|$)`)
	failedOf = regexp.MustCompile(`<dt>failed</dt><dd>(.*)</dd>`)
	againOf  = regexp.MustCompile(`\), (?:([0-9]+) )?(times again|times in all|again|first)`)
	moreOf   = regexp.MustCompile(`<li>(?:and )?([0-9]+(?:,[0-9]{3})*)(?: more|, )`)
)

func (v *views) page() {
	page, err := os.ReadFile(v.pageOf("last"))
	if err != nil {
		v.t.Fatal(err)
	}
	found, turns, tools, failed, failures := 0, 0, 0, 0, 0
	number := func(text string) int {
		n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
		if err != nil {
			v.t.Errorf("the page counts %q", text)
		}
		return n
	}
	for _, f := range figureOf.FindAllStringSubmatch(string(page), -1) {
		value := strings.TrimSpace(strings.ReplaceAll(f[2], ",", ""))
		if value == "–" { // not reported
			continue
		}
		switch f[1] {
		case "messages":
			v.tells("frames", "report", value)
		case "turns":
			turns = number(value)
		case "protocol findings":
			found += number(value)
		case "tokens in":
			v.tells("tokens input", "report", value)
		case "out":
			v.tells("tokens output", "report", value)
		}
	}
	if did := didOf.FindSubmatch(page); did != nil && turns > 0 {
		if calls := callsOf.FindSubmatch(did[1]); calls != nil {
			if tools = number(string(calls[1])); len(calls[2]) > 0 {
				failed = number(string(calls[2]))
			}
		}
	}
	for _, line := range failedOf.FindAllSubmatch(page, -1) {
		for _, sign := range []string{"✗", "✓", "~"} {
			failures += bytes.Count(line[1], []byte(`<span class="fate">`+sign))
		}
		for _, again := range againOf.FindAllSubmatch(line[1], -1) {
			if failures++; len(again[1]) > 0 {
				failures += number(string(again[1])) - 1
			}
			if string(again[2]) == "times in all" {
				failures--
			}
		}
		for _, more := range moreOf.FindAllSubmatch(line[1], -1) {
			failures += number(string(more[1]))
		}
	}
	v.tells("turns", "report", turns)
	v.tells("failures", "report", failures)
	if notes := notesOf.FindSubmatch(page); notes != nil {
		found += number(string(notes[1]))
	}
	v.tells("findings", "report", found)
	if all := v.facts["tool calls that were cancelled"]; all != nil {
		v.tells("tool calls that were cancelled", "report", strings.Count(string(page), `<span class="word">cancelled</span>`)+strings.Count(string(page), `<span class="word">rejected</span>`))
	}
	v.tells("tool calls in turns", "report", tools)
	v.tells("tool calls in turns that failed", "report", failed)
}
