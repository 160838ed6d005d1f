package rule_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/rule"
	"github.com/acptap/acptap/proxy/wire"
)

func chunk(session, text string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%q,"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":%q}}}}`+"\n", session, text)
}

// TestHoldLimits: when more than 32 MiB or 10,000 frames wait, the frames of the oldest
// session are released in order, and the others continue to wait.
func TestHoldLimits(t *testing.T) {
	for _, tt := range []struct {
		name  string
		many  int
		large int
	}{{"frames", 10_001, 10}, {"bytes", 40, 1 << 20}} {
		t.Run(tt.name, func(t *testing.T) {
			set, err := rule.Parse("rules", "@hold update:* => hold")
			if err != nil {
				t.Fatal(err)
			}
			d := &desk{Desk: rule.NewDesk(), users: map[string]*rule.User{}}
			set.Attend(d.Desk)
			var b strings.Builder
			b.WriteString("! ann joins\n< " + chunk("old", "first") + "< " + chunk("new", "x"))
			for i := range tt.many - 2 {
				b.WriteString("< " + chunk("old", fmt.Sprint(i, strings.Repeat("x", tt.large))))
			}
			b.WriteString("< " + chunk("new", "y") + "! ann lists\n! ann releases-all\n")
			c := converseWith(t, set, nil, b.String(), d.do)
			var sees []string
			for line := range strings.Lines(d.log.String()) {
				if strings.HasPrefix(line, "ann sees") {
					sees = append(sees, line)
				}
			}
			if tt.name == "frames" && len(sees) != 2 || !strings.Contains(sees[0], `session "new"`) {
				t.Errorf("what waits: %q", sees)
			}
			if !strings.Contains(c.tape.log.String(), "let go: more than 10000 frames or 32 MiB wait") {
				t.Error("no mark says why")
			}
			if c.tape.made[wire.AgentToClient] != c.client.n || c.tape.withheld[wire.AgentToClient] != c.client.n {
				t.Errorf("the client got %d bytes, the tape has %d withheld and %d let go", c.client.n, c.tape.withheld[wire.AgentToClient], c.tape.made[wire.AgentToClient])
			}
		})
	}
}

// TestHoldEnds: when the context ends or the client leaves, all frames are released at once,
// and no frame waits any more. Signals do the same (TestCtlSignal in cmd/acptap).
func TestHoldEnds(t *testing.T) {
	for _, how := range []string{"context", "client"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set, err := rule.Parse("rules", "@hold update:* => hold")
				if err != nil {
					t.Fatal(err)
				}
				d := &desk{Desk: rule.NewDesk(), users: map[string]*rule.User{}}
				set.Attend(d.Desk)
				in, stdin := io.Pipe()
				defer stdin.Close()
				client := &receiver{began: time.Now()}
				var out io.Writer = client
				gone := make(chan struct{})
				if how == "client" {
					out = writer(func(p []byte) (int, error) {
						select {
						case <-gone:
							return 0, syscall.EPIPE
						default:
							return client.Write(p)
						}
					})
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				last := make(chan string)
				tape := &tape{}
				p := &proxy.Proxy{In: in, Out: out, Err: io.Discard, Journal: tape, Interceptors: set.Chain(0), Peer: &proxy.Peer{
					Run: func(ctx context.Context, in io.Reader, out, _ io.Writer) int {
						io.WriteString(out, chunk("s", "one")+chunk("s", "two"))
						io.WriteString(out, <-last)
						<-ctx.Done()
						return 0
					},
				}}
				done := make(chan error)
				go func() { done <- p.Run(ctx) }()
				synctest.Wait()
				d.do("ann joins")
				last <- chunk("s", "three") + chunk("t", "four")
				synctest.Wait()
				began := time.Now()
				switch how {
				case "context":
					cancel()
				case "client":
					close(gone)
					d.do("ann releases 1") // this write detects that the client is gone
				}
				var exit *proxy.ExitError
				if err := <-done; err != nil && !errors.As(err, &exit) {
					t.Error(err)
				}
				if took := time.Since(began); took > 15*time.Second { // the agent is made to end
					t.Errorf("it took %v", took)
				}
				if all := chunk("s", "one") + chunk("s", "two") + chunk("s", "three") + chunk("t", "four"); how == "context" && client.n != len(all) {
					t.Errorf("the client got %d bytes, want %d", client.n, len(all))
				}
				if n := strings.Count(tape.log.String(), "hold 2, let go: the connection ends"); n != 1 {
					t.Errorf("what waits is let go %d times:\n%s", n, tape.log.String())
				}
			})
		})
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// TestInjectBound: the number of injected frames is limited while a client does not read.
func TestInjectBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := &rule.Set{}
		d := &desk{Desk: rule.NewDesk(), users: map[string]*rule.User{}}
		set.Attend(d.Desk)
		in, stdin := io.Pipe()
		blocked := make(chan struct{})
		p := &proxy.Proxy{In: in, Out: writer(func(p []byte) (int, error) { <-blocked; return len(p), nil }), Err: io.Discard, Journal: &tape{}, Interceptors: set.Chain(0), Peer: &proxy.Peer{
			Run: func(_ context.Context, in io.Reader, _, _ io.Writer) int { io.Copy(io.Discard, in); return 0 },
		}}
		done := make(chan error)
		go func() { done <- p.Run(t.Context()) }()
		synctest.Wait()
		d.do("ann joins")
		for range 17 {
			d.do(`ann injects client {"method":"x"}`)
		}
		close(blocked)
		synctest.Wait()
		d.do(`ann injects client {"method":"x"}`)
		stdin.Close()
		<-done
		if got := strings.Count(d.log.String(), "error"); got != 1 || !strings.Contains(d.log.String(), "the receiver does not read") {
			t.Errorf("%d errors: %s", got, d.log.String())
		}
	})
}

// TestLargeAnswer: the response to a user's request does not reach the peer, even if it is
// too large to be checked.
func TestLargeAnswer(t *testing.T) {
	large := strings.Repeat("x", 2*wire.MaxChecked)
	for _, response := range []string{
		`{"jsonrpc":"2.0","id":"acptap-rule:1","result":"` + large + `"}`,
		`{"jsonrpc":"2.0","result":"` + large + `","id":"acptap-rule:1"}`,
	} {
		d := &desk{Desk: rule.NewDesk(), users: map[string]*rule.User{}}
		set := &rule.Set{}
		set.Attend(d.Desk)
		c := converseWith(t, set, nil, "! ann looks\n! ann injects agent {\"id\":1,\"method\":\"x\"}\n< "+response+"\n", d.do)
		if d.log.String() != "ann gets "+response+"\n" {
			t.Errorf("%.60s: ann got %d bytes", response, d.log.Len())
		}
		if c.client.n > 0 {
			t.Errorf("%.60s: the client got %d bytes", response, c.client.n)
		}
	}
}

// TestWaitEnds: a frame that arrives while the end of --wait releases the others passes at
// once.
func TestWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, err := rule.Parse("rules", "update:* => hold\nupdate:* => mark seen [near agent]")
		if err != nil {
			t.Fatal(err)
		}
		desk := rule.NewDesk()
		desk.Wait = time.Minute
		set.Attend(desk)
		chain := set.Chain(0)
		line := strings.TrimSpace(chunk("s", "text"))
		intercept := func() string {
			var b strings.Builder
			for _, f := range chain[0].Intercept(wire.Frame{Dir: wire.AgentToClient, Raw: []byte(line), End: wire.LF, Size: int64(len(line))}, nil) {
				fmt.Fprintf(&b, "%s\n", f.Raw)
			}
			return b.String()
		}
		hurry := make(chan struct{})
		var late string
		var atOnce sync.Mutex // the proxy too makes one call at a time
		for i, one := range chain {
			one.Start(proxy.Handle{Hurry: hurry, Do: func(act func([]wire.Frame) []wire.Frame) bool {
				atOnce.Lock()
				defer atOnce.Unlock()
				if i == 1 && late == "" {
					late = intercept()
				}
				act(nil)
				return true
			}})
		}
		atOnce.Lock()
		got := intercept()
		atOnce.Unlock()
		if !strings.Contains(got, "hold 1") {
			t.Errorf("the first frame does not wait: %s", got)
		}
		time.Sleep(2 * time.Minute)
		atOnce.Lock()
		if late != line+"\n" {
			t.Errorf("the frame that came late became %s", late)
		}
		atOnce.Unlock()
		close(hurry)
		synctest.Wait()
	})
}

// TestPostponedLimit: when more than 10,000 frames are postponed, all of them are released.
func TestPostponedLimit(t *testing.T) {
	set, err := rule.Parse("rules", "update:* => postpone 1h")
	if err != nil {
		t.Fatal(err)
	}
	c := converse(t, set, nil, strings.Repeat("< "+chunk("s", "x"), 10_001)+"> {\"method\":\"a\"}\n"+"< "+chunk("s", "y"))
	if n := strings.Count(c.tape.log.String(), "let go"); n != 10_002 {
		t.Errorf("%d frames were let go", n)
	}
	if !strings.Contains(c.tape.log.String(), "more than 10000 frames or 32 MiB are postponed") {
		t.Error("no mark says why")
	}
}
