//go:build linux

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// TestKillListenSocket: if a relay is killed with a WebSocket open, everything that the
// client had received is on the tape.
func TestKillListenSocket(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		conn, err := websocket.Accept(w, in, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for n := 0; err == nil; n++ {
			err = conn.Write(context.Background(), websocket.MessageText, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"m-%d."}`, n))
		}
	}))
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "store")
	url, cmd, _ := startListening(t, dir, "ws"+strings.TrimPrefix(server.URL, "http")+"/acp")
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(url, "http"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	var last string
	for n := 0; ; n++ {
		_, p, err := conn.Read(t.Context())
		if err != nil {
			break
		}
		if last = string(p); n == 2000 {
			cmd.Process.Kill()
		}
	}
	cmd.Wait()
	out, err := exec.Command("acptap", "--store", dir, "export", "--raw", "last").Output()
	if err != nil {
		t.Fatal(err)
	}
	if last == "" || !strings.Contains(string(out), last) {
		t.Errorf("the client got %s, and it is not on the tape", last)
	}
}
