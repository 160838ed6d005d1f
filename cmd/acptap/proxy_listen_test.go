//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/acptap/acptap/record"
)

// startListening runs acptap proxy --listen in front of a server, and returns the URL
// that it tells.
func startListening(t *testing.T, store, upstream string, args ...string) (url string, cmd *exec.Cmd, stderr *bufio.Reader) {
	t.Helper()
	cmd = exec.Command("acptap", append([]string{"proxy", "--store", store, "--listen", "0", "--upstream", upstream}, args...)...)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	stderr = bufio.NewReader(pipe)
	line, err := stderr.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "acptap: listening on ")
	if err != nil || !ok {
		t.Fatalf("stderr: %q, %v", line, err)
	}
	return url, cmd, stderr
}

// TestListen: a client's connection has its own tape, which contains no credentials; a stream
// may be open when acptap is told to end; and nothing else is on stderr.
func TestListen(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		if in.Header.Get("Authorization") != "Bearer very-secret" || in.URL.Query().Get("key") != "hidden" {
			t.Errorf("the server got %s, %v", in.URL, in.Header)
		}
		w.Header().Set("Mcp-Session-Id", "session-1")
		w.Header().Set("Content-Type", "text/event-stream")
		if in.Method == http.MethodPost {
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}}\n\n")
			return
		}
		fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		w.(http.Flusher).Flush()
		<-in.Context().Done()
	}))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "store")
	url, cmd, stderr := startListening(t, dir, server.URL+"/mcp?key=hidden", "--name", "remote")
	if !strings.HasPrefix(url, "http://127.0.0.1:") || !strings.HasSuffix(url, "/mcp") {
		t.Errorf("it listens on %s", url)
	}
	ask := func(method, session, body string) *http.Response {
		in, err := http.NewRequest(method, url+"?api_key=from-client&key=from-client&access_token=from-client&sig=from-client&code=from-client&token=from-client", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		in.Header.Set("Authorization", "Bearer very-secret")
		in.Header.Set("Content-Type", "application/json")
		if session != "" {
			in.Header.Set("Mcp-Session-Id", session)
		}
		res, err := http.DefaultClient.Do(in)
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	res := ask("POST", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`)
	if _, err := io.ReadAll(res.Body); err != nil {
		t.Error(err)
	}
	res.Body.Close()
	res = ask("GET", "session-1", "")
	defer res.Body.Close()
	if line, err := bufio.NewReader(res.Body).ReadString('\n'); !strings.Contains(line, "list_changed") {
		t.Errorf("the client got %q, %v", line, err)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(stderr)
	if ended := cmd.Wait(); ended != nil || err != nil || len(rest) > 0 {
		t.Errorf("it ended with %v; stderr: %s, %v", ended, rest, err)
	}
	l, err := record.OpenStore(dir).List()
	if err != nil || len(l.Tapes) != 1 {
		t.Fatalf("%d tapes, %v", len(l.Tapes), err)
	}
	if s := l.Tapes[0].Start; s.Transport != "http" || s.Upstream != server.URL+"/mcp" || s.Name != "remote" {
		t.Errorf("the tape says %+v", s)
	}
	out, err := exec.Command("acptap", "--store", dir, "export", "--raw", "remote").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`"method":"initialize"`, "list_changed", "acptap was told to end", "session-1"} {
		if !strings.Contains(string(out), text) {
			t.Errorf("not on the tape: %s", text)
		}
	}
	for _, text := range []string{"very-secret", "hidden", "from-client"} {
		if strings.Contains(string(out), text) {
			t.Errorf("on the tape: %s", text)
		}
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
}

// TestListenToItself: a relay whose upstream is its own address would forward requests to
// itself forever.
func TestListenToItself(t *testing.T) {
	for _, host := range []string{"127.0.0.1", "localhost", "0.0.0.0"} {
		for taken := true; taken; { // another process may take the port first
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			address := ln.Addr().String()
			_, port, _ := net.SplitHostPort(address)
			ln.Close()
			server := "http://" + net.JoinHostPort(host, port) + "/mcp"
			cmd := exec.CommandContext(t.Context(), "acptap", "proxy", "--store", filepath.Join(t.TempDir(), "store"), "--listen", address, "--upstream", server)
			out, err := cmd.CombinedOutput()
			if taken = strings.Contains(string(out), "another program"); taken {
				continue
			}
			want := "acptap: --upstream " + server + " is where --listen " + address + " is: give the address of the server\n"
			if cmd.ProcessState.ExitCode() != 2 || string(out) != want {
				t.Errorf("%v: %s, want %s", err, out, want)
			}
		}
	}
}

// TestListenTaken: where another program listens, acptap says so and ends.
func TestListenTaken(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	address := ln.Addr().String()
	store := filepath.Join(t.TempDir(), "store")
	cmd := exec.Command("acptap", "proxy", "--store", store, "--listen", address, "--upstream", "http://127.0.0.1:1/mcp")
	out, err := cmd.CombinedOutput()
	want := "acptap: --listen " + address + ": another program listens there; with port 0, a free one is found\n"
	if cmd.ProcessState.ExitCode() != 2 || string(out) != want {
		t.Errorf("%v: %s, want %s", err, out, want)
	}
}
