package replay_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/testdata/recordtest"
	"github.com/acptap/acptap/replay"
)

// A writtenTape is a tape in the portable form, and what both sides say on it.
type writtenTape struct{ file, client, agent bytes.Buffer }

func (w *writtenTape) says(format string, args ...any) {
	fmt.Fprintf(&w.client, format+"\n", args...)
	fmt.Fprintf(&w.file, `{"dir":"c2a","frame":`+format+"}\n", args...)
}

func (w *writtenTape) answers(format string, args ...any) {
	fmt.Fprintf(&w.agent, format+"\n", args...)
	fmt.Fprintf(&w.file, `{"dir":"a2c","frame":`+format+"}\n", args...)
}

// session makes a session.
func (w *writtenTape) session(id int) {
	w.says(`{"jsonrpc":"2.0","id":%d,"method":"session/new","params":{"cwd":"/w/rec","mcpServers":[]}}`, id)
	w.answers(`{"jsonrpc":"2.0","id":%d,"result":{"sessionId":"s%d"}}`, id, id)
}

// turn is a prompt with n updates.
func (w *writtenTape) turn(session, id, n int) {
	w.says(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":"s%d","prompt":[{"type":"text","text":"go"}]}}`, id, session)
	for i := range n {
		w.answers(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s%d","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word %d of what stands in /w/rec/main.go"}}}}`, session, i)
	}
	w.answers(`{"jsonrpc":"2.0","id":%d,"result":{"stopReason":"end_turn"}}`, id)
}

// greeted begins a tape.
func greeted() *writtenTape {
	w := &writtenTape{}
	w.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`)
	w.answers(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}`)
	return w
}

// longTurn is a tape of one prompt with n updates.
func longTurn(n int) *writtenTape {
	w := greeted()
	w.session(1)
	w.turn(1, 2, n)
	return w
}

// sealed puts a tape into a store, and opens it there.
func (w *writtenTape) sealed(b *testing.B) *record.Tape {
	b.Helper()
	store := record.OpenStore(b.TempDir())
	id, err := store.Import(bytes.NewReader(w.file.Bytes()), "tape", nil)
	if err != nil {
		b.Fatal(err)
	}
	tape, err := store.Open(id)
	if err != nil {
		b.Fatal(err)
	}
	return tape
}

// less returns n, or a tenth of it in a short run, which asks only whether the benchmark works.
func less(n int) int {
	if testing.Short() {
		return n / 10
	}
	return n
}

type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

// BenchmarkReplay plays a turn of 200,000 updates; proxy, for comparison, is cat
// of the same bytes through the recording proxy.
func BenchmarkReplay(b *testing.B) {
	w := longTurn(less(200_000))
	for _, way := range []struct{ name, cwd string }{{"same", "/w/rec"}, {"elsewhere", "/another/place"}} {
		b.Run(way.name, func(b *testing.B) {
			tape := w.sealed(b)
			said := strings.ReplaceAll(w.client.String(), "/w/rec", way.cwd)
			b.ReportAllocs()
			b.SetBytes(int64(w.agent.Len()))
			for b.Loop() {
				var n counter
				agent := replay.Agent{Tapes: []*record.Tape{tape}, Cwd: "/w/rec"}
				if report, err := agent.Run(b.Context(), strings.NewReader(said), &n, io.Discard); err != nil || int(n) < w.agent.Len() {
					b.Fatal(err, n, &report)
				}
			}
		})
	}
	b.Run("proxy", func(b *testing.B) {
		cat, err := exec.LookPath("cat")
		if err != nil {
			b.Skip(err)
		}
		file := filepath.Join(b.TempDir(), "agent.jsonl")
		if err := os.WriteFile(file, w.agent.Bytes(), 0o600); err != nil {
			b.Fatal(err)
		}
		store := record.OpenStore(b.TempDir())
		b.SetBytes(int64(w.agent.Len()))
		for b.Loop() {
			journal := recordtest.Record(b, store, record.Start{Command: []string{cat, file}})
			var n counter
			p := proxy.Proxy{Command: []string{cat, file}, In: strings.NewReader(""), Out: &n, Err: io.Discard, Journal: journal}
			if err := p.Run(b.Context()); err != nil || int(n) != w.agent.Len() {
				b.Fatal(err, n)
			}
			b.StopTimer()
			journal.Close()
			journal.Wait()
			b.StartTimer()
		}
	})
}

// firstLine is closed by the first thing that is written to it.
type firstLine struct{ came chan struct{} }

func (f *firstLine) Write(b []byte) (int, error) {
	if f.came != nil {
		close(f.came)
		f.came = nil
	}
	return len(b), nil
}

// BenchmarkFirstAnswer is the time to the first answer of a sealed tape with
// 200,000 frames, opening it included.
func BenchmarkFirstAnswer(b *testing.B) {
	w := longTurn(less(200_000))
	store := record.OpenStore(b.TempDir())
	id, err := store.Import(&w.file, "tape", nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		tape, err := store.Open(id)
		if err != nil {
			b.Fatal(err)
		}
		in, client := io.Pipe()
		came, done := make(chan struct{}), make(chan error)
		go func() {
			agent := replay.Agent{Tapes: []*record.Tape{tape}, Cwd: "/w/rec", Partial: true}
			_, err := agent.Run(b.Context(), in, &firstLine{came}, io.Discard)
			done <- err
		}()
		io.WriteString(client, hello+"\n")
		<-came
		b.StopTimer()
		client.Close()
		if err := <-done; err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkReadAhead measures the memory for a tape while it is played: in the middle of
// one session, and while the first of two sessions waits for its client and the second,
// which is at the end of the tape, makes the player read on.
func BenchmarkReadAhead(b *testing.B) {
	const updates = 20
	turns := less(10_000)
	for _, sessions := range []int{1, 2} {
		b.Run(fmt.Sprintf("sessions=%d", sessions), func(b *testing.B) {
			w := greeted()
			for id := range sessions {
				w.session(id + 1)
			}
			begun := w.client.Len()
			for i := range turns {
				w.turn(1, 10+i, updates)
			}
			if sessions > 1 {
				w.turn(2, 9, updates)
			}
			tape := w.sealed(b)
			var kept float64
			for b.Loop() {
				in, client := io.Pipe()
				answers, out := io.Pipe()
				done := make(chan error)
				before := heap()
				go func() {
					agent := replay.Agent{Tapes: []*record.Tape{tape}, Cwd: "/w/rec", Partial: true, Patience: time.Hour}
					_, err := agent.Run(b.Context(), in, out, io.Discard)
					done <- err
				}()
				client.Write(w.client.Bytes()[:begun])
				io.WriteString(client, `{"jsonrpc":"2.0","id":"p","method":"ping"}`+"\n")
				for lines := bufio.NewScanner(answers); lines.Scan() && !strings.Contains(lines.Text(), `"p"`); {
				}
				kept = float64(heap()) - float64(before) // all was done before the ping was looked at
				client.Close()
				if err := <-done; err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(kept/float64(turns*(updates+2)), "B/frame")
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkCalls is the time of one call of many on one connection; left lets the
// client leave out the first.
func BenchmarkCalls(b *testing.B) {
	for _, calls := range []int{1_000, less(30_000)} {
		for _, left := range []int{0, 1} {
			b.Run(fmt.Sprintf("calls=%d,left=%d", calls, left), func(b *testing.B) {
				w := &writtenTape{}
				w.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
				w.answers(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)
				for i := range calls {
					w.says(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"t","arguments":{"n":%d}}}`, i+1, i)
					w.answers(`{"jsonrpc":"2.0","id":%d,"result":{"content":[]}}`, i+1)
				}
				tape := w.sealed(b)
				lines := bytes.SplitAfter(w.client.Bytes(), []byte("\n"))
				said := bytes.Join(append(lines[:1:1], lines[1+left:]...), nil)
				for b.Loop() {
					agent := replay.Agent{Tapes: []*record.Tape{tape}, Cwd: "/w/rec", Partial: true}
					if report, err := agent.Run(b.Context(), bytes.NewReader(said), io.Discard, io.Discard); err != nil || report.Matched != 1+calls-left {
						b.Fatal(err, &report)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/call")
			})
		}
	}
}
