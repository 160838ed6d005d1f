//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// TestListenFullDisk: if the disk fills up while a stream is open, the client gets the whole
// stream, the tape says how much is missing, and recording resumes once there is space. One
// line on stderr reports it.
func TestListenFullDisk(t *testing.T) {
	next := make(chan int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for n := range next {
			fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"event-%d\",\"params\":\"%s\"}\n\n", n, strings.Repeat("x", 64<<10))
			w.(http.Flusher).Flush()
		}
	}))
	t.Cleanup(server.Close)
	disk := mount(t, 0, "size=8m")
	store, filler := filepath.Join(disk, "store"), filepath.Join(disk, "filler")
	url, cmd, stderr := startListening(t, store, server.URL+"/mcp")
	in, _ := http.NewRequest(http.MethodGet, url, nil)
	in.Header.Set("Mcp-Session-Id", "s")
	res, err := http.DefaultClient.Do(in)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body := bufio.NewReader(res.Body)
	pass := func(from, to int) {
		t.Helper()
		for n := from; n <= to; n++ {
			next <- n
			event, err := body.ReadString('\n')
			if err == nil {
				_, err = body.ReadString('\n')
			}
			if want := fmt.Sprintf("event-%d", n); err != nil || !strings.Contains(event, `"`+want+`"`) {
				t.Fatalf("the client got %.60s, %v; want %s", event, err, want)
			}
		}
	}
	pass(1, 2)
	if err := fill(filler); err != nil {
		t.Fatal(err)
	}
	pass(3, 200)
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	pass(201, 203)
	close(next)
	if rest, err := io.ReadAll(body); len(rest) > 0 || err != nil {
		t.Errorf("behind the events: %.60q, %v", rest, err)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	complaints, _ := io.ReadAll(stderr)
	if err := cmd.Wait(); err != nil || !regexp.MustCompile(`^acptap: not all of tape .* no space left on device\n$`).Match(complaints) {
		t.Errorf("it ended with %v; stderr: %s, want one line", err, complaints)
	}
	for command, want := range map[string]string{
		"ls":                `[\d.]+ MB not recorded`,
		"ls --json":         `"notRecorded":[1-9]\d{6,}`,
		"export --raw last": `(?s)"event-1".*"event-2".*"gap":[1-9].*"event-203"`,
	} {
		out, err := exec.Command("acptap", append([]string{"--store", store}, strings.Fields(command)...)...).CombinedOutput()
		if !regexp.MustCompile(want).Match(out) || err != nil {
			t.Errorf("acptap %s: %v, no %s\n%.2000s", command, err, want, out)
		}
	}
}

// fill writes a file until the disk is full.
func fill(path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(bytes.Repeat([]byte{1}, size)); err != nil {
			size /= 2
		}
	}
	return nil
}
