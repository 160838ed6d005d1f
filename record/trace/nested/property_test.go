package nested_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
	"github.com/acptap/acptap/record/trace/nested"
)

// A shape is how the tool calls of a generated scene tell which calls they lead to.
type shape struct {
	name     string
	fields   func(n int, server, tool string) string // of the tool call
	meta     func(n int) string                      // of the MCP request
	parallel int                                     // so many at once
	gaps     string                                  // where frames may be missing without a call and a tool call being left that look like each other: servers, one or both
}

var shapes = []shape{
	{"id", func(int, string, string) string { return "" }, func(n int) string { return fmt.Sprintf(`,"_meta":{"x/toolUseId":"t%d"}`, n) }, 5, "both"},
	{"name", func(_ int, server, tool string) string { return `,"title":"mcp__` + server + `__` + tool + `"` }, nil, 1, "servers"},
	{"name and arguments", func(n int, server, tool string) string {
		return fmt.Sprintf(`,"title":"%s_%s","rawInput":{"n":%d}`, server, tool, n)
	}, nil, 5, "one"},
	{"input", func(n int, server, tool string) string {
		return fmt.Sprintf(`,"rawInput":{"server":"%s","tool":"%s","arguments":{"n":%d}}`, server, tool, n)
	}, nil, 5, "one"},
}

// generate makes a scene of n tool calls in turns of up to ten. Tool call tN leads to the
// call with the argument N.
func generate(r *rand.Rand, s shape, n int) scene {
	type event struct {
		at   int // ms
		text string
	}
	servers := []server{{name: "everything", link: "aaaaaaaa"}, {name: "other-one", link: "bbbbbbbb"}}
	texts := make([][]event, 3) // of the servers, and of the agent
	say := func(tape, at int, text string) {
		list := append(texts[tape], event{at, text})
		for i := len(list) - 1; i > 0 && list[i].at < list[i-1].at; i-- {
			list[i], list[i-1] = list[i-1], list[i]
		}
		texts[tape] = list
	}
	now := 1000
	for i := 0; i < n; {
		say(2, now, fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}`, i+10))
		turn := i + 10
		for k := 0; k < 10 && i < n; {
			end := now
			for range min(s.parallel, n-i) {
				one, tool, at := r.IntN(2), []string{"echo", "get-sum"}[r.IntN(2)], now+5+r.IntN(5)
				fields := s.fields(i, servers[one].name, tool)
				meta := ""
				if s.meta != nil {
					meta = s.meta(i)
				}
				took := 5 + r.IntN(30)
				say(2, at, fmt.Sprintf(`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"t%d"%s}}}`, i, fields))
				say(one, at+1, fmt.Sprintf(`> {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"%s","arguments":{"n":%d}%s}}`, i, tool, i, meta))
				say(one, at+1+took, fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`, i))
				say(2, at+2+took, fmt.Sprintf(`< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"t%d","status":"completed"}}}`, i))
				end = max(end, at+3+took)
				i, k = i+1, k+1
			}
			now = end
		}
		say(2, now, fmt.Sprintf(`< {"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, turn))
		now += []int{20, 20_000}[r.IntN(2)] // after the second, earlier joins are settled
	}
	var whole [3]strings.Builder
	for i, list := range texts {
		for _, e := range list {
			fmt.Fprintf(&whole[i], "@%dms\n%s\n", e.at, e.text)
		}
	}
	servers[0].text, servers[1].text = whole[0].String(), whole[1].String()
	return scene{head + whole[2].String(), servers}
}

// A reading reads the tapes of a scene in some order.
type reading struct {
	join   nested.Join
	trace  trace.Trace
	agent  []dialect.Frame
	tapes  []*nested.Tape
	nested [][]dialect.Frame
	number map[*nested.Call]string // what tool call it belongs to
}

func newReading(tb testing.TB, s scene) *reading {
	r := &reading{agent: frames(tb, s.agent), number: map[*nested.Call]string{}}
	r.trace.Next(dialect.Connection{})
	r.join.Next("agent", start)
	for i, one := range s.servers {
		t := &nested.Tape{ID: fmt.Sprintf("tape%d", i), Parent: "agent", Link: one.link, Server: one.name, Start: start}
		r.tapes, r.nested = append(r.tapes, t), append(r.nested, frames(tb, one.text))
	}
	return r
}

// step reads the next frame of a tape, the agent's being the last.
func (r *reading) step(i int) bool {
	if i == len(r.tapes) {
		if len(r.agent) == 0 {
			return false
		}
		r.trace.Add(&r.agent[0])
		r.join.Take(&r.agent[0], &r.trace)
		r.agent = r.agent[1:]
		return true
	}
	if len(r.nested[i]) == 0 {
		return false
	}
	f := r.nested[i][0]
	r.nested[i] = r.nested[i][1:]
	r.tapes[i].Add(&f)
	if f.Method == "tools/call" && f.Request == 0 {
		_, n, _ := strings.Cut(string(f.Raw), `"arguments":{"n":`)
		n, _, _ = strings.Cut(n, "}")
		r.number[r.tapes[i].Calls[len(r.tapes[i].Calls)-1]] = "t" + n
	}
	return true
}

// finish reads the rest of the tapes, in the given order.
func (r *reading) finish(order []int) {
	for _, i := range order {
		for r.step(i) {
		}
	}
	r.join.End()
	for _, t := range r.tapes {
		t.End()
	}
}

// wrong returns the false joins, and how many calls are joined.
func (r *reading) wrong() (false []string, joined int) {
	for _, s := range r.trace.Sessions {
		for _, e := range s.Conversation.Entities {
			for _, c := range r.join.Of(e) {
				if c.By == nested.NoEvidence {
					continue
				}
				if joined++; r.number[c.Call] != e.ToolCall.ID {
					false = append(false, fmt.Sprintf("%s has the call of %s by %v", e.ToolCall.ID, r.number[c.Call], c.By))
				}
			}
		}
	}
	return false, joined
}

// TestAnyOrder reads tapes in any order, looking in between: the joins are the same, and
// all are true.
func TestAnyOrder(t *testing.T) {
	for _, s := range shapes {
		for seed := range uint64(40) {
			random := rand.New(rand.NewPCG(seed, 1))
			sc := generate(random, s, 30)
			r := newReading(t, sc)
			r.join.Nested(r.tapes[0])
			if seed%3 == 0 { // the other tape is found when all else was joined
				for _, i := range random.Perm(2) {
					for r.step(2 * i) {
					}
				}
				r.tapes[0].End()
				r.wrong()
			}
			r.join.Nested(r.tapes[1])
			if seed%2 == 0 {
				for range 200 {
					r.step(random.IntN(3))
					if random.IntN(10) == 0 {
						r.wrong()
					}
				}
			}
			r.finish(random.Perm(3))
			if wrong, joined := r.wrong(); wrong != nil || joined != 30 {
				t.Errorf("%s, seed %d: %d joined; %s", s.name, seed, joined, strings.Join(wrong, "; "))
			}
		}
	}
}

// TestGaps reads tapes with missing frames, on the agent's side or the servers', or on both
// if no calls and tool calls that look alike remain: less is joined, and nothing falsely.
func TestGaps(t *testing.T) {
	for _, s := range shapes {
		all := 0
		for seed := range uint64(200) {
			random := rand.New(rand.NewPCG(seed, 2))
			r := newReading(t, generate(random, s, 30))
			lose := func(list []dialect.Frame, first int) []dialect.Frame {
				var left []dialect.Frame
				for i, f := range list {
					if i < first || random.IntN(5) > 0 {
						left = append(left, f)
					}
				}
				return left
			}
			if s.gaps == "both" || s.gaps == "one" && seed%2 == 0 {
				r.agent = lose(r.agent, 5)
			}
			for i, list := range r.nested[:1+seed%2] { // else the other tape is gone
				r.join.Nested(r.tapes[i])
				if s.gaps != "one" || seed%2 == 1 {
					r.nested[i] = lose(list[random.IntN(5):], 0)
				}
			}
			r.finish([]int{2, 0, 1})
			wrong, joined := r.wrong()
			if all += joined; wrong != nil {
				t.Errorf("%s, seed %d: %s", s.name, seed, strings.Join(wrong, "; "))
			}
		}
		if all < 200*10 {
			t.Errorf("%s: only %d calls are joined", s.name, all)
		}
	}
}

// BenchmarkJoin joins 100,000 calls in turns of ten.
func BenchmarkJoin(b *testing.B) {
	calls := 100_000
	if testing.Short() {
		calls = 5000
	}
	for _, s := range shapes {
		b.Run(strings.ReplaceAll(s.name, " ", "-"), func(b *testing.B) {
			sc := generate(rand.New(rand.NewPCG(1, 1)), s, calls)
			for b.Loop() {
				b.StopTimer()
				r := newReading(b, sc)
				for _, one := range r.tapes {
					r.join.Nested(one)
				}
				b.StartTimer()
				r.finish([]int{2, 0, 1})
				began := time.Now()
				if wrong, joined := r.wrong(); wrong != nil || joined != calls {
					b.Fatalf("%d joined; %d wrong", joined, len(wrong))
				}
				b.ReportMetric(float64(time.Since(began).Milliseconds()), "ms-pairing")
			}
			b.ReportAllocs()
		})
	}
}
