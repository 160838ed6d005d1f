package relay_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/acptap/acptap/proxy/relay"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
)

// ways are those to a server: without anything between, through the reverse proxy of
// the standard library, and through a relay that records.
func ways(b *testing.B, upstream string) map[string]string {
	u, _ := url.Parse(upstream)
	bare := &httputil.ReverseProxy{Rewrite: func(pr *httputil.ProxyRequest) { pr.SetURL(u) }, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	front := httptest.NewServer(bare)
	b.Cleanup(front.Close)
	store := record.OpenStore(b.TempDir())
	key, err := store.Key()
	if err != nil {
		b.Fatal(err)
	}
	var mu sync.Mutex
	var recorders []*record.Recorder // guarded by mu
	b.Cleanup(func() {               // the relay has closed them, and they may be at work still
		for _, r := range recorders {
			r.Wait()
		}
	})
	f := start(b, upstream, func(r *relay.Relay) {
		r.Keep = func(h http.Header) []wire.Header { return key.Headers(h) }
		r.Begin = func(facts relay.Facts) (relay.Journal, error) {
			r, err := store.Record(record.Start{Transport: facts.Transport, Upstream: facts.Upstream})
			if err != nil {
				return nil, err
			}
			mu.Lock()
			defer mu.Unlock()
			recorders = append(recorders, r)
			return r, nil
		}
	})
	return map[string]string{"direct": upstream, "bare": front.URL, "relay": f.Address.String()}
}

// BenchmarkPost is one small request with its answer.
func BenchmarkPost(b *testing.B) {
	answer := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 300) + `"}]}}`
	s := server(b, func(w http.ResponseWriter, in *http.Request) {
		io.Copy(io.Discard, in.Body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer)
	})
	for name, url := range ways(b, s.URL) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				in, _ := http.NewRequest(http.MethodPost, url+"/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}`))
				in.Header.Set("Mcp-Session-Id", "s")
				in.Header.Set("Content-Type", "application/json")
				res, err := http.DefaultClient.Do(in)
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
	}
}

// BenchmarkStreams is an event on one of four streams that are open at the same time.
func BenchmarkStreams(b *testing.B) {
	const streams = 4
	event := "id: 1\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progress\":1,\"message\":\"" + strings.Repeat("x", 200) + "\"}}\n\n"
	s := server(b, func(w http.ResponseWriter, in *http.Request) {
		var n int
		fmt.Sscan(in.URL.Query().Get("n"), &n)
		w.Header().Set("Content-Type", "text/event-stream")
		for range n {
			io.WriteString(w, event)
			w.(http.Flusher).Flush()
		}
	})
	for name, url := range ways(b, s.URL) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(event)))
			var all sync.WaitGroup
			for range streams {
				all.Go(func() {
					in, _ := http.NewRequest(http.MethodGet, fmt.Sprintf("%s/mcp?n=%d", url, b.N/streams+1), nil)
					in.Header.Set("Mcp-Session-Id", "s")
					res, err := http.DefaultClient.Do(in)
					if err != nil {
						b.Error(err)
						return
					}
					defer res.Body.Close()
					io.Copy(io.Discard, res.Body)
				})
			}
			all.Wait()
		})
	}
}

// BenchmarkLarge is a request of 5 MB with an answer of 5 MB.
func BenchmarkLarge(b *testing.B) {
	text := strings.Repeat("x", 5<<20)
	s := server(b, func(w http.ResponseWriter, in *http.Request) {
		io.Copy(io.Discard, in.Body)
		w.Header().Set("Content-Type", "application/json")
		for _, part := range []string{`{"jsonrpc":"2.0","id":1,"result":"`, text, `"}`} {
			io.WriteString(w, part)
		}
	})
	for name, url := range ways(b, s.URL) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				body := io.MultiReader(strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"x","params":{"text":"`), strings.NewReader(text), strings.NewReader(`"}}`))
				in, _ := http.NewRequest(http.MethodPost, url+"/mcp", body)
				in.Header.Set("Mcp-Session-Id", "s")
				in.Header.Set("Content-Type", "application/json")
				res, err := http.DefaultClient.Do(in)
				if err != nil {
					b.Fatal(err)
				}
				io.Copy(io.Discard, res.Body)
				res.Body.Close()
			}
		})
	}
}

// TestSilentConnections: a thousand silent connections take little memory, and other clients
// are served meanwhile.
func TestSilentConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("a thousand connections")
	}
	s := server(t, func(w http.ResponseWriter, in *http.Request) {})
	f := start(t, s.URL, nil)
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := heap()
	var d net.Dialer
	for range 1000 {
		conn, err := d.DialContext(context.Background(), "tcp", f.Address.Host)
		if err != nil {
			t.Skipf("not so many connections here: %v", err)
		}
		defer conn.Close()
	}
	res, err := http.Get(f.url + "/")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if grown := int64(heap()) - int64(before); grown > 64<<20 {
		t.Errorf("memory has grown by %d MiB", grown>>20)
	} else {
		t.Logf("memory has grown by %d MiB", grown>>20)
	}
}
