package lake_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/lake"
	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/trace"
)

var update = flag.Bool("update", false, "rewrite golden files")

// memory is a Destination.
type memory map[string]*bytes.Buffer

func (m memory) begin(name string) (lake.File, error) { return &memoryFile{m: m, name: name}, nil }

type memoryFile struct {
	bytes.Buffer
	m    memory
	name string
}

func (f *memoryFile) Commit(context.Context) error { f.m[f.name] = &f.Buffer; return nil }
func (f *memoryFile) Discard()                     {}

// write writes the tables of frames of a tape.
func write(tb testing.TB, t lake.Tape, content bool, frames []dialect.Frame) memory {
	tb.Helper()
	m := memory{}
	rows := lake.NewBuilder(t)
	rows.Content = content
	w := lake.NewWriter(m.begin, rows, "v1.2.3")
	for i := range frames {
		if err := w.Add(&frames[i]); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(context.Background()); err != nil {
		tb.Fatal(err)
	}
	return m
}

// read returns the rows of a table.
func read[T any](tb testing.TB, m memory, table string, t lake.Tape) []T {
	tb.Helper()
	file := m[lake.Name(table, t)]
	if file == nil {
		return nil
	}
	rows, err := parquet.Read[T](bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		tb.Fatal(err)
	}
	return rows
}

// open returns the frames of a file in the portable form.
func open(tb testing.TB, path string) (lake.Tape, []dialect.Frame) {
	tb.Helper()
	tape, err := record.OpenFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	info, err := tape.Info()
	if err != nil {
		tb.Fatal(err)
	}
	var frames []dialect.Frame
	for f, err := range tape.Frames(1) {
		if err != nil {
			tb.Fatal(err)
		}
		f.Raw = bytes.Clone(f.Raw)
		frames = append(frames, f)
	}
	return lake.Tape{ID: cmp.Or(info.Tape, "none"), Start: info.Start.Time, Agent: "nameless", Connection: info.Connection}, frames
}

// tapes calls do with the frames of all tapes in testdata: whole, as while they were
// recorded, and with holes.
func tapes(t *testing.T, do func(t *testing.T, tape lake.Tape, frames []dialect.Frame)) {
	err := filepath.WalkDir("../../../../../testdata", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".jsonl" {
			return err
		}
		tape, frames := open(t, path)
		name := strings.TrimPrefix(path, "../../../../../testdata/")
		t.Run(name, func(t *testing.T) { do(t, tape, frames) })
		t.Run(name+" live", func(t *testing.T) { do(t, tape, frames[:len(frames)*2/3]) })
		t.Run(name+" damaged", func(t *testing.T) {
			do(t, tape, slices.DeleteFunc(slices.Clone(frames), func(f dialect.Frame) bool { return f.Seq%7 == 3 }))
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A spread is a row of acptap stats --json.
type spread struct {
	Table, Name        string
	N, Failed, Open    int
	P50, P95, P99, Max float64
	Sum                float64
	Share              float64
	outcomes           []string
	took               []float64
}

func (s *spread) add(outcome string, took *float64) {
	s.outcomes = append(s.outcomes, outcome)
	if took != nil {
		s.took = append(s.took, *took)
	}
}

// spreads are rows of stats by table and name.
type spreads map[[2]string]*spread

func (s spreads) of(table, name string) *spread {
	key := [2]string{table, name}
	if s[key] == nil {
		s[key] = &spread{}
	}
	return s[key]
}

// statsOf returns what acptap stats --json says of frames.
func statsOf(t *testing.T, tape lake.Tape, frames []dialect.Frame) spreads {
	t.Helper()
	var c stats.Collector
	tr := &trace.Trace{Brief: true}
	tr.Next(tape.Connection)
	c.Begin(record.Info{Tape: tape.ID, Start: record.Start{Name: tape.Agent}, Connection: tape.Connection})
	for i := range frames {
		tr.Add(&frames[i])
		c.Take(tr)
	}
	tr.End()
	c.Take(tr)
	c.End(tr)
	said := spreads{}
	for _, table := range c.Overview() {
		for _, line := range table.Lines() {
			var row spread
			if err := json.Unmarshal(line, &row); err != nil {
				t.Fatal(err)
			}
			said[[2]string{row.Table, row.Name}] = &row
		}
	}
	return said
}

// rowsOf counts the same in the tables.
func rowsOf(t *testing.T, tape lake.Tape, m memory) spreads {
	t.Helper()
	s := spreads{}
	series := func(table, name string, took *float64) {
		if took != nil {
			s.of(table, name).add("", took)
		}
	}
	count := func(name string, n *int64) {
		if n != nil {
			v := float64(*n)
			series("tokens", name, &v)
		}
	}
	for _, r := range read[lake.Turn](t, m, "turns", tape) {
		end := "completed"
		switch {
		case r.EndFrame == 0:
			end = "still open"
		case r.Outcome == "error":
			end = "failed"
		}
		s.of("turns", "turn").add(end, r.Duration)
		s.of("turns", r.Outcome).add(end, r.Duration)
		series("turns", "first output", r.FirstOutput)
		series("turns", "first text", r.FirstText)
		series("turns", "cancel to end", r.Confirm)
		for part, took := range map[string]*float64{"agent": r.AgentTime, "tool": r.ToolTime, "client": r.ClientTime, "user": r.UserTime} {
			if took != nil && *took > 0 {
				series("waits", part, took)
			}
		}
		for name, n := range map[string]*int64{"input": r.InputTokens, "output": r.OutputTokens, "thought": r.ThoughtTokens, "cached read": r.CachedReadTokens, "cached write": r.CachedWriteTokens, "total": r.TotalTokens} {
			count(name, n)
		}
	}
	for _, r := range read[lake.Tool](t, m, "tools", tape) {
		s.of("tools", cmp.Or(r.Name, r.Kind, "other")).add(r.Outcome, r.Duration)
	}
	for _, r := range read[lake.Call](t, m, "calls", tape) {
		if !r.UntilClose {
			s.of("methods", r.Method).add(r.Outcome, r.Latency)
		}
	}
	return s
}

// The tables say what acptap stats says.
func TestTablesAreStats(t *testing.T) {
	tapes(t, func(t *testing.T, tape lake.Tape, frames []dialect.Frame) {
		said, got := statsOf(t, tape, frames), rowsOf(t, tape, write(t, tape, false, frames))
		for _, skip := range [][2]string{{"turns", "chunks a second"}, {"waits", "silences"}, {"tokens", "context, last"}, {"tokens", "context, peak"}} {
			delete(said, skip)
		}
		for key := range said {
			if strings.HasPrefix(key[1], "cost in ") {
				delete(said, key)
			}
		}
		if a, b := sortedKeys(got), sortedKeys(said); !slices.Equal(a, b) {
			t.Fatalf("rows of %q, but stats of %q", a, b)
		}
		for key, want := range said {
			has := got[key]
			counts := key[0] != "waits" && key[0] != "tokens" && !strings.Contains(key[1], "first ") && key[1] != "cancel to end"
			n, failed, open := 0, 0, 0
			for _, outcome := range has.outcomes {
				switch outcome {
				case "failed":
					n, failed = n+1, failed+1
				case "", "completed", "cancelled":
					n++
				default:
					open++
				}
			}
			if n != want.N || counts && (failed != want.Failed || open != want.Open) {
				t.Errorf("%q: got %d, %d failed, %d open, want %d, %d, %d", key, n, failed, open, want.N, want.Failed, want.Open)
			}
			slices.Sort(has.took)
			for p, want := range map[float64]float64{0.5: want.P50, 0.95: want.P95, 0.99: want.P99} {
				if got := nearestRank(has.took, p); want != 0 && got != want {
					t.Errorf("%q: got %v for p%v, want %v", key, got, 100*p, want)
				}
			}
			if len(has.took) > 0 && has.took[len(has.took)-1] != want.Max {
				t.Errorf("%q: got at most %v, want %v", key, has.took[len(has.took)-1], want.Max)
			}
		}
	})
}

func sortedKeys(s spreads) []string {
	var list []string
	for key := range maps.Keys(s) {
		list = append(list, key[0]+" "+key[1])
	}
	slices.Sort(list)
	return list
}

func nearestRank(sorted []float64, p float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(math.Ceil(p*float64(len(sorted))))-1]
}

// A row of frames for each frame, in order, and the same bytes whenever it is written.
func TestFramesAndBytes(t *testing.T) {
	tapes(t, func(t *testing.T, tape lake.Tape, frames []dialect.Frame) {
		m := write(t, tape, true, frames)
		rows := read[lake.Frame](t, m, "frames", tape)
		if len(rows) != len(frames) {
			t.Fatalf("got %d rows of %d frames", len(rows), len(frames))
		}
		for i, f := range frames {
			if r := rows[i]; r.Frame != int64(f.Seq) || r.Method != f.Method || r.Bytes != f.Size || r.Body != strings.ToValidUTF8(string(f.Raw), "\uFFFD") || r.Tape != tape.ID {
				t.Errorf("frame %d: got %+v", f.Seq, r)
			}
		}
		again := write(t, tape, true, frames)
		for name, file := range m {
			if !bytes.Equal(file.Bytes(), again[name].Bytes()) {
				t.Errorf("%s: other bytes the second time", name)
			}
		}
	})
}

// Names from the traffic may be anything, and are cut.
func TestNames(t *testing.T) {
	long := strings.Repeat("ü", 4000)
	var frames []dialect.Frame
	tracker := dialect.NewTracker(dialect.ACP)
	for i, raw := range []string{
		`{"jsonrpc":"2.0","id":"` + long + `","method":"` + long + `"}`,
		`{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"\ud800\u0000","prompt":[]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"stopReason":"` + long + `"}}`,
	} {
		f := dialect.Frame{Frame: wire.Frame{Seq: uint64(i + 1), Dir: wire.Direction(i / 2), Raw: []byte(raw), Size: int64(len(raw))}}
		e := wire.Scan(f.Raw)
		f.Kind = e.Kind
		f.Annotation, _ = tracker.Observe(&f.Frame, e)
		frames = append(frames, f)
	}
	tape := lake.Tape{ID: "20261122T090000-names"}
	m := write(t, tape, true, frames)
	rows, turns := read[lake.Frame](t, m, "frames", tape), read[lake.Turn](t, m, "turns", tape)
	if len(rows) != 3 || len(turns) != 1 {
		t.Fatalf("got %d frames and %d turns", len(rows), len(turns))
	}
	if id := rows[0].ID; len(id) < 1000 || len(id) > 1030 || !utf8.ValidString(id) {
		t.Errorf("got an id of %d bytes", len(id))
	}
	if r := turns[0]; len(r.StopReason) > 1030 || !utf8.ValidString(r.Session) || r.Start != 0 {
		t.Errorf("got %+v", r)
	}
}

// The columns are what people have written queries for.
func TestSchema(t *testing.T) {
	var got strings.Builder
	for _, schema := range []*parquet.Schema{
		parquet.SchemaOf(lake.Turn{}), parquet.SchemaOf(lake.Tool{}), parquet.SchemaOf(lake.Call{}), parquet.SchemaOf(lake.Frame{}),
	} {
		got.WriteString(schema.String() + "\n")
	}
	golden(t, "testdata/schema.txt", got.String())
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
