//go:build linux

package main

import (
	"context"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// TestListenTLS: the relay reaches a server behind TLS over HTTP/2, and its WebSockets over
// HTTP/1.1. It does not reach one with an untrusted certificate, and tells the client why.
func TestListenTLS(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, in *http.Request) {
		switch in.URL.Path {
		case "/ws":
			conn, err := websocket.Accept(w, in, nil)
			if err != nil {
				t.Errorf("accepting: %v", err)
				return
			}
			conn.Write(in.Context(), websocket.MessageText, []byte(`{"jsonrpc":"2.0","method":"hello"}`))
			conn.Close(websocket.StatusNormalClosure, "")
		case "/cut":
			io.WriteString(w, "a part")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		default:
			io.WriteString(w, in.Proto)
		}
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	get := func(url string) (int, string, error) {
		t.Helper()
		res, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		return res.StatusCode, string(body), err
	}

	t.Setenv("SSL_CERT_FILE", "")
	url, _, _ := startListening(t, filepath.Join(t.TempDir(), "store"), server.URL+"/mcp")
	status, text, _ := get(url)
	if status != http.StatusBadGateway || !strings.Contains(text, "certificate signed by unknown authority; acptap help http says how to trust its CA") {
		t.Errorf("an unknown certificate: %d %s", status, text)
	}

	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", ca)
	url, _, _ = startListening(t, filepath.Join(t.TempDir(), "store"), server.URL+"/mcp")
	if status, text, err := get(url); status != 200 || text != "HTTP/2.0" || err != nil {
		t.Errorf("with its CA: %d %s %v", status, text, err)
	}
	if status, text, err := get(strings.TrimSuffix(url, "/mcp") + "/cut"); status != 200 || text != "a part" || err == nil {
		t.Errorf("a response that is cut off: %d %s %v", status, text, err)
	}
	url, _, _ = startListening(t, filepath.Join(t.TempDir(), "store"), "wss"+strings.TrimPrefix(server.URL, "https")+"/ws")
	conn, _, err := websocket.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if _, p, err := conn.Read(context.Background()); err != nil || !strings.Contains(string(p), "hello") {
		t.Errorf("over a WebSocket: %s %v", p, err)
	}
}
