package replaytest

import (
	"bufio"
	"fmt"
	"os"

	"github.com/tidwall/gjson"
)

// A Stdio is the end of a scripted agent.
type Stdio struct {
	In    *bufio.Reader
	early []gjson.Result // requests and notifications that came while an answer was waited for
	asked int
}

func NewStdio() *Stdio { return &Stdio{In: bufio.NewReader(os.Stdin)} }

// Next returns the next message. At the client's EOF the process ends.
func (s *Stdio) Next() gjson.Result {
	if len(s.early) > 0 {
		m := s.early[0]
		s.early = s.early[1:]
		return m
	}
	return s.Read()
}

func (s *Stdio) Read() gjson.Result {
	line, err := s.In.ReadString('\n')
	if err != nil {
		os.Exit(0)
	}
	return gjson.Parse(line)
}

func (s *Stdio) Say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func (s *Stdio) Result(to gjson.Result, result string) {
	s.Say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, to.Get("id").Raw, result)
}

func (s *Stdio) Update(update string) {
	s.Say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"live-1","update":%s}}`, update)
}

// Ask sends a request and returns the answer to it.
func (s *Stdio) Ask(method, params string) gjson.Result {
	s.asked++
	id := fmt.Sprintf("ask-%d", s.asked)
	s.Say(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`, id, method, params)
	for {
		m := s.Read()
		if m.Get("id").Str == id && !m.Get("method").Exists() {
			return m
		}
		s.early = append(s.early, m)
	}
}
