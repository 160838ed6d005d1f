//go:build linux

package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/acptap/acptap/record"
)

// TestKillListen: whenever a relay is killed, what its clients had got is on the tape.
func TestKillListen(t *testing.T) {
	const streams = 16
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for n := 0; ; n++ {
			if _, err := fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"%s-%d.\"}\n\n", in.URL.Query().Get("stream"), n); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	for range max(*kills/20, 1) {
		dir := filepath.Join(t.TempDir(), "store")
		url, cmd, _ := startListening(t, dir, server.URL+"/mcp")
		var last [streams]string // the last event that each client has got
		var clients sync.WaitGroup
		for i := range streams {
			clients.Go(func() {
				in, _ := http.NewRequest(http.MethodGet, fmt.Sprintf("%s?stream=%d", url, i), nil)
				in.Header.Set("Mcp-Session-Id", "s")
				res, err := http.DefaultClient.Do(in)
				if err != nil {
					return // killed before
				}
				defer res.Body.Close()
				for lines := bufio.NewScanner(res.Body); lines.Scan(); {
					if event, ok := strings.CutPrefix(lines.Text(), "data: "); ok && strings.HasSuffix(event, "}") {
						last[i] = event
					}
				}
			})
		}
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
		got := 0
		for i, event := range last {
			if event == "" {
				continue
			}
			if got++; !strings.Contains(string(out), event) {
				t.Errorf("client %d got %s, and it is not on the tape", i, event)
			}
		}
		t.Logf("%d of %d clients had got events; the tape has %d bytes", got, streams, len(out))
	}
}
