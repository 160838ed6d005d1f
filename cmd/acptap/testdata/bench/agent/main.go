// Command agent is the agent of the benchmarks. It sends each line back; before
// that, for the line "flood N" N session/update notifications of 357 bytes, each in
// a write of its own, and for initialize and session/new the response.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
)

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	text := newProse()
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var n int
		if _, err := fmt.Sscanf(string(line[:min(len(line), 32)]), "flood %d", &n); err == nil {
			flood(n, text)
		}
		for method, response := range responses {
			if bytes.Contains(line, []byte(method)) {
				os.Stdout.WriteString(response + "\n") // fails like the next one
			}
		}
		if _, err := os.Stdout.Write(line); err != nil {
			return
		}
	}
}

// responses are those to requests with the ids 0 and 1.
var responses = map[string]string{
	`"initialize"`:  `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`,
	`"session/new"`: `{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}`,
}

const (
	head = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`
	tail = `"}}}}` + "\n"
	size = 357
)

func flood(n int, text *prose) {
	var b []byte
	for i := range n {
		b = append(b[:0], head...)
		b = fmt.Appendf(b, "%09d ", i)
		b = text.fill(b, size-len(tail))
		b = append(b, tail...)
		if _, err := os.Stdout.Write(b); err != nil {
			os.Exit(3)
		}
	}
}

// prose makes text that compresses about as well as an agent's: words drawn
// from a vocabulary, the first of them most often. It is the same in each run.
type prose struct {
	state uint64
	words []string
}

func newProse() *prose {
	p := &prose{state: 88172645463325252}
	p.words = strings.Fields(`the a of to func return { } = -> é 日本語`)
	parts := strings.Fields("ba con der est fil gra hin ing jo ket lor men nu or pre qua ris ste tion ul ver wa")
	for len(p.words) < 2048 {
		w := ""
		for range 1 + p.next()%3 {
			w += parts[p.next()%uint64(len(parts))]
		}
		p.words = append(p.words, w)
	}
	return p
}

func (p *prose) next() uint64 {
	p.state ^= p.state << 13
	p.state ^= p.state >> 7
	p.state ^= p.state << 17
	return p.state
}

// fill appends words to b until it has n bytes.
func (p *prose) fill(b []byte, n int) []byte {
	for {
		r := p.next()
		w := p.words[(r&2047)*(r>>20&2047)>>11]
		if len(b)+len(w)+1 > n {
			return append(b, strings.Repeat(".", n-len(b))...)
		}
		b = append(append(b, w...), ' ')
	}
}
