package probe_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/syntax"
	"github.com/acptap/acptap/proxy/wire"
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
var kinds = []probe.Kind{probe.Agent, probe.Server}

// scripted returns peers that play a text: the first, of which only the introduction is
// wanted, plays just what it says of its answers at any time.
func scripted(t *testing.T, text string, d dialect.Dialect) func() *proxy.Peer {
	t.Helper()
	s, err := script.Parse("peer", text, d)
	if err != nil {
		var wrong *syntax.Error
		errors.As(err, &wrong)
		t.Fatalf("%v\n%s", err, wrong.Caret())
	}
	first := &script.Script{Steps: slices.DeleteFunc(slices.Clone(s.Steps), func(s script.Step) bool { return s.Verb != script.On })}
	return func() *proxy.Peer {
		plays := first
		first = s
		return &proxy.Peer{Run: func(ctx context.Context, in io.Reader, out, err io.Writer) int {
			servers := &started{}
			defer servers.end()
			lines := make(chan []byte)
			go servers.listen(script.Lines(in, ctx.Done()), lines)
			p := &script.Player{
				Script: plays, Dialect: d, Side: wire.AgentToClient, Out: out, Err: err, In: lines, Setting: servers,
				Captures: script.Captures{"cwd": "", "servers": []any{}, "revision": ""},
			}
			p.Play(ctx)
			p.Serve(ctx)
			go func() {
				for range lines {
				}
			}()
			return p.Exit
		}}
	}
}

// started are the MCP servers that a scripted agent has started. A step such as
// "servers echo" starts those of that kind which the newest set-up named.
type started struct {
	mu    sync.Mutex
	given []given
	ends  []func()
}

type given struct {
	Name, Command, URL string
	Args               []string
	Env                []struct{ Name, Value string }
}

// listen remembers the servers that set-ups name.
func (s *started) listen(in <-chan []byte, out chan<- []byte) {
	defer close(out)
	for line := range in {
		var message struct{ Params struct{ MCPServers []given } }
		if json.Unmarshal(line, &message) == nil && len(message.Params.MCPServers) > 0 {
			s.mu.Lock()
			s.given = message.Params.MCPServers
			s.mu.Unlock()
		}
		out <- line
	}
}

// Servers starts servers, as an agent does. One of the kind empty outlives the agent.
func (s *started) Servers(kinds []string) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.given {
		kind := strings.TrimPrefix(g.Name, "acptap-")
		if !slices.Contains(kinds, kind) {
			continue
		}
		const asks = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}` + "\n" +
			`{"jsonrpc":"2.0","id":2,"method":"tools/list"}` + "\n" +
			`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"acptap_echo","arguments":{"text":"a"}}}` + "\n"
		if g.URL != "" {
			for ask := range strings.Lines(asks) {
				response, err := http.Post(g.URL, "application/json", strings.NewReader(ask))
				if err != nil {
					return nil, err
				}
				response.Body.Close()
			}
			continue
		}
		cmd := exec.Command(g.Command, g.Args...)
		for _, v := range g.Env {
			cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
		}
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		stdout, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			return nil, err
		}
		answers := bufio.NewScanner(stdout)
		if kind != "exits" {
			_, _ = io.WriteString(stdin, asks)
		}
		for range strings.Count(asks, "\n") {
			if kind == "silent" || !answers.Scan() {
				break // it says nothing, or has ended
			}
		}
		if kind == "empty" {
			go func() {
				_ = cmd.Wait() // the end of the case kills it
				stdin.Close()
			}()
			continue
		}
		s.ends = append(s.ends, func() { stdin.Close(); _ = cmd.Wait() })
	}
	return []any{}, nil
}

func (s *started) end() {
	for _, end := range s.ends {
		end()
	}
}

func (s *started) Echo(context.Context, []string) ([]string, error) { return nil, nil }
func (s *started) Model([]string) error                             { return nil }

// spoken is a Model of which the scripted agents know already what it says.
type spoken struct{}

func (spoken) Wrap([]string, [][]string) ([]string, func() error, error) {
	return nil, func() error { return nil }, nil
}

// run plays one case to a peer.
func run(t *testing.T, k probe.Kind, c *probe.Case, d dialect.Dialect, peer func() *proxy.Peer) (*probe.Report, error) {
	t.Helper()
	r := probe.Runner{
		Kind: k, Cases: []*probe.Case{c}, Peer: peer, Store: record.OpenStore(t.TempDir()), Dialects: []dialect.Dialect{d},
		Prompts: 100, Model: spoken{}, Jobs: 1, Patience: 20 * time.Second, EchoServer: []string{os.Args[0], "echo-server"}, Cwd: t.TempDir(),
		Call: map[string]any{"name": "add", "arguments": map[string]any{"a": json.Number("1")}},
	}
	return r.Run(t.Context())
}

// TestCases plays each case to its scripted peers, which have the outcomes that their names
// say, and to one that answers initialize and then nothing, which is never ok.
func TestCases(t *testing.T) {
	for _, k := range kinds {
		cases, err := probe.Cases(k)
		if err != nil {
			var wrong *syntax.Error
			if errors.As(err, &wrong) {
				t.Log("\n" + wrong.Caret())
			}
			t.Fatal(err)
		}
		for _, c := range cases {
			t.Run(fmt.Sprint(k)+"/"+c.ID, func(t *testing.T) {
				t.Parallel()
				testCase(t, k, c)
			})
		}
	}
}

func testCase(t *testing.T, k probe.Kind, c *probe.Case) {
	var good, bad bool
	for _, x := range c.Examples {
		name, _, _ := strings.Cut(x.Name, ":")
		words := strings.Fields(name)
		good, bad = good || words[0] == "good", bad || words[0] == "bad"
		want := probe.OK
		if c.Tier == script.Tell {
			want = probe.Told
		}
		d := c.For[0]
		var named probe.Outcome
		if named.UnmarshalText([]byte(strings.Join(words[1:], " "))) == nil {
			want, words = named, words[:1]
		}
		for i, word := range words[1:] {
			if named.UnmarshalText([]byte(word)) == nil {
				want = named
			} else if d.UnmarshalText([]byte(word)) != nil {
				t.Errorf("section %s: word %d is neither an outcome nor a dialect", x.Name, i+2)
			}
		}
		report, err := run(t, k, c, d, scripted(t, x.Text, d))
		if len(report.Results) != 1 {
			t.Fatalf("%s: %v", x.Name, err)
		}
		got := report.Results[0]
		if got.Outcome != want {
			step := ""
			if got.Step != nil {
				step = fmt.Sprintf("line %d %s: ", got.Step.Line, got.Step.Text)
			}
			t.Errorf("%s: %v, %s%s %q; want %v", x.Name, got.Outcome, step, got.Got, got.Told, want)
		}
		for _, f := range report.Findings {
			t.Errorf("%s: %s %s", x.Name, f.Rule.ID, f.Text)
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
	for _, k := range kinds {
		cases, err := probe.Cases(k)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			for _, d := range c.For {
				t.Run(fmt.Sprint(k, "/", c.ID, "/", d), func(t *testing.T) {
					t.Parallel()
					r := probe.Runner{
						Kind: k, Cases: []*probe.Case{c}, Peer: deaf(k, c), Store: record.OpenStore(t.TempDir()), Dialects: []dialect.Dialect{d}, Jobs: 1,
						Prompts: 100, Model: spoken{}, Start: time.Minute, Patience: 300 * time.Millisecond, Limit: 3 * time.Second,
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
		}
	}
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
			r := probe.Runner{Command: tt.command, Cases: cases, Store: record.OpenStore(t.TempDir()), Cwd: t.TempDir(), Start: 2 * time.Second}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := r.Run(ctx)
			var failed *probe.StartError
			if !errors.As(err, &failed) || !strings.HasPrefix(failed.Problem, tt.want) {
				t.Errorf("got %v", err)
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
			report, err := run(t, probe.Agent, cases[i], dialect.ACPv1, scripted(t, tt.script, dialect.ACPv1))
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
