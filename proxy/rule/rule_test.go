package rule_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/proxy/wire"
)

var goodRules = []struct{ text, want string }{
	{"", ""},
	{"# nothing\n\n  # here\n", ""},
	{"method:a => drop", "method:a => drop\n"},
	{"=> drop", "=> drop\n"},
	{"  method:a=>b   =>   drop  # why", "method:a=>b => drop\n"},
	{"@late method:session/prompt kind:response => delay 2s..5s [chance 30%]", "@late method:session/prompt kind:response => delay 2s..5s [chance 30%]\n"},
	{"\"a => b\" => drop", "\"a => b\" => drop\n"},
	{"update:x\n  => answer {\"a\":\n [1, \"# no comment\"]} # but this\n [once,\n  per session]\nmethod:b => pass", "update:x => answer {\"a\":  [1, \"# no comment\"]} [once, per session]\nmethod:b => pass\n"},
	{"a => inject before stderr \"some text\" [near agent, may]", "a => inject before stderr \"some text\" [near agent, may]\n"},
	{"a => set params.x ${params.list.#.y}", "a => set params.x ${params.list.#.y}\n"},
	{"a => replace `a.b c` /x y\\/z/]/ [first 2]", "a => replace `a.b c` /x y\\/z/]/ [first 2]\n"},
	{"use late-response after=1s\nlacks session/load session/list\nseed 9", "use late-response after=1s\nlacks session/load session/list\nseed 9\n"},
	{"a => answer [1, {\"b\":[]}] [once]\r\nb => split utf8\r\n", "a => answer [1, {\"b\":[]}] [once]\nb => split utf8\n"},
}

func TestParse(t *testing.T) {
	for _, tt := range goodRules {
		s, err := rule.Parse("x.rules", tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
			continue
		}
		if got := s.String(); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
		again, err := rule.Parse("x.rules", tt.want)
		if err != nil || again.String() != tt.want {
			t.Errorf("%q: read again: %q, %v", tt.text, again.String(), err)
		}
	}
}

var badRules = []struct{ text, want string }{
	{"method:a", "x.rules:1:9: => and an action are missing: FILTER => ACTION, with blanks around =>\nmethod:a\n        ^\n"},
	{"method:a => dely 1s", "x.rules:1:13: \"dely\" is not an action; expected one of delay slow split drop duplicate postpone stall hold set delete replace corrupt truncate answer error inject noise die hangup kill mark pass\nmethod:a => dely 1s\n            ^\n"},
	{"# first\n@x mehtod:a => drop", "x.rules:2:4: \"mehtod\" is not a key (quote a text that has : = < > or ~ in it); expected one of method"},
	{"日 seq:1 => drop", "x.rules:1:3: seq:1 is not known while frames pass: a frame has no number before it is on the tape\n日 seq:1 => drop\n   ^\n"},
	{"is:open => drop", "x.rules:1:1: is:open is not known while frames pass"},
	{"failure:gap => drop", "failure:gap is not known while frames pass: a mark is on the tape and passes nobody"},
	{"failure:exit => drop", "failure:exit is not known while frames pass: a mark is on the tape and passes nobody"},
	{`a outcome:"agent died" => drop`, `outcome:"agent died" is not known while frames pass: a mark is on the tape and passes nobody`},
	{"(a | !kind:mark) => drop", "kind:mark is not known while frames pass: a mark is on the tape and passes nobody"},
	{"dir:err => drop", "dir:err is not known"},
	{"rule:ACP1 => drop", "findings are known once the tape is checked"},
	{"a => delay", "x.rules:1:11: a delay is 2s"},
	{"a => delay 5s..2s", "a delay is 2s"},
	{"a => answer {\"x\":}", "x.rules:1:13: not JSON"},
	{"a => answer {\"x\":$y}", "a value of the frame is written ${PATH}"},
	{"a => answer {\"x\":${@pretty}}", "a path selects values"},
	{"a => answer", "the result is missing: JSON"},
	{"a => drop now", "too much here: options stand in [ ]"},
	{"a => drop [twice]", "x.rules:1:12: \"twice\" is not an option; expected one of once, first N"},
	{"a => drop [once", "unmatched ["},
	{"a => drop [once, nth 3]", "x.rules:1:18: take only one of once, first, nth and every: each counts all frames that fit"},
	{"a => drop [every 5, first 3]", "take only one of once, first, nth and every"},
	{"a => drop [every 2, nth 4]", "take only one of once, first, nth and every"},
	{"a => drop [first 3, once]", "take only one of once, first, nth and every"},
	{"a => drop [per turn, may, per session]", "x.rules:1:27: the option per is there twice"},
	{"a => drop [chance 0%]", "x.rules:1:12: with a chance of 0% the rule never hits"},
	{"a => drop [chance 30]", "a chance is written 30%"},
	{"a => replace x /(/b/", "missing closing )"},
	{"a => replace x y", "/RE2/TEXT/"},
	{"a => corrupt all", "is not a kind of damage"},
	{"a => kill STOPP", "a signal is missing; expected one of HUP"},
	{"a => die status 300", "at most 255"},
	{"a => inject client", "the line is missing"},
	{"a => inject 0 client 1", "how often is a number, at least 1"},
	{"a => inject 10001 client 1", "x.rules:1:13: at most 10000 times"},
	{"a => inject everybody 1", "who gets the line is missing; expected one of client agent stderr before"},
	{"use late", "x.rules:1:5: \"late\" is not a fault; did you mean late-update or late-response?"},
	{"use late-response afte=1s", "\"afte=1s\" is not a parameter of late-response: it takes after=VALUE"},
	{"use late-response after=soon", "with these values the rules of late-response are wrong"},
	{"use bom\nuse bom", "bom is used twice"},
	{"lacks session/laod", "\"session/laod\" is not a method"},
	{"lacks", "a method is missing"},
	{"seed x", "a seed is a number"},
	{"seed 1 2", "\"2\" is too much here"},
	{"@a x => drop\n@a y => drop", "x.rules:2:1: the name a is taken, in x.rules:1"},
	{"@ä x => drop", "a name is made of letters"},
	{strings.Repeat("x => drop\n", 257), "there are more than 256 rules"},
}

func TestParseWrong(t *testing.T) {
	for _, tt := range badRules {
		_, err := rule.Parse("x.rules", tt.text)
		var wrong *rule.SyntaxError
		if !errors.As(err, &wrong) {
			t.Errorf("%.40q: got %v", tt.text, err)
			continue
		}
		if got := wrong.Error() + "\n" + wrong.Caret(); !strings.Contains(got, tt.want) {
			t.Errorf("%.40q: got\n%s\nwant\n%s", tt.text, got, tt.want)
		}
	}
}

// FuzzParse: a Set that Parse accepts can be written and parsed again.
func FuzzParse(f *testing.F) {
	for _, tt := range goodRules {
		f.Add(tt.text)
	}
	for _, tt := range badRules {
		f.Add(tt.text)
	}
	files, _ := filepath.Glob("testdata/actions/*.txtar")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		_, text, _ = bytes.Cut(text, []byte("-- rules --\n"))
		text, _, _ = bytes.Cut(text, []byte("-- traffic --\n"))
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := rule.Parse("x", text)
		if err != nil {
			var wrong *rule.SyntaxError
			if !errors.As(err, &wrong) {
				t.Fatalf("%v", err)
			}
			wrong.Caret()
			return
		}
		again, err := rule.Parse("x", s.String())
		if err != nil {
			t.Fatalf("%q from %q: %v", s.String(), text, err)
		}
		if again.String() != s.String() {
			t.Fatalf("got %q, want %q", again.String(), s.String())
		}
		e := s.Chain(1)
		feed(e[0], `{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"日"}]}}`)
	})
}

// feed shows a frame of each direction to an interceptor, and asks it for the pace of each
// frame that comes out.
func feed(i proxy.Interceptor, line string) {
	if _, ok := i.(*rule.Engine); ok {
		i.Start(proxy.Handle{Exit: func(int, os.Signal) {}, HangUp: func() {}, Signal: func(os.Signal) {}})
	}
	for _, dir := range []wire.Direction{wire.ClientToAgent, wire.AgentToClient} {
		for _, f := range i.Intercept(wire.Frame{Dir: dir, Raw: []byte(line), End: wire.LF, Size: int64(len(line))}, nil) {
			if f.Kind != wire.Mark && f.Dir != wire.AgentStderr {
				i.(proxy.Pacer).Pace(f)
			}
		}
		i.End(dir, nil)
	}
}

// TestNear: a rule near the agent sees what an interceptor in between has made; a rule near
// the client does not.
func TestNear(t *testing.T) {
	set, err := rule.Parse("rules", "@agent extra => mark there [near agent, may]\n@client extra => mark here [may]")
	if err != nil {
		t.Fatal(err)
	}
	got := converse(t, set, []proxy.Interceptor{&adder{}}, "> {\"method\":\"a\"}\n").String()
	if !strings.Contains(got, "mark agent frames=1: there") || strings.Contains(got, "mark client") {
		t.Error(got)
	}
}

// TestNearAdded: the same is true of rules that users add.
func TestNearAdded(t *testing.T) {
	d := &desk{Desk: rule.NewDesk(), users: map[string]*rule.User{}}
	set := &rule.Set{}
	set.Attend(d.Desk)
	got := converseWith(t, set, []proxy.Interceptor{&adder{}}, "! ann looks\n! ann adds @agent extra => mark there [near agent]\n! ann adds @client extra => mark here\n> {\"method\":\"a\"}\n", d.do).String()
	if !strings.Contains(got, "mark agent frames=1: there") || strings.Contains(got, "mark client") {
		t.Error(got)
	}
	if n := strings.Count(got, "seed 0"); n != 1 {
		t.Errorf("the rules are noted %d times", n)
	}
}

// An adder sends one more frame to the agent.
type adder struct{}

func (*adder) Start(proxy.Handle) {}
func (*adder) Intercept(f wire.Frame, out []wire.Frame) []wire.Frame {
	return append(out, f, wire.Frame{Dir: wire.ClientToAgent, Raw: []byte(`{"method":"extra"}`)})
}
func (*adder) End(wire.Direction, []wire.Frame) ([]wire.Frame, <-chan struct{}) { return nil, nil }
func (*adder) Held() []wire.Frame                                               { return nil }

// TestNothingFits: ten rules that match nothing change no byte, and leave two marks.
func TestNothingFits(t *testing.T) {
	set, err := rule.Parse("rules", unfit(10))
	if err != nil {
		t.Fatal(err)
	}
	traffic, err := os.ReadFile("testdata/acp.traffic")
	if err != nil {
		t.Fatal(err)
	}
	c := converse(t, set, nil, string(traffic))
	without := converse(t, &rule.Set{}, nil, string(traffic))
	if c.client.text() != without.client.text() || c.agent.text() != without.agent.text() || c.code != without.code {
		t.Errorf("got\n%s\nwant\n%s", c, without)
	}
	if n := strings.Count(c.tape.log.String(), " mark "); n != 2 {
		t.Errorf("%d marks", n)
	}
}

// TestLongLine: the first line that is too long for rules is marked.
func TestLongLine(t *testing.T) {
	set, err := rule.Parse("rules", "@all => mark seen")
	if err != nil {
		t.Fatal(err)
	}
	long := "< " + strings.Repeat("x", 17<<20) + "\n"
	got := converse(t, set, nil, "< {\"method\":\"a\"}\n"+long+long).tape.log.String()
	if n := strings.Count(got, "a2c mark rules frames=1: no rule sees a line over 16 MiB: this one"); n != 1 || strings.Count(got, "mark all") != 1 {
		t.Errorf("%d marks of long lines in\n%s", n, got)
	}
}

// TestTrial: a trial on recorded frames has the same hits as the run under the same rules and
// seed.
func TestTrial(t *testing.T) {
	set, err := rule.Parse("rules", `seed 3
@all => mark seen [chance 40%]
@once update:* => set params.x 1 [once, per turn]
@near update:tool_call => mark seen [near agent]
@gone update:tool_call => drop [near agent]
@unseen update:tool_call => mark seen [may]
@late update:* turn:1 => delay 1s [every 2]
@refused method:fs/* kind:request => error 1 no
@lost kind:response method:session/prompt => pass
@never kind:response => mark seen [after 7]
`)
	if err != nil {
		t.Fatal(err)
	}
	traffic, err := os.ReadFile("testdata/acp.traffic")
	if err != nil {
		t.Fatal(err)
	}
	seed, _ := set.Seed()
	trial, seq := set.Try(seed), uint64(0)
	for line := range strings.Lines(string(traffic)) {
		dir, ok := map[string]wire.Direction{"> ": wire.ClientToAgent, "< ": wire.AgentToClient}[line[:2]]
		if raw := []byte(strings.TrimSpace(line[2:])); ok {
			seq++
			trial.Observe(&wire.Frame{Seq: seq, Dir: dir, Kind: wire.Scan(raw).Kind, Raw: raw, End: wire.LF, Size: int64(len(raw))})
		}
	}
	run := converse(t, set, nil, string(traffic)).tape.log.String()
	for _, h := range trial.Hits() {
		if h.Rule.Name == "lost" {
			continue // it leaves no marks
		}
		if n := strings.Count(run, " mark "+h.Rule.Name+" "); n != h.Count && h.Rule.Name != "refused" || n < h.Count {
			t.Errorf("%s: %d hits in the trial, %d marks of the run", h.Rule.Name, h.Count, n)
		}
	}
}

// unfit returns the text of n rules that match no frame.
func unfit(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "method:vendor/m%d kind:request => drop\n", i)
	}
	return b.String()
}

func BenchmarkEngine(b *testing.B) {
	line := []byte(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"0b6d3a52-5d0c-4a7e-9a61-4f1f1b0c3a11","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"` + strings.Repeat("some words ", 16) + `"}}}}`)
	for name, rules := range map[string]string{"0": "", "1": unfit(1), "10": unfit(10), "30": unfit(30), "10+lacks": unfit(9) + "lacks session/load session/list"} {
		b.Run(name, func(b *testing.B) {
			set, err := rule.Parse("rules", rules)
			if err != nil {
				b.Fatal(err)
			}
			e := set.Chain(1)[0]
			e.Start(proxy.Handle{})
			f := wire.Frame{Dir: wire.AgentToClient, Raw: line, End: wire.LF, Size: int64(len(line))}
			var out []wire.Frame
			b.ReportAllocs()
			for b.Loop() {
				out = e.Intercept(f, out[:0])
				e.(proxy.Pacer).Pace(f)
			}
		})
	}
}
