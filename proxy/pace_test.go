package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/acptap/acptap/proxy"
	"github.com/acptap/acptap/proxy/wire"
)

// A pacer passes everything, at a pace.
type pacer struct {
	script
	pace func(f wire.Frame) proxy.Pace
}

func (p *pacer) Pace(f wire.Frame) proxy.Pace { return p.pace(f) }

// paced returns a Pacer for the frames of a direction that begin so.
func paced(dir wire.Direction, prefix string, pace proxy.Pace) *pacer {
	return &pacer{pace: func(f wire.Frame) proxy.Pace {
		if f.Dir == dir && strings.HasPrefix(string(f.Raw), prefix) {
			return pace
		}
		return proxy.Pace{}
	}}
}

// A clock is a client's stdout that notes when it got what.
type clock struct {
	began time.Time
	got   []string
}

func (c *clock) Write(p []byte) (int, error) {
	c.got = append(c.got, fmt.Sprintf("%v %q", time.Since(c.began), p))
	return len(p), nil
}

func TestPace(t *testing.T) {
	const a2c = wire.AgentToClient
	made := on(a2c, "ask", func(f wire.Frame) []wire.Frame { return []wire.Frame{f, frame(a2c, "made")} })
	for _, tt := range []struct {
		name  string
		chain []proxy.Interceptor
		said  string
		want  []string
	}{
		{
			name:  "a delay, and what waits behind it",
			chain: chain(paced(a2c, "late", proxy.Pace{Delay: 2 * time.Second})),
			said:  "one\nlate\ntwo\nlate\n",
			want:  []string{`0s "one\n"`, `2s "late\n"`, `2s "two\n"`, `4s "late\n"`},
		},
		{
			name:  "a character in three writes",
			chain: chain(paced(a2c, "日", proxy.Pace{Cuts: []int{1, 2}, Pause: time.Second})),
			said:  "日\nx\n",
			want:  []string{`0s "\xe6"`, `1s "\x97"`, `2s "\xa5\n"`, `2s "x\n"`},
		},
		{
			name:  "pieces",
			chain: chain(paced(a2c, "", proxy.Pace{Piece: 4, Pause: time.Second})),
			said:  "0123456789\n",
			want:  []string{`0s "0123"`, `1s "4567"`, `2s "89\n"`},
		},
		{
			name:  "a rate, over frames too",
			chain: chain(paced(a2c, "", proxy.Pace{Rate: 20})),
			said:  "012\n45\n",
			want:  []string{`0s "01"`, `100ms "2\n"`, `200ms "45"`, `300ms "\n"`},
		},
		{
			name: "what two say adds up",
			chain: chain(
				paced(a2c, "x", proxy.Pace{Delay: time.Second, Cuts: []int{1}}),
				paced(a2c, "xyz", proxy.Pace{Delay: time.Second, Cuts: []int{2}, Pause: time.Second}),
			),
			said: "xyz\n",
			want: []string{`2s "x"`, `3s "y"`, `4s "z\n"`},
		},
		{
			name:  "of what is made too, by those behind and before",
			chain: chain(changed(a2c, "made", "late"), paced(a2c, "late", proxy.Pace{Delay: time.Second}), made),
			said:  "ask\n",
			want:  []string{`0s "ask\n"`, `1s "late\n"`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, client := &memory{}, &clock{began: time.Now()}
				p := &proxy.Proxy{In: strings.NewReader(""), Out: client, Err: io.Discard, Journal: m, Interceptors: tt.chain, Peer: peer(func(_ *bufio.Reader, out, _ io.Writer) int {
					io.WriteString(out, tt.said)
					return 3
				})}
				status(t, run(t.Context(), p), 3)
				if got := strings.Join(client.got, "\n"); got != strings.Join(tt.want, "\n") {
					t.Errorf("got\n%s\nwant\n%s", got, strings.Join(tt.want, "\n"))
				}
				m.check(t, a2c, tt.said)
				if got := m.delivered[a2c]; got != int64(m.received[a2c].Len()) {
					t.Errorf("got %d bytes delivered, want %d", got, m.received[a2c].Len())
				}
			})
		})
	}
}

// A peer that pushes against a delay is stopped, and whatever ends the run ends
// the delay.
func TestDelayOfAnHour(t *testing.T) {
	for _, tt := range []struct {
		name string
		end  func(p *pacer, cancel func(), client *fragile)
		want error
	}{
		{"the context", func(_ *pacer, cancel func(), _ *fragile) { cancel() }, nil},
		{"a signal", func(p *pacer, _ func(), _ *fragile) { p.Signal(syscall.SIGTERM) }, &proxy.ExitError{Code: 143, Signal: syscall.SIGTERM}},
		{"an exit", func(p *pacer, _ func(), _ *fragile) { p.Exit(5, nil) }, &proxy.ExitError{Code: 5}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var pushed atomic.Int64
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				in, stdin := io.Pipe()
				defer stdin.Close()
				pacer := paced(wire.AgentToClient, "", proxy.Pace{Delay: time.Hour})
				client := &fragile{}
				p := &proxy.Proxy{In: in, Out: client, Err: io.Discard, Interceptors: chain(pacer), Peer: &proxy.Peer{
					Run: func(ctx context.Context, in io.Reader, out, _ io.Writer) int {
						go func() {
							io.Copy(io.Discard, in)
							pushed.Store(-1 << 40) // it is asked to end
						}()
						line := append(bytes.Repeat([]byte("x"), 356), '\n')
						for pushed.Add(int64(len(line))) > 0 {
							if _, err := out.Write(line); err != nil {
								break
							}
						}
						return 0
					},
				}}
				done := make(chan error, 1)
				go func() { done <- run(ctx, p) }()
				synctest.Wait()
				if n := pushed.Load(); n < 1000 || n > 1<<20 {
					t.Errorf("%d bytes were taken", n)
				}
				began := time.Now()
				tt.end(pacer, cancel, client)
				err := <-done
				if took := time.Since(began); took > 100*time.Millisecond {
					t.Errorf("Run returns after %v", took)
				}
				if fmt.Sprint(err) != fmt.Sprint(tt.want) {
					t.Errorf("got %v, want %v", err, tt.want)
				}
			})
		})
	}
}

// A fragile client takes everything until it is broken.
type fragile struct{ broken atomic.Bool }

func (f *fragile) Write(p []byte) (int, error) {
	if f.broken.Load() {
		return 0, syscall.EPIPE
	}
	return len(p), nil
}

// The same holds for a client that has left, in the other direction.
func TestDelayForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &fragile{}
		in, stdin := io.Pipe()
		defer stdin.Close()
		p := &proxy.Proxy{In: in, Out: client, Err: io.Discard, Interceptors: chain(paced(wire.ClientToAgent, "late", proxy.Pace{Delay: time.Hour})), Peer: peer(func(in *bufio.Reader, out, _ io.Writer) int {
			in.ReadString('\n')
			io.WriteString(out, "answer\n")
			io.Copy(io.Discard, in)
			return 4
		})}
		done := make(chan error, 1)
		go func() { done <- run(t.Context(), p) }()
		client.broken.Store(true)
		io.WriteString(stdin, "one\nlate\n")
		began := time.Now()
		status(t, <-done, 4)
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("Run returns after %v", took)
		}
	})
}

// A delay stops one direction only, and frames sent unprompted wait behind it.
func TestDelayOneDirection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &clock{began: time.Now()}
		in, stdin := io.Pipe()
		pacer := paced(wire.AgentToClient, "late", proxy.Pace{Delay: time.Minute})
		var heard []string
		began := time.Now()
		p := &proxy.Proxy{In: in, Out: client, Err: io.Discard, Interceptors: chain(pacer), Peer: peer(func(in *bufio.Reader, out, _ io.Writer) int {
			io.WriteString(out, "late\n")
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return 0
				}
				heard = append(heard, fmt.Sprintf("%v %q", time.Since(began), line))
			}
		})}
		done := make(chan error, 1)
		go func() { done <- run(t.Context(), p) }()
		synctest.Wait()
		io.WriteString(stdin, "one\n")
		pacer.Do(func(out []wire.Frame) []wire.Frame { return append(out, frame(wire.AgentToClient, "news")) })
		stdin.Close()
		status(t, <-done, 0)
		if want := []string{`0s "one\n"`}; !slices.Equal(heard, want) {
			t.Errorf("the agent got %q, want %q", heard, want)
		}
		if want := []string{`1m0s "late\n"`, `1m0s "news\n"`}; !slices.Equal(client.got, want) {
			t.Errorf("the client got %q, want %q", client.got, want)
		}
	})
}

// A Pacer that panics is left alone like any other Interceptor.
func TestPacerPanics(t *testing.T) {
	var out bytes.Buffer
	var told complaints
	broken := &pacer{pace: func(f wire.Frame) proxy.Pace {
		if string(f.Raw) == "two" {
			panic(errors.New("boom"))
		}
		return proxy.Pace{}
	}}
	m := &memory{}
	p := &proxy.Proxy{Command: role("echo"), In: strings.NewReader("one\ntwo\nthree"), Out: &out, Err: io.Discard, Journal: m, Interceptors: chain(broken), Complain: told.add}
	status(t, run(t.Context(), p), 0)
	if want := "one\ntwo\nthree"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	m.check(t, wire.ClientToAgent, "one\ntwo\nthree")
	told.check(t, "interceptor: panic: boom (pace_test.go:")
}

// A frame that must follow stderr waits until stderr has been read, or until the end.
func TestAfterStderr(t *testing.T) {
	for _, read := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			noisy := paced(wire.AgentToClient, "noisy", proxy.Pace{AfterStderr: true})
			noisy.frame = func(f wire.Frame, out []wire.Frame) []wire.Frame {
				if string(f.Raw) == "noisy" {
					out = append(out, frame(wire.AgentStderr, "noise"))
				}
				return append(out, f)
			}
			in, stdin := io.Pipe()
			defer stdin.Close()
			errIn, errOut := io.Pipe()
			client := &clock{began: time.Now()}
			p := &proxy.Proxy{In: in, Out: client, Err: errOut, Interceptors: chain(noisy), Peer: peer(func(_ *bufio.Reader, out, _ io.Writer) int {
				io.WriteString(out, "one\nnoisy\ntwo\n")
				return 0
			})}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			done := make(chan error, 1)
			go func() { done <- run(ctx, p) }()
			synctest.Wait()
			if got := strings.Join(client.got, " "); got != `0s "one\n"` {
				t.Errorf("while nobody reads stderr, the client has %s", got)
			}
			if time.Sleep(time.Second); read {
				line, err := bufio.NewReader(errIn).ReadString('\n')
				if line != "noise\n" {
					t.Errorf("stderr got %q, %v", line, err)
				}
			} else {
				cancel()
			}
			synctest.Wait()
			if got := strings.ReplaceAll(strings.Join(client.got, " "), `\n" 1s "two`, `\ntwo`); got != `0s "one\n" 1s "noisy\ntwo\n"` {
				t.Errorf("read is %v: the client has %s", read, got)
			}
			errIn.Close()
			<-done
		})
	}
}
