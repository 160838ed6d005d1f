//go:build linux

package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
)

// TestKillListen: whenever a relay is killed, everything that its clients and the server had
// received is on the tape.
func TestKillListen(t *testing.T) {
	t.Parallel()
	const streams = 16
	var posted counters // messages that the server got
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		stream := in.URL.Query().Get("stream")
		if in.Method == http.MethodPost {
			io.Copy(io.Discard, in.Body)
			posted.add("up-" + stream)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for n := 1; ; n++ {
			if _, err := fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"down-%s-%d.\"}\n\n", stream, n); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	for range max(*kills/20, 1) {
		dir := filepath.Join(t.TempDir(), "store")
		url, cmd, _ := startListening(t, dir, server.URL+"/mcp")
		var got counters // events that the clients got
		posted.reset()
		ask := func(method string, i int, body string) (*http.Response, error) {
			in, _ := http.NewRequest(method, fmt.Sprintf("%s?stream=%d", url, i), strings.NewReader(body))
			in.Header.Set("Mcp-Session-Id", "s")
			in.Header.Set("Content-Type", "application/json")
			return http.DefaultClient.Do(in)
		}
		var clients sync.WaitGroup
		for i := range streams {
			clients.Go(func() {
				res, err := ask(http.MethodGet, i, "")
				if err != nil {
					return // killed before
				}
				defer res.Body.Close()
				for lines := bufio.NewScanner(res.Body); lines.Scan(); {
					if lines.Text() == "" { // without this line behind it, it is no event yet
						got.add(fmt.Sprint("down-", i))
					}
				}
			})
		}
		clients.Go(func() {
			for n := 1; ; n++ {
				res, err := ask(http.MethodPost, 0, fmt.Sprintf(`{"jsonrpc":"2.0","method":"up-0-%d."}`, n))
				if err != nil {
					return
				}
				res.Body.Close()
			}
		})
		time.AfterFunc(time.Duration(50+rand.IntN(200))*time.Millisecond, func() { cmd.Process.Kill() })
		clients.Wait()
		cmd.Wait()
		l, err := record.OpenStore(dir).List()
		if err != nil || len(l.Tapes) == 0 {
			t.Logf("killed before there was a tape: %v", err)
			continue
		}
		out, err := exec.Command("acptap", "--store", dir, "export", "--raw", l.Tapes[0].Tape).Output()
		if err != nil {
			t.Fatal(err)
		}
		var taped counters
		for _, m := range regexp.MustCompile(`"method":"((?:down|up)-\d+)-(\d+)\."`).FindAllSubmatch(out, -1) {
			if n := taped.add(string(m[1])); fmt.Sprint(n) != string(m[2]) {
				t.Fatalf("on the tape, message %s of %s is the %d.", m[2], m[1], n)
			}
		}
		for _, side := range []*counters{&got, &posted} {
			for name, n := range side.all() {
				if there := taped.all()[name]; there < n {
					t.Errorf("%d messages of %s were got, and %d are on the tape", n, name, there)
				}
			}
		}
		t.Logf("got %v, posted %v; the tape has %d bytes", got.all(), posted.all(), len(out))
	}
}

// counters count by name.
type counters struct {
	mu sync.Mutex
	n  map[string]int // guarded by mu
}

func (c *counters) add(name string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[string]int{}
	}
	c.n[name]++
	return c.n[name]
}

func (c *counters) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.n)
}

func (c *counters) all() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.n)
}
