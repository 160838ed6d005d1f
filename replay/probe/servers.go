package probe

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// servers are the MCP servers that a case offers to an agent. They log what they see to a
// file.
type servers struct {
	command []string // of Echo
	dir     string
	mark    string       // the mark of the case's processes
	speaker Speaker      // nil: no model
	turns   [][][]string // the model's answers for each model step
	typed   bool         // entries name their transport, as in ACP v2
	ends    []func() error
}

// Servers implements script.Setting.
func (s *servers) Servers(kinds []string) (any, error) {
	if len(s.command) == 0 {
		return nil, errors.New("no MCP server to offer")
	}
	entries := []any{}
	for _, kind := range kinds {
		command, args := s.command[0], append(slices.Clone(s.command[1:]), kind, s.log())
		if kind == "missing" {
			command, args = filepath.Join(s.dir, "no-such-program"), nil
		}
		if kind == "http" {
			url, err := s.serve()
			if err != nil {
				return nil, err
			}
			entries = append(entries, map[string]any{"type": "http", "name": "acptap-http", "url": url, "headers": []any{}})
			continue
		}
		list := []any{}
		for _, a := range args {
			list = append(list, a)
		}
		entry := map[string]any{"name": "acptap-" + kind, "command": command, "args": list, "env": s.env()}
		if s.typed {
			entry["type"] = "stdio"
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// env marks a server as a process of the case, whatever environment the agent passes on.
func (s *servers) env() []any {
	if s.mark == "" {
		return []any{}
	}
	return []any{map[string]any{"name": markName, "value": s.mark}}
}

func (s *servers) log() string { return filepath.Join(s.dir, ".acptap-echo.log") }

// Echo implements script.Setting.
func (s *servers) Echo(ctx context.Context, words []string) (missing []string, err error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		data, err := os.ReadFile(s.log())
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		seen := strings.Fields(string(data))
		missing = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return slices.Contains(seen, w) })
		if len(missing) == 0 {
			return nil, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return missing, nil
		}
	}
}

// Model implements script.Setting. A real model may say anything.
func (s *servers) Model(words []string) error {
	switch {
	case s.speaker == nil && words[0] != "text":
		return errors.New("no model")
	case s.speaker != nil:
		if s.turns[0] != nil {
			s.speaker.Say(s.turns[0])
		}
		s.turns = s.turns[1:]
	}
	return nil
}

// serve starts the server of the kind http on a free port.
func (s *servers) serve() (url string, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	file, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		l.Close()
		return "", err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { echoHTTP(file, w, r) }), ReadHeaderTimeout: time.Minute}
	go server.Serve(l) // until closed
	s.ends = append(s.ends, server.Close, file.Close)
	return "http://" + l.Addr().String() + "/mcp", nil
}

// maxBody limits the size of a request to the echo server.
const maxBody = 1 << 20

// echoHTTP answers each message in its own response, without streams or sessions (MCP
// 2025-11-25, Transports, Streamable HTTP).
func echoHTTP(log io.Writer, w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "only POST", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	e := wire.Scan(body)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	case e.Method != nil:
		fmt.Fprintf(log, "started\n%s\n", e.Method)
	}
	if e.Method == nil || e.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(echoAnswer("http", e))
}

func (s *servers) close() {
	for _, end := range s.ends {
		_ = end() // the case is over
	}
}

// Echo is an MCP server on stdio for cases. The kind echo has a tool that returns its
// argument, empty has no tools, silent answers nothing, and exits exits with status 127. Echo
// appends one line per received method to the file log, starting with "started".
func Echo(kind, log string, in io.Reader, out io.Writer) (status int, err error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return 1, err
	}
	defer file.Close()
	saw := func(what string) { fmt.Fprintln(file, what) }
	saw("started")
	if kind == "exits" {
		return 127, nil
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return 0, nil
		}
		e := wire.Scan(line)
		if e.Method == nil {
			continue
		}
		saw(string(e.Method))
		if e.ID == nil || kind == "silent" {
			continue
		}
		answer := echoAnswer(kind, e)
		fmt.Fprintf(out, "%s\n", answer)
	}
}

// echoAnswer returns the echo server's response to a request.
func echoAnswer(kind string, e wire.Envelope) []byte {
	result, ok := echoResult(string(e.Method))
	switch {
	case !ok:
		return wire.NewFailure(e.ID, -32601, "Method not found", nil)
	case kind == "empty" && strings.Contains(result, `"tools":[{`):
		result = `{"tools":[]}`
	case strings.Contains(result, "VERSION"):
		version := e.Params.Get("protocolVersion").Text()
		result = strings.Replace(result, `"VERSION"`, string(wire.Quote(version)), 1)
	case strings.Contains(result, "TEXT"):
		text, _ := json.Marshal(e.Params.Get("arguments.text").Text())
		result = strings.Replace(result, `"TEXT"`, string(text), 1)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, e.ID, result)
}

// echoResults has a result for each method of an echo server.
//
//go:embed echo.txt
var echoResults string

func echoResult(method string) (string, bool) {
	for line := range strings.Lines(echoResults) {
		if name, result, _ := strings.Cut(strings.TrimSpace(line), " "); name == method {
			return result, true
		}
	}
	return "", false
}
