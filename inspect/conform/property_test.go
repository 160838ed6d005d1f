package conform_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/inspect/conform/testdata/conformtest"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// A conversation is a tape, or an example of a rule.
type conversation struct {
	name   string
	frames []dialect.Frame
}

// conversations are all examples, and the tapes of testdata.
func conversations(t testing.TB) (all []conversation) {
	t.Helper()
	for _, rule := range conform.Rules() {
		_, examples, err := conform.Examples(rule.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range examples {
			all = append(all, conversation{rule.ID + " " + x.Name, framesOf(t, x.Text)})
		}
	}
	root := filepath.Join("..", "..", "testdata", "tapes")
	for _, pattern := range []string{"*.jsonl", filepath.Join("dialects", "*.jsonl")} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			all = append(all, conversation{filepath.Base(file), tapeFrames(t, file)})
		}
	}
	return all
}

func tapeFrames(t testing.TB, file string) (frames []dialect.Frame) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tape, err := record.ReadPortable(bytes.NewReader(data), file)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range tape.Frames(1) {
		if err != nil {
			t.Fatal(err)
		}
		f.Raw = bytes.Clone(f.Raw)
		frames = append(frames, f)
	}
	return frames
}

// annotated returns frames with their meaning if only they are on the tape.
func annotated(frames []dialect.Frame) []dialect.Frame {
	tracker := dialect.NewTracker(dialect.AnyProtocol)
	again := make([]dialect.Frame, len(frames))
	for i, f := range frames {
		a, _ := tracker.Observe(&f.Frame, wire.Scan(f.Raw))
		again[i] = dialect.Frame{Frame: f.Frame, Annotation: a}
	}
	return again
}

// A place is where a rule is broken.
type place struct {
	rule  string
	fault conform.Fault
	seq   uint64
	entry int
	path  string
}

// broken returns where rules are broken in frames; first is how much less their numbers
// are than those on the whole tape.
func broken(frames []dialect.Frame, o conform.Options, first uint64) map[place]bool {
	made := func(f dialect.Frame) bool { return f.Origin != wire.Wire }
	o.Between = slices.ContainsFunc(frames, made)
	c := conform.NewChecker(o)
	for i := range frames {
		c.Add(&frames[i])
	}
	c.End()
	all := make(map[place]bool)
	for _, f := range c.Findings() {
		all[place{f.Rule.ID, f.Fault, f.Seq + first, f.Entry, f.Path}] = true
	}
	return all
}

// added reports what is broken only where frames are missing. Of a row of faults only the first is reported: if that is missing, it
// is the next one, which is nothing new.
func added(t *testing.T, what string, whole, part map[place]bool, missing func(seq uint64) bool) {
	t.Helper()
	for p := range part {
		moved := false
		for w := range whole {
			moved = moved || w.rule == p.rule && w.fault == p.fault && missing(w.seq) && w.seq < p.seq
		}
		if !whole[p] && !moved {
			t.Errorf("%s: adds %+v", what, p)
		}
	}
}

// samples is how many runs of the frames of a conversation are tried, at most.
const samples = 12

var beginning = conform.Options{Beginning: true}

// withoutRun returns frames with a mark in the place of a run of them. The others keep
// their numbers.
func withoutRun(frames []dialect.Frame, from, to int) []dialect.Frame {
	gap := dialect.Frame{Frame: wire.Frame{
		Seq: frames[from].Seq, At: frames[from].At, Dir: frames[from].Dir, Kind: wire.Mark, Raw: wire.Marked{Gap: 100}.JSON(),
	}}
	return annotated(slices.Concat(frames[:from], []dialect.Frame{gap}, frames[to:]))
}

// beginsAgain reports whether a frame begins another connection of a tape.
func beginsAgain(f dialect.Frame) bool {
	return f.Method == "initialize" && f.Seq > 1 && f.Kind == wire.Request
}

// TestGapsAddNothing: if a run of frames is missing, and a mark says so, there is no finding
// that the whole tape does not have.
func TestGapsAddNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range conversations(t) {
		whole, n := broken(c.frames, beginning, 0), len(c.frames)
		if n == 0 {
			continue
		}
		try := func(from, to int) {
			if slices.ContainsFunc(c.frames[from:to], beginsAgain) {
				return // each connection that acptap records has a tape of its own, so no gap hides the beginning of another
			}
			missing := func(seq uint64) bool { return seq >= c.frames[from].Seq && seq <= c.frames[to-1].Seq }
			added(t, fmt.Sprintf("%s without frames %d to %d", c.name, from+1, to), whole, broken(withoutRun(c.frames, from, to), beginning, 0), missing)
		}
		for i := 0; i < n; i += 1 + n/samples {
			try(i, i+1)
		}
		for range min(n, samples) {
			from := random.IntN(n)
			try(from, from+1+random.IntN(n-from))
		}
	}
}

// TestCutsAddNothing: a tape without its beginning, its end, or both has no finding that the
// whole tape does not have.
func TestCutsAddNothing(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, c := range conversations(t) {
		whole, n := broken(c.frames, beginning, 0), len(c.frames)
		if n == 0 {
			continue
		}
		try := func(from, to int) {
			if beginsAgain(c.frames[from]) {
				return // what is left looks whole, but answers to requests before it may come
			}
			what := fmt.Sprintf("%s, frames %d to %d", c.name, from+1, to)
			part := annotated(c.frames[from:to])
			missing := func(seq uint64) bool { return seq < part[0].Seq || seq > part[len(part)-1].Seq }
			added(t, what, whole, broken(part, beginning, 0), missing)
			if from == 0 {
				return
			}
			anew := slices.Clone(part)
			for i := range anew {
				anew[i].Seq -= uint64(from)
			}
			added(t, what+", numbered anew", whole, broken(annotated(anew), conform.Options{}, uint64(from)), missing)
		}
		for i := 0; i < n; i += 1 + n/samples {
			try(i, n)
			try(0, i+1)
		}
		for range min(n, samples) {
			from := random.IntN(n)
			try(from, from+1+random.IntN(n-from))
		}
	}
}

// TestSessionsApart: how the frames of two sessions are mixed does not matter to either.
func TestSessionsApart(t *testing.T) {
	const begin = "= v1\n= session\n"
	second := strings.NewReplacer(`"s1"`, `"s2"`, `"id":`, `"id":10`, `"requestId":`, `"requestId":10`)
	random := rand.New(rand.NewPCG(5, 6))
	tried := 0
	for _, rule := range conform.Rules() {
		_, examples, err := conform.Examples(rule.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range examples {
			lines, ok := strings.CutPrefix(strings.TrimSuffix(x.Text, "\n"), begin)
			if !ok || !conformtest.Bad(x) || rule.Needs != conform.Session && rule.Needs != conform.Pair || strings.Contains(lines, "mark") {
				continue
			}
			tried++
			one := strings.Split(lines, "\n")
			two := strings.Split(second.Replace(lines), "\n")
			opened := begin + `> {"id":101,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}` + "\n" + `< {"id":101,"result":{"sessionId":"s2"}}` + "\n"
			want := bySession(t, opened+lines+"\n"+strings.Join(two, "\n"))
			if want["s1"] == "" || want["s1"] != want["s2"] {
				t.Errorf("%s %s: one after the other, found %v", rule.ID, x.Name, want)
			}
			for range 8 {
				mixed := mix(random, one, two)
				if got := bySession(t, opened+strings.Join(mixed, "\n")); !reflect.DeepEqual(got, want) {
					t.Errorf("%s %s: mixed, found %v, want %v\n%s", rule.ID, x.Name, got, want, strings.Join(mixed, "\n"))
				}
			}
		}
	}
	if tried < 10 {
		t.Errorf("only %d examples", tried)
	}
}

// mix merges two lists, each in its order.
func mix(random *rand.Rand, one, two []string) (mixed []string) {
	for len(one)+len(two) > 0 {
		if random.IntN(len(one)+len(two)) < len(one) {
			mixed, one = append(mixed, one[0]), one[1:]
		} else {
			mixed, two = append(mixed, two[0]), two[1:]
		}
	}
	return mixed
}

// bySession returns the rules that are broken, by session.
func bySession(t *testing.T, lines string) map[string]string {
	t.Helper()
	findings := slices.Clone(check(framesOf(t, lines)).Findings())
	slices.SortStableFunc(findings, func(a, b conform.Finding) int { return cmp.Compare(a.Rule.ID, b.Rule.ID) })
	all := make(map[string]string)
	for _, f := range findings {
		all[f.Session] += f.Rule.ID + " " + f.Path + "\n"
	}
	return all
}

// TestSameAgain: two runs over the same frames find the same.
func TestSameAgain(t *testing.T) {
	for _, c := range conversations(t) {
		one, two := check(c.frames), check(c.frames)
		if !reflect.DeepEqual(one.Findings(), two.Findings()) || !reflect.DeepEqual(one.Verdicts(), two.Verdicts()) {
			t.Errorf("%s: two runs differ", c.name)
		}
	}
}

// FuzzCheck feeds a Checker with any lines: it accepts all, accuses one of the two sides,
// never above the strength of the clause, and finds the same again.
func FuzzCheck(f *testing.F) {
	for _, rule := range conform.Rules() {
		_, examples, err := conform.Examples(rule.ID)
		if err != nil {
			f.Fatal(err)
		}
		for _, x := range examples {
			var b bytes.Buffer
			for _, frame := range framesOf(f, x.Text) {
				b.WriteByte("><!"[min(int(frame.Dir), 2)])
				b.Write(frame.Raw)
				b.WriteByte('\n')
			}
			f.Add(b.Bytes(), uint16(3), false)
			f.Add(bytes.ReplaceAll(b.Bytes(), []byte(`s1`), []byte("\xff")), uint16(5), true)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, next uint16, between bool) {
		var frames []dialect.Frame
		tracker := dialect.NewTracker(dialect.AnyProtocol)
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			frame := anyFrame(line)
			frame.Seq = uint64(len(frames)) + 1 + uint64(len(line)/200) // some are missing
			if between {
				frame.Origin = wire.Origin(len(line) % 4)
			}
			a, _ := tracker.Observe(&frame, wire.Scan(frame.Raw))
			frames = append(frames, dialect.Frame{Frame: frame, Annotation: a})
		}
		run := func() []conform.Finding {
			c := conform.NewChecker(conform.Options{Beginning: true, Between: between, Own: between})
			for i := range frames {
				if i == int(next) {
					c.Next(true)
				}
				c.Add(&frames[i])
			}
			c.End()
			for i := range frames {
				c.AddLossy(frames[i].Seq, "lossy")
			}
			return c.Findings()
		}
		found := run()
		for _, one := range found {
			if one.Fault == conform.Sender || one.Strength == conform.None || one.Strength > one.Clause.Strength || one.Text == "" || one.Seq == 0 {
				t.Errorf("%s: %+v", one.Rule.ID, one)
			}
		}
		if !reflect.DeepEqual(run(), found) {
			t.Error("two runs differ")
		}
	})
}

// anyFrame reads a line that begins with > or < for its direction, or with ! for a mark;
// one that is longer than 300 bytes is cut off, and taken as too large to be read whole.
func anyFrame(line []byte) wire.Frame {
	f := wire.Frame{At: time.Duration(len(line)) * time.Millisecond, Untimed: len(line)%32 == 31, Size: int64(len(line))}
	if len(line) == 0 {
		return f
	}
	f.Raw = line[1:]
	switch line[0] {
	case '<':
		f.Dir = wire.AgentToClient
	case '!':
		f.Kind, f.Dir = wire.Mark, wire.Direction(len(line)%2)
		return f
	}
	if f.Kind = wire.Scan(f.Raw).Kind; len(f.Raw) > 300 && f.Kind != wire.Batch {
		f.Kind, f.Raw = wire.Oversized, f.Raw[:len(f.Raw)/2]
	}
	return f
}

// TestMemory: memory is bounded, however many sessions, requests and tool calls there are.
func TestMemory(t *testing.T) {
	const limit = 24 << 20
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	const n = 70_000 // above each bound
	line := func(format string) func(i int) []byte {
		return func(i int) []byte { return fmt.Appendf(nil, strings.ReplaceAll(format, "#", "%[1]d"), i) }
	}
	for _, tt := range []struct {
		name string
		make []func(i int) []byte // a line for each direction in turn; the first is the client's
	}{
		{"sessions", []func(i int) []byte{
			line(`{"jsonrpc":"2.0","id":#,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`),
			line(`{"jsonrpc":"2.0","id":#,"result":{"sessionId":"session-#"}}`),
		}},
		{"requests", []func(i int) []byte{
			line(`{"jsonrpc":"2.0","id":"request-#","method":"session/list","params":{"cursor":"#"}}`),
			line(`{"jsonrpc":"2.0","id":"ask-#","method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"asked-#"},"options":[]}}`),
		}},
		{"tool calls", []func(i int) []byte{
			nil,
			line(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"tool_call","toolCallId":"call-#","title":"t"}}}`),
			nil,
			line(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","messageId":"m-#","content":{"type":"text","text":"t"}}}}`),
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := live()
			tracker := dialect.NewTracker(dialect.ACP)
			c := conform.NewChecker(conform.Options{Beginning: true})
			seq := uint64(0)
			add := func(dir wire.Direction, raw []byte) {
				seq++
				f := wire.Frame{Seq: seq, At: time.Duration(seq) * time.Millisecond, Dir: dir, Raw: raw, Size: int64(len(raw))}
				e := wire.Scan(raw)
				f.Kind = e.Kind
				a, _ := tracker.Observe(&f, e)
				c.Add(&dialect.Frame{Frame: f, Annotation: a})
			}
			for _, f := range framesOf(t, "= v1\n= session\n"+strings.Split(aTurn, "\n")[0]+"\n") {
				add(f.Dir, f.Raw)
			}
			full := int64(0)
			for i := range n + n/2 {
				if i == n {
					full = live()
				}
				for k, make := range tt.make {
					if make != nil {
						add(wire.Direction(k%2), make(i))
					}
				}
			}
			grown := live() - full
			runtime.KeepAlive(tracker)
			used := live() - before // without the tracker
			if used > limit {
				t.Errorf("%d MiB after %d of each, want at most %d", used>>20, n+n/2, limit>>20)
			}
			if grown > 2<<20 {
				t.Errorf("%d KiB more after %d of each than after %d", grown>>10, n+n/2, n)
			}
			t.Logf("%.1f MiB, %d KiB of them for the last %d", float64(used)/(1<<20), grown>>10, n/2)
			runtime.KeepAlive(c)
		})
	}
}

// live returns how many bytes of the heap are in use.
func live() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
