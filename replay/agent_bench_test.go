package replay_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/replay"
)

// longTurn is a tape of one prompt with n updates, and what its client said.
func longTurn(n int) (tape, client []byte) {
	var b, c bytes.Buffer
	say := func(frame string) {
		fmt.Fprintf(&b, `{"dir":"c2a","frame":%s}`+"\n", frame)
		fmt.Fprintln(&c, frame)
	}
	say(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	b.WriteString(`{"dir":"a2c","frame":{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}}` + "\n")
	say(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w/rec","mcpServers":[]}}`)
	b.WriteString(`{"dir":"a2c","frame":{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}}` + "\n")
	say(`{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"go"}]}}`)
	for i := range n {
		fmt.Fprintf(&b, `{"dir":"a2c","frame":{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word %d of what stands in /w/rec/main.go"}}}}}`+"\n", i)
	}
	b.WriteString(`{"dir":"a2c","frame":{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}}` + "\n")
	return b.Bytes(), c.Bytes()
}

type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

func benchmarkReplay(b *testing.B, client func([]byte) []byte) {
	text, said := longTurn(20_000)
	tape, err := record.ReadPortable(bytes.NewReader(text), "long")
	if err != nil {
		b.Fatal(err)
	}
	said = client(said)
	b.ReportAllocs()
	for b.Loop() {
		var n counter
		agent := replay.Agent{Sources: []replay.Source{{Tape: tape}}, Cwd: "/w/rec"}
		if report, err := agent.Run(b.Context(), bytes.NewReader(said), &n, io.Discard); err != nil {
			b.Fatal(err, &report)
		}
		b.SetBytes(int64(n))
	}
}

func BenchmarkReplay(b *testing.B) {
	b.Run("same", func(b *testing.B) { benchmarkReplay(b, func(said []byte) []byte { return said }) })
	b.Run("elsewhere", func(b *testing.B) {
		benchmarkReplay(b, func(said []byte) []byte { return bytes.ReplaceAll(said, []byte("/w/rec"), []byte("/another/place")) })
	})
}
