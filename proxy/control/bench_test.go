//go:build unix

package control_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/control"
	"github.com/acptap/acptap/proxy/rule"
)

// BenchmarkUnread passes 200,000 frames that all hit a rule: with no user connected, and with
// a user who never reads. The rates should differ by less than 5 %.
func BenchmarkUnread(b *testing.B) {
	const frames = 200_000
	for _, users := range []int{0, 1} {
		b.Run(fmt.Sprintf("users=%d", users), func(b *testing.B) {
			for b.Loop() {
				set, err := rule.Parse("rules", "update:* => pass")
				if err != nil {
					b.Fatal(err)
				}
				desk := rule.NewDesk()
				set.Attend(desk)
				dir := b.TempDir()
				if err := os.Mkdir(filepath.Join(dir, "live"), 0o700); err != nil {
					b.Fatal(err)
				}
				path := control.Path(dir, "tape")
				s, err := control.Serve(path, "tape", desk)
				if err != nil {
					b.Fatal(err)
				}
				begin := make(chan struct{})
				go func() {
					defer close(begin)
					for range users {
						conn, err := net.Dial("unix", path)
						if err != nil {
							b.Error(err)
							return
						}
						fmt.Fprint(conn, `{"jsonrpc":"2.0","id":1,"method":"hello","params":{"version":1,"attend":true}}`+"\n")
						if _, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil {
							b.Error(err)
						}
						b.Cleanup(func() { conn.Close() })
					}
				}()
				line := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"twenty words of an agent that says what it does while it does it, again and again, until it is done"}}}}` + "\n"
				in, stdin := io.Pipe()
				p := &proxy.Proxy{In: in, Out: io.Discard, Err: io.Discard, Interceptors: set.Chain(1), Peer: &proxy.Peer{
					Run: func(_ context.Context, _ io.Reader, out, _ io.Writer) int {
						<-begin
						for range frames {
							io.WriteString(out, line)
						}
						return 0
					},
				}}
				if err := p.Run(context.Background()); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				stdin.Close()
				s.Close()
				b.StartTimer()
			}
			b.ReportMetric(float64(frames*b.N)/b.Elapsed().Seconds(), "frames/s")
		})
	}
}
