package probe

import (
	"bufio"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// servers are the MCP servers that a case offers to an agent. They write what they see to a
// file.
type servers struct {
	command []string // of Echo
	dir     string
	started int
}

// Servers implements script.Setting.
func (s *servers) Servers(kinds []string) (any, error) {
	if len(s.command) == 0 {
		return nil, errors.New("no MCP server to offer")
	}
	entries := []any{}
	for _, kind := range kinds {
		s.started++
		command, args := s.command[0], append(slices.Clone(s.command[1:]), kind, s.log())
		if kind == "missing" {
			command, args = filepath.Join(s.dir, "no-such-program"), nil
		}
		if kind == "http" {
			return nil, errors.New("no MCP server over HTTP to offer")
		}
		list := []any{}
		for _, a := range args {
			list = append(list, a)
		}
		entries = append(entries, map[string]any{"name": fmt.Sprintf("acptap-%s", kind), "command": command, "args": list, "env": []any{}})
	}
	return entries, nil
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

// Model implements script.Setting.
func (s *servers) Model([]string) error { return errors.New("no model") }

func (s *servers) close() {}

// Echo is an MCP server on stdio for cases: of the kind echo it has a tool that returns what
// it is given, empty has none, silent answers nothing, and exits ends with status 127. It
// appends to the file log a line for each method that it sees, first "started".
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

// echoAnswer returns the response of an echo server to a request.
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
