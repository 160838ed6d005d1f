package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// The benchmarks of this file measure acptap proxy --listen as BenchmarkRoundTrip measures
// stdio: whole processes, in turn with the reverse proxy of the standard library and with a
// client that speaks to the server itself. The traffic is that of a tape.

// A call is a request of a tape and its response.
type call struct{ request, response []byte }

// tapedCalls returns the calls of an MCP client, and all frames that it got.
func tapedCalls(b *testing.B) (calls []call, events [][]byte) {
	b.Helper()
	text, err := os.ReadFile("../../testdata/tapes/mcp-everything.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	asked := map[string][]byte{}
	for line := range bytes.Lines(text) {
		frame := wire.ValueAt(line, "frame")
		id, method := frame.Get("id").Raw(), frame.Get("method").Exists()
		switch dir := wire.ValueAt(line, "dir").Text(); {
		case dir == "c2a" && id != "" && method:
			asked[id] = []byte(frame.Raw())
		case dir == "a2c":
			events = append(events, fmt.Appendf(nil, "id: %d\ndata: %s\n\n", len(events), frame.Raw()))
			if asked[id] != nil && !method {
				calls = append(calls, call{asked[id], []byte(frame.Raw())})
			}
		}
	}
	if len(calls) < 10 || len(events) < len(calls) {
		b.Fatalf("%d calls and %d events on the tape", len(calls), len(events))
	}
	return calls, events
}

// A relayBench has a server, and the ways to it: none between, the bare reverse proxy,
// acptap that can record nothing, and acptap.
type relayBench struct {
	*testing.B
	progs bench
	calls []call
	event [][]byte
	ways  []*way
	send  map[string]chan string // what the server sends as an event, by the name of the way
}

type way struct {
	name   string
	url    string
	cmd    *exec.Cmd // nil: there is no process between
	client http.Client
	took   []time.Duration
	peak   float64 // MiB, known when the process has ended
}

func newRelayBench(b *testing.B) *relayBench {
	b.Helper()
	r := &relayBench{B: b, progs: newBench(b)}
	r.calls, r.event = tapedCalls(b)
	s := httptest.NewServer(r)
	b.Cleanup(s.Close)
	url := s.URL + "/mcp"
	r.ways = []*way{
		{name: "direct", url: url},
		r.between("bare", url, r.progs.build(b, "httprelay", "./testdata/bench/httprelay"), s.URL),
		r.acptap("unrecorded", url, os.DevNull),
		r.acptap("acptap", url, filepath.Join(b.TempDir(), "store")),
	}
	return r
}

// acptap starts acptap in front of the server.
func (r *relayBench) acptap(name, url, store string) *way {
	return r.between(name, url, r.progs.acptap, "proxy", "--store", store, "--listen", "127.0.0.1:0", "--upstream", url)
}

// between starts a process that says on stderr where it listens.
func (r *relayBench) between(name, url string, command ...string) *way {
	r.Helper()
	w := &way{name: name, cmd: exec.Command(command[0], command[1:]...)}
	stderr, err := w.cmd.StderrPipe()
	if err != nil {
		r.Fatal(err)
	}
	if err := w.cmd.Start(); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { w.stop() })
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "listening on "); ok {
			w.url = strings.TrimSuffix(at, "/mcp") + "/mcp"
			go io.Copy(io.Discard, stderr)
			return w
		}
	}
	r.Fatalf("%s does not listen", name)
	return nil
}

// ServeHTTP is the server. It answers a call, and sends as many events as a GET says, all at
// once or in steps.
func (r *relayBench) ServeHTTP(w http.ResponseWriter, in *http.Request) {
	if in.Method == http.MethodPost {
		body, _ := io.ReadAll(in.Body)
		for _, c := range r.calls {
			if bytes.Equal(c.request, body) {
				w.Header().Set("Content-Type", "application/json")
				w.Write(c.response)
			}
		}
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	var n, size int
	fmt.Sscan(in.FormValue("n"), &n)
	fmt.Sscan(in.FormValue("size"), &size)
	for i := range n {
		w.Write(r.event[i%len(r.event)])
		w.(http.Flusher).Flush()
	}
	if lines := r.send[in.FormValue("way")]; lines != nil {
		for line := range lines {
			fmt.Fprintf(w, "data: %s\n\n", line)
			w.(http.Flusher).Flush()
		}
	}
	if size > 0 {
		io.WriteString(w, `data: {"jsonrpc":"2.0","method":"long","params":"`)
		text := bytes.Repeat([]byte("x"), 64<<10)
		for ; size > 0; size -= len(text) {
			w.Write(text)
		}
		io.WriteString(w, "\"}\n\n")
	}
	if in.FormValue("hold") != "" {
		w.(http.Flusher).Flush()
		<-in.Context().Done()
	}
}

// do sends a request, and returns the body of the response.
func (w *way) do(b *testing.B, method, query string, body []byte, session string) io.ReadCloser {
	in, err := http.NewRequestWithContext(context.Background(), method, w.url+query, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	in.Header.Set("Content-Type", "application/json")
	in.Header.Set("Accept", "application/json, text/event-stream")
	in.Header.Set("Mcp-Session-Id", session)
	in.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	res, err := w.client.Do(in)
	if err != nil {
		b.Error(err)
		return http.NoBody
	}
	return res.Body
}

// post makes a call.
func (w *way) post(b *testing.B, c call, session string) {
	body := w.do(b, http.MethodPost, "", c.request, session)
	defer body.Close()
	if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, c.response) {
		b.Fatalf("%s: got %q, %v, want %q", w.name, got, err, c.response)
	}
}

// events receives n events on each of some streams at once.
func (w *way) events(b *testing.B, streams, n int) {
	var all sync.WaitGroup
	for range streams {
		all.Go(func() {
			body := w.do(b, http.MethodGet, fmt.Sprintf("?n=%d", n), nil, "s")
			defer body.Close()
			if _, err := io.Copy(io.Discard, body); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
}

// cpu returns the processor time that the process has used.
func (w *way) cpu() time.Duration {
	if w.cmd == nil {
		return 0
	}
	stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.cmd.Process.Pid))
	_, after, _ := bytes.Cut(stat, []byte(") "))
	fields := strings.Fields(string(after))
	if len(fields) < 13 {
		return 0
	}
	var user, system int64
	fmt.Sscan(fields[11], &user)
	fmt.Sscan(fields[12], &system)
	return time.Duration(user+system) * time.Second / 100
}

// status returns a number of /proc/PID/status.
func (w *way) status(name string) (n float64) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	_, after, _ := strings.Cut(string(text), "\n"+name+":")
	fmt.Sscan(after, &n)
	return n
}

// stop ends the process as a user does, and returns how long that took.
func (w *way) stop() time.Duration {
	if w.cmd == nil || w.cmd.ProcessState != nil {
		return 0
	}
	began, ended := time.Now(), make(chan struct{})
	w.cmd.Process.Signal(syscall.SIGTERM)
	go func() {
		w.cmd.Wait()
		close(ended)
	}()
	for {
		w.peak = max(w.peak, w.status("VmHWM")/1024)
		select {
		case <-ended:
			return time.Since(began)
		case <-time.After(time.Millisecond):
		}
	}
}

func mean(all []time.Duration) time.Duration {
	var sum time.Duration
	for _, d := range all {
		sum += d
	}
	return sum / time.Duration(max(len(all), 1))
}

// One call, at the median and at the mean, relative to the bare reverse proxy.
func BenchmarkRelayPost(b *testing.B) {
	r := newRelayBench(b)
	const warm = 200
	var before []time.Duration
	for i := range warm {
		for _, w := range r.ways {
			w.post(b, r.calls[i%len(r.calls)], "s")
		}
	}
	for _, w := range r.ways {
		before = append(before, w.cpu())
	}
	i := 0
	for b.Loop() {
		for _, w := range r.ways {
			began := time.Now()
			w.post(b, r.calls[i%len(r.calls)], "s")
			w.took = append(w.took, time.Since(began))
		}
		i++
	}
	bare := r.ways[1]
	for k, w := range r.ways {
		b.ReportMetric(float64(median(w.took).Nanoseconds())/1e3, w.name+"-p50-µs")
		b.ReportMetric(float64(mean(w.took))/float64(mean(bare.took)), w.name+"-mean-ratio")
		b.ReportMetric(float64(median(w.took))/float64(median(bare.took)), w.name+"-p50-ratio")
		b.ReportMetric(float64((w.cpu()-before[k]).Nanoseconds())/1e3/float64(i), w.name+"-cpu-µs")
	}
}

// Events on four streams as fast as they come, relative to a client that speaks to the server
// itself.
func BenchmarkRelayStreams(b *testing.B) {
	const streams, events = 4, 5000
	r := newRelayBench(b)
	var before []time.Duration
	for _, w := range r.ways {
		w.events(b, streams, 100)
		before = append(before, w.cpu())
	}
	n := 0
	for b.Loop() {
		for _, w := range r.ways {
			began := time.Now()
			w.events(b, streams, events)
			w.took = append(w.took, time.Since(began))
		}
		n += streams * events
	}
	direct := r.ways[0]
	for k, w := range r.ways {
		b.ReportMetric(streams*events/median(w.took).Seconds(), w.name+"-events/s")
		b.ReportMetric(float64(median(direct.took))/float64(median(w.took)), w.name+"-ratio")
		b.ReportMetric(float64((w.cpu()-before[k]).Nanoseconds())/1e3/float64(n), w.name+"-cpu-µs")
	}
}

// An event that comes alone, from the server to the client, at the median.
func BenchmarkRelayEvent(b *testing.B) {
	r := newRelayBench(b)
	r.send = map[string]chan string{}
	got := map[*way]*bufio.Reader{}
	for _, w := range r.ways {
		r.send[w.name] = make(chan string)
	}
	for _, w := range r.ways {
		go func() { r.send[w.name] <- "first" }() // with which the head comes
		body := w.do(b, http.MethodGet, "?way="+w.name, nil, "s")
		defer body.Close()
		got[w] = bufio.NewReader(body)
		got[w].ReadString('\n')
		got[w].ReadString('\n')
	}
	for b.Loop() {
		for _, w := range r.ways {
			began := time.Now()
			r.send[w.name] <- `{"jsonrpc":"2.0","method":"notifications/message"}`
			got[w].ReadString('\n')
			got[w].ReadString('\n')
			w.took = append(w.took, time.Since(began))
		}
	}
	direct := median(r.ways[0].took)
	for _, w := range r.ways {
		close(r.send[w.name])
		b.ReportMetric(float64((median(w.took)-direct).Nanoseconds())/1e3, w.name+"-more-µs")
	}
}

// Memory of the process, in MiB: while events pass on 16 streams, while an event of 64 MiB
// passes, and with 200 used connections open, which it then closes.
func BenchmarkRelayMemory(b *testing.B) {
	r := newRelayBench(b)
	each := func(name string, some func(b *testing.B, w *way)) {
		b.Run(name, func(b *testing.B) {
			var peak float64
			for b.Loop() {
				w := r.acptap("acptap", r.ways[0].url, filepath.Join(b.TempDir(), "store"))
				some(b, w)
				b.ReportMetric(w.status("VmRSS")/1024, "MiB")
				b.ReportMetric(w.status("Threads"), "threads")
				b.ReportMetric(float64(w.stop().Microseconds())/1e3, "close-ms")
				peak = max(peak, w.peak)
			}
			b.ReportMetric(peak, "peak-MiB")
		})
	}
	each("16 streams", func(b *testing.B, w *way) { w.events(b, 16, 2000) })
	each("64 MiB", func(b *testing.B, w *way) {
		body := w.do(b, http.MethodGet, fmt.Sprintf("?size=%d", 64<<20), nil, "s")
		defer body.Close()
		io.Copy(io.Discard, body)
	})
	each("200 connections", func(b *testing.B, w *way) {
		for i := range 200 {
			session := fmt.Sprint("session", i)
			w.post(b, r.calls[i%len(r.calls)], session)
			body := w.do(b, http.MethodGet, "?hold=1", nil, session)
			b.Cleanup(func() { body.Close() })
		}
	})
}
