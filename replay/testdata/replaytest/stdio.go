package replaytest

import (
	"bufio"
	"fmt"
	"os"

	"github.com/acptap/acptap/proxy/wire"
)

// A Stdio is the end of a scripted agent.
type Stdio struct {
	In    *bufio.Reader
	early []wire.Value // requests and notifications that came while an answer was waited for
	asked int
}

func NewStdio() *Stdio { return &Stdio{In: bufio.NewReader(os.Stdin)} }

// Next returns the next message. At the client's EOF the process ends.
func (s *Stdio) Next() wire.Value {
	if len(s.early) > 0 {
		m := s.early[0]
		s.early = s.early[1:]
		return m
	}
	return s.Read()
}

func (s *Stdio) Read() wire.Value {
	line, err := s.In.ReadString('\n')
	if err != nil {
		os.Exit(0)
	}
	return wire.ValueOf(line)
}

func (s *Stdio) Say(format string, args ...any) { fmt.Printf(format+"\n", args...) }

func (s *Stdio) Result(to wire.Value, result string) {
	s.Say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, to.Get("id").Raw(), result)
}

func (s *Stdio) Update(update string) {
	s.Say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"live-1","update":%s}}`, update)
}

// Ask sends a request and returns the answer to it.
func (s *Stdio) Ask(method, params string) wire.Value {
	s.asked++
	id := fmt.Sprintf("ask-%d", s.asked)
	s.Say(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`, id, method, params)
	for {
		m := s.Read()
		if m.Get("id").Text() == id && !m.Get("method").Exists() {
			return m
		}
		s.early = append(s.early, m)
	}
}
