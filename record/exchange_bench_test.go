//go:build linux

package record_test

import (
	"net/http"
	"testing"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record"
	"github.com/acptap/acptap/record/redact"
)

// BenchmarkExchange records a request with a small body and its response, as a relay does.
func BenchmarkExchange(b *testing.B) {
	request := http.Header{
		"Accept": {"application/json, text/event-stream"}, "Accept-Encoding": {"gzip"}, "Content-Length": {"103"}, "Content-Type": {"application/json"},
		"Host": {"127.0.0.1:7801"}, "Mcp-Protocol-Version": {"2025-11-25"}, "Mcp-Session-Id": {"session"}, "User-Agent": {"Go-http-client/1.1"},
	}
	change := http.Header{"Accept-Encoding": {"identity"}, "Host": {"127.0.0.1:7451"}}
	response := http.Header{"Content-Length": {"360"}, "Content-Type": {"application/json"}, "Date": {"Sun, 22 Nov 2026 23:27:28 GMT"}}
	up, down := make([]byte, 103), make([]byte, 360)
	j := beginHTTP(b, record.OpenStore(b.TempDir()))
	key := redact.Key("key")
	b.ReportAllocs()
	for b.Loop() {
		s := j.Open(wire.HTTP{
			Method: "POST", Target: "/mcp", Protocol: "HTTP/1.1", Headers: key.Headers(request),
			Rewritten: &wire.HeadChange{Headers: key.Headers(change)},
		})
		j.AppendStream(s, wire.ClientToAgent, wire.Wire, up)
		j.EndStream(s, wire.ClientToAgent, wire.StreamEnd{By: wire.ByClient})
		j.Head(s, wire.Wire, wire.HTTP{Protocol: "HTTP/1.1", Status: 200, Headers: key.Headers(response)})
		j.AppendStream(s, wire.AgentToClient, wire.Wire, down)
		j.EndStream(s, wire.AgentToClient, wire.StreamEnd{By: wire.ByServer})
	}
	b.StopTimer()
	j.Closed("idle")
	j.Close()
	j.Wait()
}
