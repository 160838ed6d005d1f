//go:build linux

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestListenCrowd: one thread seals the tapes of many connections.
func TestListenCrowd(t *testing.T) {
	const crowd = 32
	event := "data: " + strings.Repeat("x", 64<<10) + "\n\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for range 20 { // more than the journal keeps in one segment
			io.WriteString(w, event)
		}
		w.(http.Flusher).Flush()
		<-in.Context().Done()
	}))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "store")
	url, cmd, _ := startListening(t, dir, server.URL+"/mcp")
	var clients sync.WaitGroup
	defer clients.Wait()
	defer cmd.Process.Kill()
	for i := range crowd {
		clients.Go(func() {
			in, _ := http.NewRequest(http.MethodGet, url, nil)
			in.Header.Set("Mcp-Session-Id", fmt.Sprint("session-", i))
			res, err := http.DefaultClient.Do(in)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			io.Copy(io.Discard, res.Body) // until the relay is killed
		})
	}
	end := time.Now().Add(time.Minute)
	for sealed := 0; sealed < crowd; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("blocks of %d of %d tapes are in their files", sealed, crowd)
		}
		files, _ := os.ReadDir(filepath.Join(dir, "tapes")) // not there yet: none
		sealed = len(files)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^Threads:\s+(\d+)$`).FindSubmatch(status)
	if m == nil {
		t.Fatalf("no number of threads in %s", status)
	}
	if threads, err := strconv.Atoi(string(m[1])); err != nil || threads >= crowd {
		t.Errorf("%d threads for %d connections, %v", threads, crowd, err)
	}
}
