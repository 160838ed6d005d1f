package probe

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/script"
)

// scripted returns a constructor of agents that play s. The first agent serves only the first
// contact, so it plays only the steps of the verb On.
func scripted(s *script.Script, d dialect.Dialect) func() *proxy.Peer {
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

// started holds the MCP servers that a scripted agent has started. A step such as "servers
// echo" starts the servers of that kind named in the newest set-up.
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

// listen records the servers that set-up requests name.
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

// Servers starts servers as an agent would. One server of the kind empty outlives the agent.
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
				break // it sends nothing, or has exited
			}
		}
		if kind == "empty" {
			go func() {
				_ = cmd.Wait() // killed at the end of the case
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

// Spoken is a Model for scripted agents, which already know what it says.
type Spoken struct{}

func (Spoken) Start() (Speaker, error) { return Spoken{}, nil }
func (Spoken) Env() []string           { return nil }
func (Spoken) Say([][]string)          {}
func (Spoken) Unasked() string         { return "" }
func (Spoken) Lacks() string           { return "" }
func (Spoken) Close() error            { return nil }
