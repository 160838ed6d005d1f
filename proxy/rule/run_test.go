package rule_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/acptap/acptap/inspect/conform"
	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/proxy/wire"
)

var (
	update = flag.Bool("update", false, "rewrite the golden files")
	rounds = flag.Int("rounds", 100, "how many sets of rules TestRandom makes")
)

// A receiver logs the lines that it receives, with their times and the number of writes.
type receiver struct {
	mu    sync.Mutex
	began time.Time
	log   strings.Builder
	n     int // bytes
	at    time.Duration
	newly []byte // received at that time
}

func (r *receiver) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n += len(p)
	if at := time.Since(r.began); at != r.at {
		r.note()
		r.at = at
	}
	r.newly = append(r.newly, p...)
	return len(p), nil
}

// note logs the lines received at the last time.
func (r *receiver) note() {
	for line := range bytes.Lines(r.newly) {
		text := fmt.Sprintf("%.300q", line)
		if len(line) > 300 {
			text = fmt.Sprintf("%.60q and so on, %d bytes", line, len(line))
		}
		fmt.Fprintf(&r.log, "%v %s\n", r.at, text)
	}
	r.newly = nil
}

// text returns the log.
func (r *receiver) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note()
	return r.log.String()
}

func (r *receiver) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note()
	fmt.Fprintf(&r.log, "%v closed\n", time.Since(r.began))
	return nil
}

// A tape notes what is on the tape, and counts bytes.
type tape struct {
	mu                   sync.Mutex
	log                  strings.Builder
	wire, withheld, made [wire.Directions]int
	noise                int // lines of stderr
	tracker              *dialect.Tracker
	frames               []dialect.Frame
}

func (t *tape) Append(dir wire.Direction, origin wire.Origin, p []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch origin {
	case wire.Wire:
		t.wire[dir] += len(p)
	case wire.Withheld:
		t.withheld[dir] += len(p)
	default:
		t.made[dir] += len(p)
	}
	for line := range bytes.Lines(p) {
		t.frame(dir, origin, line)
		if dir == wire.AgentStderr {
			if t.noise++; t.noise > 3 {
				continue
			}
		}
		text := fmt.Sprintf("%q", line)
		if len(text) > 300 {
			text = fmt.Sprintf("%.60s and so on, %d bytes", text, len(line))
		}
		fmt.Fprintf(&t.log, "%v %v %s\n", dir, origin, text)
	}
	return nil
}

// frame keeps a line as a frame.
func (t *tape) frame(dir wire.Direction, origin wire.Origin, line []byte) {
	if t.tracker == nil {
		t.tracker = dialect.NewTracker(dialect.AnyProtocol)
	}
	raw := bytes.Clone(bytes.TrimRight(line, "\r\n"))
	f := wire.Frame{Seq: uint64(len(t.frames) + 1), Dir: dir, Origin: origin, Kind: wire.Stderr, Raw: raw, End: wire.LF, Size: int64(len(raw))}
	env := wire.Envelope{}
	if dir != wire.AgentStderr {
		env = wire.Scan(raw)
		f.Kind = env.Kind
	}
	a, _ := t.tracker.Observe(&f, env)
	f.Failed = dialect.Failed(env, &a)
	t.frames = append(t.frames, dialect.Frame{Frame: f, Annotation: a})
}

func (t *tape) say(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	fmt.Fprintf(&t.log, format+"\n", args...)
}

func (t *tape) EOF(wire.Direction)                       {} // in any order
func (t *tape) ReadFailed(dir wire.Direction, err error) { t.say("%v %v", dir, err) }
func (t *tape) Signal(sig os.Signal)                     { t.say("signal %v", sig) }
func (t *tape) Fault(err error)                          { t.say("fault %v", err) }
func (t *tape) StartFailed(code int, err error)          { t.say("%d %v", code, err) }
func (t *tape) Note(dir wire.Direction, m wire.Marked) {
	t.say("%v mark %s frames=%d: %s", dir, m.Rule.Name, m.Rule.Frames, strings.ReplaceAll(m.Rule.Did, "\n", "; "))
}

func (t *tape) Exit(code int, sig os.Signal, delivered [wire.Directions]int64) {
	t.say("exit %d %v", code, sig)
}

// A conversation holds what client and agent said under rules, and the effects.
type conversation struct {
	client, agent, stderr receiver
	tape                  tape
	chain                 []proxy.Interceptor
	code                  int
}

// converse plays traffic through a proxy under rules: lines after > are the client's, those
// after < the agent's, those after 2 the agent's stderr, those after 1 the agent's without a
// line end; "wait 2s" lets time pass. Each line takes full effect before the next one is
// said.
func converse(t *testing.T, rules *rule.Set, inner []proxy.Interceptor, traffic string) *conversation {
	t.Helper()
	return converseWith(t, rules, inner, traffic, nil)
}

// converseWith is converse with a user, who executes the commands in lines after !.
func converseWith(t *testing.T, rules *rule.Set, inner []proxy.Interceptor, traffic string, user func(command string)) *conversation {
	t.Helper()
	c := &conversation{}
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c.client.began, c.agent.began, c.stderr.began = began, began, began
		seed, _ := rules.Seed()
		c.chain = rules.Chain(seed, inner...)
		const most = 100 // lines of traffic
		say, log := make(chan string, most), make(chan string, most)
		peer := &proxy.Peer{Run: func(ctx context.Context, in io.Reader, out, errOut io.Writer) int {
			read := make(chan struct{})
			go func() {
				defer close(read)
				io.Copy(&c.agent, in)
				c.agent.Close()
			}()
			for {
				select {
				case line, ok := <-say:
					if !ok {
						<-read
						return 0
					}
					io.WriteString(out, line)
				case text := <-log:
					io.WriteString(errOut, text)
				case <-ctx.Done():
					return 1
				}
			}
		}}
		in, stdin := io.Pipe()
		asks := make(chan string, most)
		go func() {
			for line := range asks {
				io.WriteString(stdin, line)
			}
			stdin.Close()
		}()
		p := &proxy.Proxy{In: in, Out: &c.client, Err: &c.stderr, Journal: &c.tape, Interceptors: c.chain, Peer: peer}
		done := make(chan error)
		go func() { done <- p.Run(t.Context()) }()
		synctest.Wait()
		for line := range strings.Lines(traffic) {
			who, text := line[:min(2, len(line))], line[min(2, len(line)):]
			switch who {
			case "> ":
				asks <- text
			case "< ":
				say <- text
			case "2 ":
				log <- text
			case "1 ":
				log <- strings.TrimSuffix(text, "\n")
			case "! ":
				user(strings.TrimSpace(text))
			case "wa":
				d, err := time.ParseDuration(strings.TrimSpace(strings.TrimPrefix(text, "it ")))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(d)
			}
			synctest.Wait()
		}
		close(asks)
		synctest.Wait()
		close(say)
		ended := <-done
		in.Close()
		var exit *proxy.ExitError
		if errors.As(ended, &exit) {
			c.code = exit.Code
		}
	})
	return c
}

// String returns what both sides received and what is on the tape.
func (c *conversation) String() string {
	return fmt.Sprintf("client got:\n%sagent got:\n%sstderr got %d bytes\ntape, with %d lines of stderr:\n%sstatus %d\n", c.client.text(), c.agent.text(), c.stderr.n, c.tape.noise, c.tape.log.String(), c.code)
}

// golden compares got to a file, or writes it with -update.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", file, got, want)
	}
}

// eachCase runs the test of each file in a folder of testdata: it contains rules, traffic,
// and the expected result. The comment at the top explains it.
func eachCase(t *testing.T, folder string, run func(t *testing.T, set *rule.Set, traffic, comment string) string) {
	files, err := filepath.Glob("testdata/" + folder + "/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Files) < 2 || a.Files[0].Name != "rules" || a.Files[1].Name != "traffic" {
				t.Fatal("want rules, traffic and want")
			}
			set, err := rule.Parse("rules", string(a.Files[0].Data))
			if err != nil {
				t.Fatal(err)
			}
			got := run(t, set, string(a.Files[1].Data), string(a.Comment))
			if *update {
				a.Files = append(a.Files[:2:2], txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if len(a.Files) < 3 || string(a.Files[2].Data) != got {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

// TestActions: what actions do.
func TestActions(t *testing.T) {
	eachCase(t, "actions", func(t *testing.T, set *rule.Set, traffic, _ string) string {
		return converse(t, set, nil, traffic).String()
	})
}

// TestFaults: each fault does something to a conversation of its protocol.
func TestFaults(t *testing.T) {
	for _, f := range rule.Faults() {
		protocols := []string{f.Protocol}
		if f.Protocol == "both" {
			protocols = []string{"acp", "mcp"}
		}
		for _, protocol := range protocols {
			t.Run(f.Name+"/"+protocol, func(t *testing.T) {
				traffic, err := os.ReadFile(filepath.Join("testdata", protocol+".traffic"))
				if err != nil {
					t.Fatal(err)
				}
				set := &rule.Set{}
				if err := set.AddFault(f.Name); err != nil {
					t.Fatal(err)
				}
				c := converse(t, set, nil, string(traffic))
				if missed := rule.Missed(c.chain); len(missed) > 0 {
					t.Errorf("never hit: %v", missed)
				}
				if f.Reveals == "" {
					t.Error("it does not say what it reveals")
				}
				golden(t, filepath.Join("testdata", "faults", f.Name+"-"+protocol+".txt"), c.String())
			})
		}
	}
}

// TestBlame: check does not blame the agent for what a fault made.
func TestBlame(t *testing.T) {
	// The agent in the traffic answers requests that it did not receive, which is a mistake.
	deaf := []string{"no-sessions", "login-needed", "ignores-cancel", "load-lost", "session-lost"}
	for _, protocol := range []string{"acp", "mcp"} {
		traffic, err := os.ReadFile(filepath.Join("testdata", protocol+".traffic"))
		if err != nil {
			t.Fatal(err)
		}
		own := blamed(converse(t, &rule.Set{}, nil, string(traffic)))
		for _, f := range rule.Faults() {
			if f.Protocol != protocol && f.Protocol != "both" || slices.Contains(deaf, f.Name) {
				continue
			}
			set := &rule.Set{}
			if err := set.AddFault(f.Name); err != nil {
				t.Fatal(err)
			}
			for id, text := range blamed(converse(t, set, nil, string(traffic))) {
				if own[id] == "" {
					t.Errorf("%s: the agent is blamed: %s %s", f.Name, id, text)
				}
			}
		}
	}
}

// blamed returns the ids of the rules of acptap check that the agent of a conversation
// breaks, with the findings.
func blamed(c *conversation) map[string]string {
	checker := conform.NewChecker(conform.Options{Beginning: true, Between: true})
	for i := range c.tape.frames {
		checker.Add(&c.tape.frames[i])
	}
	checker.End()
	texts := map[string]string{}
	for _, f := range checker.Findings() {
		if f.Fault == conform.Agent {
			texts[f.Rule.ID] = f.Text
		}
	}
	return texts
}

func TestMain(m *testing.M) {
	flag.Parse()
	signal.Notify(make(chan os.Signal, 1), os.Interrupt) // starts a goroutine that must be outside of any bubble
	os.Exit(m.Run())
}

// TestRandom: whatever rules do, everything sent is on the tape as wire or withheld, and
// everything received as wire, injected or rewritten; and the same seed has the same effects.
func TestRandom(t *testing.T) {
	filters := []string{"", "update:*", "method:session/prompt", "kind:response", "dir:agent", "dir:client kind:request", "turn:1", "!jsonrpc", ".params.sessionId:s1"}
	actions := []string{
		"delay 1s", "delay ~1s", "slow 10k", "split 7 1ms", "split utf8", "drop", "duplicate", "postpone 1", "postpone 3", "postpone 2s",
		"set params.x ${id}", "delete params", "replace * /e/E/", "corrupt utf8", "corrupt pretty", "corrupt batch", "corrupt twice", "corrupt crlf", "corrupt blank",
		"truncate 9", "answer 1", "error 1 x", `inject client {"id":1,"method":"x"}`, "inject before agent \"x\"", "mark x", "pass",
	}
	options := []string{"", "[once]", "[every 2]", "[chance 50%]", "[nth 2, per session]", "[near agent]", "[after 1, per turn]", "[for 90s]"}
	traffic, err := os.ReadFile("testdata/acp.traffic")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]int{}
	for line := range strings.Lines(string(traffic)) {
		said[line[:2]] += len(line) - 2
	}
	n := *rounds
	if testing.Short() {
		n = min(n, 10)
	}
	for n := range n {
		random := rand.New(rand.NewPCG(1, uint64(n)))
		one := func(list []string) string { return list[random.IntN(len(list))] }
		var b strings.Builder
		fmt.Fprintf(&b, "seed %d\n", n)
		for range 1 + random.IntN(4) {
			b.WriteString(strings.TrimLeft(fmt.Sprintf("%s => %s %s\n", one(filters), one(actions), one(options)), " "))
		}
		set, err := rule.Parse("rules", b.String())
		if err != nil {
			t.Fatal(err)
		}
		c := converse(t, set, nil, string(traffic))
		if got := c.tape.wire[0] + c.tape.withheld[0]; got != said["> "] {
			t.Errorf("%s: %d bytes of the client on the tape, want %d\n%s", &b, got, said["> "], c)
		}
		if got := c.tape.wire[1] + c.tape.withheld[1]; got != said["< "] {
			t.Errorf("%s: %d bytes of the agent on the tape, want %d\n%s", &b, got, said["< "], c)
		}
		// Lines that a rule sends to the agent for frames released at the end of the agent's
		// stream are lost: the agent has ended.
		gone := strings.Contains(b.String(), "postpone") && strings.Contains(b.String(), "inject before agent")
		if got := c.tape.wire[0] + c.tape.made[0]; got != c.agent.n && !(gone && got > c.agent.n) {
			t.Errorf("%s: the tape has %d bytes for the agent, it got %d\n%s", &b, got, c.agent.n, c)
		}
		if got := c.tape.wire[1] + c.tape.made[1]; got != c.client.n {
			t.Errorf("%s: the tape has %d bytes for the client, it got %d\n%s", &b, got, c.client.n, c)
		}
		if strings.Contains(b.String(), "1s") || strings.Contains(b.String(), "2s") || strings.Contains(b.String(), "slow") || strings.Contains(b.String(), "split") {
			continue // events at the same time have no order
		}
		if again := converse(t, set, nil, string(traffic)); again.tape.log.String() != c.tape.log.String() {
			t.Errorf("%s: got\n%s\nthen\n%s", &b, c, again)
		}
		if t.Failed() {
			return
		}
	}
}
