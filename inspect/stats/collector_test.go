package stats_test

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

// frames yields the frames of lines. A line begins with > or <; a line such as @5 sets the
// second of the lines after it, otherwise they are a millisecond apart.
func frames(lines iter.Seq[string]) iter.Seq[*dialect.Frame] {
	return func(yield func(*dialect.Frame) bool) {
		tracker := dialect.NewTracker(dialect.AnyProtocol)
		seq, now := uint64(0), time.Duration(0)
		for line := range lines {
			if at, ok := strings.CutPrefix(line, "@"); ok {
				fmt.Sscan(at, (*float64Seconds)(&now))
				continue
			}
			seq++
			now += time.Millisecond
			f := wire.Frame{Seq: seq, At: now, Raw: []byte(line[2:]), Size: int64(len(line) - 2)}
			if line[0] == '<' {
				f.Dir = wire.AgentToClient
			}
			e := wire.Scan(f.Raw)
			f.Kind = e.Kind
			about, _ := tracker.Observe(&f, e)
			f.Failed = dialect.Failed(e, &about)
			if !yield(&dialect.Frame{Frame: f, Annotation: about}) {
				return
			}
		}
	}
}

// A float64Seconds is scanned as seconds.
type float64Seconds time.Duration

func (s *float64Seconds) Scan(state fmt.ScanState, _ rune) error {
	var x float64
	_, err := fmt.Fscan(state, &x)
	*s = float64Seconds(x * float64(time.Second))
	return err
}

// collected returns a Collector that has taken tapes.
func collected(by stats.By, tapes ...iter.Seq[*dialect.Frame]) *stats.Collector {
	c, tr := &stats.Collector{By: by}, &trace.Trace{Brief: true}
	for i, tape := range tapes {
		tr.Next(dialect.Connection{})
		c.Take(tr)
		id := fmt.Sprint("tape-", i+1)
		c.Begin(record.Info{Tape: id, Start: record.Start{Name: "agent " + id}})
		for f := range tape {
			tr.Add(f)
			c.Take(tr)
		}
	}
	tr.End()
	c.Take(tr)
	c.End(tr)
	return c
}

const setup = `> {"id":0,"method":"initialize","params":{"protocolVersion":1}}
< {"id":0,"result":{"protocolVersion":1,"agentInfo":{"name":"coder","version":"1"}}}
> {"id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
< {"id":1,"result":{"sessionId":"s"}}
`

func lines(text string) iter.Seq[string] {
	return slices.Values(strings.Split(strings.TrimSpace(text), "\n"))
}

func prompt(id int) string {
	return fmt.Sprintf(`> {"id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"prompt %[1]d"}]}}`+"\n", id)
}

func ended(id int, more string) string {
	return fmt.Sprintf(`< {"id":%d,"result":{"stopReason":"end_turn"%s}}`+"\n", id, more)
}

// cells returns the columns with these names of the rows of a table.
func cells(t stats.Table, names ...string) string {
	var b strings.Builder
	for _, row := range t.Rows {
		for n, name := range names {
			i := slices.IndexFunc(t.Columns, func(c stats.Column) bool { return c.Name == name })
			if n > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(row[i].String())
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func check(t *testing.T, got, want string) {
	t.Helper()
	if strings.TrimSpace(got) != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Tokens that seem to be of the session as a whole are not added up, and are marked.
func TestWholeSession(t *testing.T) {
	text := setup
	for i := range 4 {
		text += prompt(10+i) + ended(10+i, fmt.Sprintf(`,"usage":{"inputTokens":%d,"outputTokens":5}`, 100*(i+1)))
	}
	c := collected(stats.ByTurn, frames(lines(text)))
	check(t, cells(c.Overview()[5], "name", "n", "p50", "max", "sum"), "input 4 – – ~400\noutput 4 – – ~5")
	check(t, cells(c.Grouped(), "title", "inputTokens", "wholeSession"), "prompt 10 ~100 yes\nprompt 11 ~200 yes\nprompt 12 ~300 yes\nprompt 13 ~400 yes")
	text += prompt(20) + ended(20, `,"usage":{"inputTokens":7,"outputTokens":5}`)
	c = collected(stats.ByAgent, frames(lines(text)))
	check(t, cells(c.Overview()[5], "name", "n", "p50", "max", "sum"), "input 5 200 400 1,007\noutput 5 5 5 25")
	check(t, cells(c.Grouped(), "agent", "inputTokens", "wholeSession"), "coder 1,007 –")
}

// Costs are reported late, and different currencies are not mixed.
func TestCosts(t *testing.T) {
	cost := func(amount float64, currency string) string {
		return fmt.Sprintf(`< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"usage_update","used":50,"size":200,"cost":{"amount":%v,"currency":"%s"}}}}`+"\n", amount, currency)
	}
	first := setup + prompt(10) + ended(10, "") + cost(0.1, "USD") + prompt(11) + cost(0.3, "USD") + ended(11, "")
	second := setup + prompt(10) + cost(4, "EUR") + ended(10, "")
	c := collected(stats.BySession, frames(lines(first)), frames(lines(second)))
	check(t, cells(c.Overview()[5], "name", "unit", "n", "max", "sum", "share"),
		"cost in EUR EUR 1 4.00 4.00 –\ncost in USD USD 2 0.20 0.30 –\ncontext, last tokens 2 50 – 25 %\ncontext, peak tokens 2 50 – 25 %")
	check(t, cells(c.Grouped(), "session", "n", "costEUR", "costUSD"), "s 3 4.00 0.30")
}

// What has no end is counted separately and has no time, except for the first output and what
// the turn waited for until the last frame.
func TestOpen(t *testing.T) {
	text := setup + "@5\n" + prompt(10) + `< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Run","kind":"execute"}}}
< {"id":7,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/w/a"}}
@50
< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}}}
`
	c := collected(stats.ByTurn, frames(lines(text)))
	tables := c.Overview()
	check(t, cells(tables[0], "name", "n", "open", "p50", "sum"), "turn 0 1 – –\n· recording cut off 0 1 – –\nfirst output 1 – 1 ms –\nfirst text 1 – 45.0 s –")
	check(t, cells(tables[1], "name", "n", "sum"), "agent 1 1 ms\ntool 1 1 ms\nclient 1 45.0 s")
	check(t, cells(tables[2], "name", "n", "open", "sum"), "execute 0 1 –")
	check(t, cells(tables[3], "name"), "")
	check(t, cells(tables[4], "name", "n", "open", "max"), "initialize 1 0 1 ms\nsession/new 1 0 1 ms\nfs/read_text_file 0 1 –\nsession/prompt 0 1 –")
	check(t, cells(c.Grouped(), "turn", "n", "open", "sum", "end"), "1:5 0 1 – recording cut off")
}

// A turn that is still in progress counts, and differs from one that was cut off: both while
// frames may follow, and after a tape that is being recorded was read.
func TestRunning(t *testing.T) {
	c, tr := &stats.Collector{By: stats.ByTurn}, &trace.Trace{Brief: true}
	tr.Next(dialect.Connection{})
	tr.Live = true
	c.Begin(record.Info{Tape: "tape-1"})
	for f := range frames(lines(setup + "@5\n" + prompt(10) + ended(10, `,"usage":{"inputTokens":7}`) + "@6\n" + prompt(11) + "@9\n" +
		`< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"a"}}}}`)) {
		tr.Add(f)
		c.Take(tr)
	}
	told := func() string {
		tables := c.Overview()
		return cells(tables[0], "name", "n", "open") + cells(tables[1], "name", "sum") + cells(tables[5], "name", "sum")
	}
	want := "turn 1 1\n· done 1 0\n· running 0 1\nfirst output 1 –\nfirst text 1 –\nagent 3.00 s\ninput 7"
	check(t, told(), want)
	check(t, told(), want)
	tr.End()
	c.Take(tr)
	c.End(tr)
	check(t, told(), want)
	check(t, cells(c.Grouped(), "turn", "n", "open", "waitedAgent", "end"), "1:5 1 0 1 ms done\n1:7 0 1 3.00 s running")
}

// A request that is open until the connection ends, as it should be, waits for nothing.
func TestAtClose(t *testing.T) {
	c := collected(stats.ByMethod, frames(lines(`> {"id":1,"method":"subscriptions/listen","params":{}}`+"\n"+`> {"id":2,"method":"ping"}`)))
	check(t, cells(c.Grouped(), "method", "n", "open"), "ping 0 1")
}

// The time of a tool excludes the time in which the user was asked.
func TestTools(t *testing.T) {
	tool := func(id, fields string) string {
		return `< {"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"` + id + `",` + fields + "}}}\n"
	}
	text := setup + "@1\n" + prompt(10) + "@2\n" + tool("a", `"kind":"edit"`) + `< {"id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"a"},"options":[]}}
@10
> {"id":7,"result":{"outcome":{"outcome":"selected","optionId":"x"}}}
@12
` + tool("a", `"status":"completed"`) + tool("b", `"name":"grep","status":"failed"`) + ended(10, "")
	c := collected(stats.ByTool, frames(lines(text)))
	check(t, cells(c.Grouped(), "tool", "n", "failed", "max"), "edit 1 0 2.00 s\ngrep 1 1 0")
	mcp := `> {"id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}
< {"id":0,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"adder","version":"2"},"capabilities":{}}}
> {"id":1,"method":"tools/call","params":{"name":"add"}}
< {"id":1,"result":{"isError":true,"content":[]}}
`
	c = collected(stats.ByTool, frames(lines(mcp)))
	check(t, cells(c.Grouped(), "tool", "n", "failed", "max"), "add 1 1 1 ms")
	for by, want := range map[stats.By]string{stats.ByAgent: "calls 2 1", stats.BySession: "calls 2 1"} {
		check(t, cells(collected(by, frames(lines(mcp))).Grouped(), "of", "n", "failed"), want)
	}
}

// Whatever the turns, the parts of their waiting add up to their times, in all groupings.
func TestAddsUp(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		text, now := setup, 1.0
		wait := func() { now += rng.ExpFloat64(); text += fmt.Sprintf("@%.9f\n", now) }
		turns := 1 + rng.IntN(30)
		for i := range turns {
			wait()
			text += prompt(100 + i)
			for n := range rng.IntN(5) {
				wait()
				method := []string{"fs/read_text_file", "terminal/wait_for_exit", "elicitation/create"}[rng.IntN(3)]
				text += fmt.Sprintf(`< {"id":%d,"method":"%s","params":{"sessionId":"s"}}`+"\n", n, method)
				wait()
				text += fmt.Sprintf(`> {"id":%d,"result":{}}`+"\n", n)
			}
			wait()
			text += ended(100+i, "")
		}
		c := collected("", frames(lines(text)))
		all := c.Turns()
		if all.N != turns || int64(all.Waited.Sum()) != all.Took.Sum() {
			t.Errorf("seed %d: %d turns took %d, and waited %d", seed, all.N, all.Took.Sum(), all.Waited.Sum())
		}
		parts := int64(0)
		for i := range all.Parts {
			parts += all.Parts[i].Sum()
		}
		if parts != all.Took.Sum() {
			t.Errorf("seed %d: the parts are %d, the turns %d", seed, parts, all.Took.Sum())
		}
	}
}

// However many sessions, turns, tools, methods, reasons and currencies there are, memory
// is bounded, and no turn and no call is lost.
func TestBounded(t *testing.T) {
	const n = 30_000
	text := func(yield func(string) bool) {
		for i := range n {
			for _, line := range []string{
				`> {"id":"n%d","method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`,
				`< {"id":"n%d","result":{"sessionId":"s%[1]d"}}`,
				`> {"id":"p%d","method":"session/prompt","params":{"sessionId":"s%[1]d","prompt":[{"type":"text","text":"hi"}]}}`,
				`< {"method":"session/update","params":{"sessionId":"s%d","update":{"sessionUpdate":"usage_update","used":1,"size":2,"cost":{"amount":1,"currency":"C%[1]d"}}}}`,
				`< {"method":"session/update","params":{"sessionId":"s%d","update":{"sessionUpdate":"tool_call","toolCallId":"t%[1]d","title":"T","name":"tool %[1]d","status":"completed"}}}`,
				`< {"id":"p%d","result":{"stopReason":"reason %[1]d","usage":{"inputTokens":1}}}`,
				`> {"id":"m%d","method":"method/%[1]d"}`,
				`< {"id":"m%d","result":{}}`,
			} {
				if !yield(fmt.Sprintf(line, i)) {
					return
				}
			}
		}
	}
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for _, by := range []stats.By{stats.BySession, stats.ByTurn} {
		before := heap()
		c := collected(by, frames(text))
		if grown := int64(heap()) - int64(before); grown > 48<<20 {
			t.Errorf("by %s: grown by %d MiB", by, grown>>20)
		}
		turns, tokens := 0, uint64(0)
		if turns, tokens = c.Turns().N, c.Turns().Usage.Tokens.Input.N; turns != n || tokens != n {
			t.Errorf("by %s: got %d turns and %d tokens, want %d", by, turns, tokens, n)
		}
		calls := 0
		for _, m := range c.Methods() {
			calls += m.Total()
		}
		if calls != 3*n {
			t.Errorf("by %s: got %d calls, want %d", by, calls, 3*n)
		}
		if rows := len(c.Grouped().Rows); by == stats.BySession && rows != 1<<12+1 || by == stats.ByTurn && rows != 1<<14+1 {
			t.Errorf("by %s: got %d rows", by, rows)
		}
	}
}

// BenchmarkCollect collects what real tapes tell.
func BenchmarkCollect(b *testing.B) {
	paths, err := filepath.Glob("../../testdata/tapes/*.jsonl")
	if err != nil || len(paths) == 0 {
		b.Fatalf("no tapes: %v", err)
	}
	var tapes [][]dialect.Frame
	count, size := 0, int64(0)
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		tape, err := record.ReadPortable(f, path)
		f.Close()
		if err != nil {
			b.Fatal(err)
		}
		var list []dialect.Frame
		for f, err := range tape.Frames(1) {
			if err != nil {
				b.Fatal(err)
			}
			list, count, size = append(list, f), count+1, size+f.Size
		}
		tapes = append(tapes, list)
	}
	pass := func(collect bool) {
		var c stats.Collector
		tr := trace.Trace{Brief: true}
		for _, tape := range tapes {
			tr.Next(dialect.Connection{})
			c.Begin(record.Info{})
			for i := range tape {
				if tr.Add(&tape[i]); collect {
					c.Take(&tr)
				}
			}
		}
	}
	for _, what := range []string{"trace", "trace and stats"} {
		b.Run(what, func(b *testing.B) {
			b.SetBytes(size)
			b.ReportAllocs()
			for b.Loop() {
				pass(what != "trace")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*count), "ns/frame")
		})
	}
}
