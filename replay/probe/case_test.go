package probe_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/syntax"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay/probe"
	"github.com/acptap/acptap/replay/script"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 3 && os.Args[1] == "echo-server" {
		status, err := probe.Echo(os.Args[2], os.Args[3], os.Stdin, os.Stdout)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(status)
	}
	flag.Parse()
	_ = flag.Set("test.parallel", "32") // cases wait more than they work
	os.Exit(m.Run())
}

// kinds are all kinds of peers whose cases have scripted peers.
var kinds = []probe.Kind{probe.Agent, probe.Server, probe.Client}

// TestCases plays each case to its scripted peers, which have the outcomes that their names
// say, and to one that answers initialize and then nothing, which is never ok.
func TestCases(t *testing.T) {
	t.Parallel()
	atOnce(t, kinds, func(k probe.Kind, c *probe.Case) {
		t.Run(fmt.Sprint(k)+"/"+c.ID, func(t *testing.T) { testCase(t, k, c) })
	})
}

// atOnce calls do for all cases, with -short for a third of them, many at a time: most of them wait.
func atOnce(t *testing.T, kinds []probe.Kind, do func(k probe.Kind, c *probe.Case)) {
	t.Helper()
	var group errgroup.Group
	group.SetLimit(48)
	for _, k := range kinds {
		cases, err := probe.Cases(k)
		if err != nil {
			var wrong *syntax.Error
			if errors.As(err, &wrong) {
				t.Log("\n" + wrong.Caret())
			}
			t.Fatal(err)
		}
		for i, c := range cases {
			if testing.Short() && i%3 != 0 {
				continue
			}
			group.Go(func() error { do(k, c); return nil })
		}
	}
	_ = group.Wait() // no error comes
}

func testCase(t *testing.T, k probe.Kind, c *probe.Case) {
	r := probe.Runner{Kind: k, Store: record.OpenStore(t.TempDir()), EchoServer: []string{os.Args[0], "echo-server"}, Cwd: t.TempDir()}
	trials, err := probe.Try(t.Context(), &r, c)
	if err != nil {
		var wrong *syntax.Error
		if errors.As(err, &wrong) {
			t.Fatalf("%v\n%s", err, wrong.Caret())
		}
		t.Fatal(err)
	}
	var good, bad bool
	for i := range trials {
		x := &trials[i]
		good, bad = good || strings.HasPrefix(x.Example.Name, "good"), bad || strings.HasPrefix(x.Example.Name, "bad")
		if problem := x.Problem(); problem != "" {
			step := ""
			if x.Got.Step != nil {
				step = fmt.Sprintf(" (line %d %s)", x.Got.Step.Line, x.Got.Step.Text)
			}
			t.Errorf("%s: %s%s %q", x.Example.Name, problem, step, x.Got.Told)
		}
	}
	hurts := c.Tier == script.Hurts || slices.ContainsFunc(c.Steps(c.For[0]).Steps, func(s script.Step) bool {
		return s.Tier == script.Hurts && s.Name != "alive"
	})
	if hurts && !strings.Contains(c.Why, "https://") {
		t.Error("hurts, but names no victim with a public thread")
	}
	if c.Tier != script.Tell && c.Source == "" {
		t.Error("names no source")
	}
	if !good || !bad && c.Tier != script.Tell {
		t.Error("has no good or no bad peer")
	}
}

// TestDeaf plays each case to a peer that answers initialize and session/new, and then
// neither answers nor ends. It is ok in none.
func TestDeaf(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for what never comes")
	}
	t.Parallel()
	atOnce(t, []probe.Kind{probe.Agent, probe.Server}, func(k probe.Kind, c *probe.Case) {
		for _, d := range c.For {
			t.Run(fmt.Sprint(k, "/", c.ID, "/", d), func(t *testing.T) {
				r := probe.Runner{
					Kind: k, Cases: []*probe.Case{c}, Peer: deaf(k, c), Store: record.OpenStore(t.TempDir()), Dialects: []dialect.Dialect{d}, Jobs: 1,
					Prompts: 100, Model: probe.Spoken{}, Start: time.Minute, Patience: 300 * time.Millisecond, Limit: 3 * time.Second, Grace: 100 * time.Millisecond,
					EchoServer: []string{os.Args[0], "echo-server"}, Cwd: t.TempDir(), Call: map[string]any{"name": "add", "arguments": map[string]any{}},
				}
				report, err := r.Run(t.Context())
				if len(report.Results) != 1 {
					t.Fatal(err)
				}
				if got := report.Results[0]; got.Outcome == probe.OK || got.Outcome == probe.NotOffered {
					t.Errorf("%v %q", got.Outcome, got.Told)
				}
			})
		}
	})
}

// deaf returns peers that offer what a case needs.
func deaf(k probe.Kind, c *probe.Case) func() *proxy.Peer {
	return func() *proxy.Peer {
		return &proxy.Peer{Run: func(ctx context.Context, in io.Reader, out, _ io.Writer) int {
			lines := bufio.NewScanner(in)
			lines.Buffer(nil, 64<<20)
			for lines.Scan() {
				var m struct {
					ID     json.RawMessage
					Method string
					Params struct{ ProtocolVersion json.RawMessage }
				}
				if json.Unmarshal(lines.Bytes(), &m) != nil {
					continue
				}
				offered := offers(c)
				switch m.Method {
				case "initialize":
					keys := `"agentCapabilities":` + offered + `,"agentInfo":`
					if k == probe.Server {
						keys = `"capabilities":` + offered + `,"serverInfo":`
					} else if string(m.Params.ProtocolVersion) == "2" && strings.Contains(lines.Text(), `"info"`) {
						keys = `"capabilities":{"session":{}},"info":`
					} else if string(m.Params.ProtocolVersion) == "2" {
						keys = `"capabilities":{"session":{}},"agentInfo":`
					}
					fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":%s,"authMethods":[],%s{"name":"deaf","version":"1"}}}`+"\n", m.ID, m.Params.ProtocolVersion, keys)
				case "session/new":
					if slices.Contains(c.Needs, "wall") {
						fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32000,"message":"login"}}`+"\n", m.ID)
						continue
					}
					fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s%s","modes":{"currentModeId":"a","availableModes":[{"id":"a","name":"A"}]},`+
						`"configOptions":[{"id":"m","name":"M","type":"select","currentValue":"a","options":[{"value":"a","name":"A"}]}]}}`+"\n", m.ID, m.ID)
				}
			}
			<-ctx.Done()
			return 0
		}}
	}
}

// offers returns the capabilities that a case needs of an agent.
func offers(c *probe.Case) string {
	offered := map[string]any{}
	for _, need := range c.Needs {
		in := offered
		path := strings.Split(need, ".")
		for _, key := range path[:len(path)-1] {
			if in[key] == nil {
				in[key] = map[string]any{}
			}
			in = in[key].(map[string]any)
		}
		in[path[len(path)-1]] = true
	}
	text, err := json.Marshal(offered)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestNoPeer is about peers that cannot be met.
func TestNoPeer(t *testing.T) {
	cases, err := probe.Cases(probe.Agent)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, want string
		command    []string
	}{
		{"ends", "it ended before it answered initialize", []string{"/bin/true"}},
		{"fails", "it ended before it answered initialize: ", []string{"/bin/sh", "-c", "echo no key >&2; exit 3"}},
		{"not there", "", []string{"./no-such-agent"}},
		{"cat", "it did not answer initialize", []string{"/bin/cat"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := record.OpenStore(t.TempDir())
			r := probe.Runner{Command: tt.command, Cases: cases, Store: store, Cwd: t.TempDir(), Start: 2 * time.Second}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := r.Run(ctx)
			var failed *probe.StartError
			if !errors.As(err, &failed) || !strings.HasPrefix(failed.Problem, tt.want) {
				t.Errorf("got %v", err)
			}
			if tapes, err := store.Tapes(); err != nil || tt.want == "" && len(tapes) > 0 {
				t.Errorf("of a program that could not be started there are tapes: %v, %v", tapes, err)
			}
		})
	}
}

// TestReplayed: what a tape that acptap replays has no answer to is not tried.
func TestReplayed(t *testing.T) {
	cases, err := probe.Cases(probe.Agent)
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(cases, func(c *probe.Case) bool { return c.ID == "unknown/extension" })
	for _, tt := range []struct{ name, script string }{
		{"an error", "> @u _acptap/unknown\n< error -32603 \"acptap replay: it is not what comes next\"\n"},
		{"leaves", "> _acptap/unknown\nstderr \"acptap: miss: _acptap/unknown is not what comes next\\n\"\nexit 1\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := script.Parse("agent", tt.script, dialect.ACPv1)
			if err != nil {
				t.Fatal(err)
			}
			r := probe.Runner{
				Cases: cases[i : i+1], Store: record.OpenStore(t.TempDir()), Dialects: []dialect.Dialect{dialect.ACPv1}, Cwd: t.TempDir(),
				Peer: func() *proxy.Peer { return script.NewAgent(s, dialect.ACPv1, nil, nil) },
			}
			report, err := r.Run(t.Context())
			if got := report.Results[0]; got.Outcome != probe.NotTried || !errors.Is(err, probe.ErrNoCase) {
				t.Errorf("%v %s, %v", got.Outcome, got.Got, err)
			}
		})
	}
}

// TestWrongCase: a file that is no case is an error, wherever it is among others.
func TestWrongCase(t *testing.T) {
	good := "It holds.\n-- steps v1 --\nhello\n-- steps v2-early v2 --\nhello\n"
	dir := fstest.MapFS{"a.txt": {Data: []byte(good)}, "b.txt": {Data: []byte("It holds.\nteir: must\n")}, "c.txt": {Data: []byte(good)}}
	_, err := probe.ReadCases(dir, probe.Agent)
	if err == nil || !strings.HasPrefix(err.Error(), `b.txt:2:1: "teir" is no field`) {
		t.Errorf("got %v", err)
	}
}
