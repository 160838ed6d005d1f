package frametext_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rivo/uniseg"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/inspect/frames/frametext"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

const lineTape = `
> {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w"}}
< {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s1"}}
> {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hi"}]}}
< {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"世界世界 is a rather long text that does not fit into a line of eighty columns"}}}}
! warning: slow
< {"jsonrpc":"2.0","id":3,"method":"session/request_permission","params":{"toolCall":{"title":"Run"},"options":[]}}
> {"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"no user"}}
< banner
< mark {"gap":1234}
< mark {"rule":{"name":"late","did":"delay 2.134 s","frames":1}}
< mark {"exit":{"code":0}}
`

func write(tb testing.TB, l *frametext.Lines, frames []dialect.Frame) string {
	tb.Helper()
	var b strings.Builder
	l.W = &b
	var track filter.Tracker
	for i := range frames {
		s := track.Observe(&frames[i])
		if err := l.Write(&s); err != nil {
			tb.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func TestLines(t *testing.T) {
	got := write(t, &frametext.Lines{}, tape(lineTape))
	want := `
    1    0.010  → request   session/new                 /w
    2    0.020  ← response  session/new                 session s1  10 ms
    3    0.030  → request   session/prompt              hi
    4    0.040  ← notif     agent_message_chunk         世界世界 is a rather long text that does not fit into a line of eighty columns
    5    0.050  ⇠ stderr                                warning: slow
    6    0.060  ← request   session/request_permission  Run
    7    0.070  → response  session/request_permission  error -32603 no user  10 ms
    8    0.080  ← invalid                               banner
    9    0.090  ─ mark                                  1,234 bytes missing here
   10    0.100  ─ rule                                  late: delay 2.134 s
   11    0.110  ─ mark                                  agent exited with status 0
── no answer to 1 request: 3 session/prompt
`
	if got != want[1:] {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
}

// TestLinesOfMCP: who cancels a request waits for no answer, and a tool that
// failed is an error.
func TestLinesOfMCP(t *testing.T) {
	got := write(t, &frametext.Lines{Color: true}, tape(`
> {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"c"}}}
< {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","serverInfo":{"name":"s"}}}
> {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"slow"}}
> {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"slower"}}
> {"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"rm"}}
> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"changed my mind"}}
> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}
< {"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"was faster"}]}}
< {"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"no such file"}],"isError":true}}
> {"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"last"}}
`))
	for _, want := range []string{
		"request 2 · changed my mind\x1b[2m  30 ms\x1b[0m\n",
		"\x1b[31mtool failed: no such file\x1b[0m\x1b[2m  40 ms\x1b[0m\n",
		"\x1b[33m── no answer to 1 request: 10 tools/call\x1b[0m\n\x1b[2m── cancelled, without an answer: 1 request: 3 tools/call\x1b[0m\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got\n%s\nwant %q in it", got, want)
		}
	}
}

func TestLinesAreCut(t *testing.T) {
	for width := 1; width < 140; width++ {
		got := write(t, &frametext.Lines{Width: width}, tape(lineTape)[:5])
		for line := range strings.Lines(got) {
			if n := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("width %d: got %d columns: %q", width, n, line)
			}
		}
	}
	got := write(t, &frametext.Lines{Width: 34}, tape(lineTape)[:1])
	if want := "    1    0.010  → request   sessi…\n"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q at its beginning", got, want)
	}
	// Eight columns are left, and a wide character does not fit into one.
	got = write(t, &frametext.Lines{Width: 56}, tape(lineTape)[3:4])
	if want := "  世界世…\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got %q, want %q at its end", got, want)
	}
}

func TestLinesInColor(t *testing.T) {
	frames := tape(lineTape)
	got := write(t, &frametext.Lines{Color: true}, frames[6:7])
	want := "\x1b[2m    7    0.070\x1b[0m  \x1b[31m→\x1b[0m\x1b[2m response  \x1b[0m" +
		"\x1b[31msession/request_permission  \x1b[0m\x1b[31merror -32603 no user\x1b[0m\n"
	if got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	got = write(t, &frametext.Lines{Color: true}, frames[8:9])
	if want := "\x1b[31m1,234 bytes missing here\x1b[0m"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
}

func TestLinesMarkOrigins(t *testing.T) {
	frames := tape(lineTape)[:4]
	for i := range frames {
		frames[i].Origin = wire.Origin(i)
	}
	got := strings.Split(write(t, &frametext.Lines{}, frames), "\n")
	for i, want := range []string{"0.010  →", "0.020 ×←", "0.030 +→", "0.040 ~←"} {
		if !strings.Contains(got[i], want) {
			t.Errorf("got %q, want %q in it", got[i], want)
		}
	}
}

// A request that was not shown still gives its response a latency, and is not
// missed at the end.
func TestLinesPass(t *testing.T) {
	frames := tape(lineTape)
	var b strings.Builder
	l := frametext.Lines{W: &b}
	l.Pass(&frames[0])
	l.Pass(&frames[2])
	if err := l.Write(&filter.Subject{Frame: &frames[1]}); err != nil {
		t.Fatal(err)
	}
	if err := l.Trouble(errors.New("block 3: damaged\n")); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	want := "    2    0.020  ← response  session/new                 session s1  10 ms\n── block 3: damaged ↵\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestLinesOfBatches(t *testing.T) {
	got := write(t, &frametext.Lines{}, tape(`
> [{"jsonrpc":"2.0","id":1,"method":"tools/list"},{"jsonrpc":"2.0","id":2,"method":"ping"}]
< [{"jsonrpc":"2.0","id":1,"result":{"tools":[]}},{"jsonrpc":"2.0","id":2,"result":{}}]`))
	if !strings.HasSuffix(got, "ok  10 ms\n") {
		t.Errorf("got\n%s\nwant a latency and no complaint at the end", got)
	}
}

func TestLinesForgetOldRequests(t *testing.T) {
	var b strings.Builder
	l := frametext.Lines{W: &b}
	request := dialect.Frame{Frame: wire.Frame{Kind: wire.Request}, Annotation: dialect.Annotation{Method: "ping"}}
	const asked = 200_000
	for seq := uint64(1); seq <= asked; seq++ {
		request.Seq, request.At = seq, time.Duration(seq)
		l.Pass(&request)
	}
	answer := dialect.Frame{Frame: wire.Frame{Kind: wire.Response, Seq: asked + 1, At: asked + 1}}
	for answers, latency := range map[uint64]bool{1: false, asked: true} {
		b.Reset()
		answer.Request = answers
		if err := l.Write(&filter.Subject{Frame: &answer}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), " µs"); got != latency {
			t.Errorf("answer to %d: latency %t, want %t", answers, got, latency)
		}
	}
}

func BenchmarkLines(b *testing.B) {
	frames := tape(lineTape)
	l := frametext.Lines{W: discard{}, Width: 120, Color: true}
	b.ReportAllocs()
	for b.Loop() {
		for i := range frames {
			l.Write(&filter.Subject{Frame: &frames[i]})
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
