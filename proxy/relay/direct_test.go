package relay_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/acptap/acptap/proxy/wire"
)

// A rawServer answers the request on each connection with the same bytes.
type rawServer struct {
	net.Listener
	reply string
	early bool        // it does not wait for the body
	reset bool        // then it resets the connection
	got   chan string // what it received, one text for each connection
}

func startRaw(t *testing.T, reply string) *rawServer {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	s := &rawServer{Listener: ln, reply: reply, got: make(chan string, 2)}
	go s.serve()
	return s
}

func (s *rawServer) serve() {
	for {
		conn, err := s.Accept()
		if err != nil {
			return
		}
		go s.answer(conn)
	}
}

func (s *rawServer) answer(conn net.Conn) {
	defer conn.Close()
	in, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		s.got <- "no request: " + err.Error()
		return
	}
	if s.early {
		io.WriteString(conn, s.reply)
	}
	body, err := io.ReadAll(in.Body)
	s.got <- fmt.Sprintf("%s %s\n%sbody %s, %v, trailer %v", in.Method, in.RequestURI,
		headText(in.Header, "Accept-Encoding", "Content-Length", "Expect", "Upgrade"), abridged(body), err, in.Trailer)
	if !s.early {
		io.WriteString(conn, s.reply)
	}
	if s.reset {
		conn.(*net.TCPConn).SetLinger(0)
	}
}

// exchangeText sends bytes and tells what comes back, and whether that is whole.
func exchangeText(t *testing.T, address, sends string) string {
	conn := dial(t, address)
	go io.WriteString(conn, sends)
	method, _, _ := strings.Cut(sends, " ")
	var b strings.Builder
	for r := bufio.NewReader(conn); ; {
		res, err := http.ReadResponse(r, &http.Request{Method: method})
		if err != nil {
			return b.String() + "no response"
		}
		fmt.Fprintf(&b, "%d\n%s", res.StatusCode, headText(res.Header, "Date"))
		if res.StatusCode/100 != 1 {
			body, err := io.ReadAll(res.Body)
			fmt.Fprintf(&b, "body %s, whole: %v, trailer %v", abridged(body), err == nil, res.Trailer)
			return b.String()
		}
	}
}

// headText returns headers except those about one connection and those that a test leaves
// out.
func headText(h http.Header, but ...string) string {
	but = append(but, "Connection", "Keep-Alive", "Http2-Settings")
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if !slices.Contains(but, name) {
			fmt.Fprintf(&b, "%s: %s\n", name, abridged([]byte(strings.Join(h[name], "|"))))
		}
	}
	return b.String()
}

func abridged(p []byte) string { return fmt.Sprintf("%.300q of %d", p, len(p)) }

// TestAsDirect: apart from what a relay must change, both sides get what they get without it:
// status, headers, bodies, trailers, and whether a body ended or was broken off.
func TestAsDirect(t *testing.T) {
	const (
		get  = "GET /mcp HTTP/1.1\r\nHost: localhost\r\n"
		post = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		ask  = post + "Content-Length: 40\r\n\r\n" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`
		ok   = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"
		sse  = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
	)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	io.WriteString(z, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	z.Close()
	long := "X-Long: " + strings.Repeat("x", 1<<20-2000) + "\r\n"
	tests := []struct{ name, sends, reply string }{
		{"message", ask, ok},
		{"no JSON", post + "Content-Length: 4\r\n\r\nnone", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\nnone"},
		{"HTTP/1.0 client", "GET /mcp HTTP/1.0\r\nHost: localhost\r\n\r\n", ok},
		{"HTTP/1.0 client that names no host", "GET /mcp HTTP/1.0\r\n\r\n", ok},
		{"HTTP/1.0 server", ask, "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello"},
		{"until the end of the connection", get + "\r\n", sse + "\r\ndata: 1\n\n"},
		{"no content type", get + "\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>"},
		{"headers twice", get + "x-two: 1\r\nX-Two: 2\r\nTe: trailers\r\nVia: 1.1 x\r\n\r\n", "HTTP/1.1 200 OK\r\nx-two: 1\r\nX-Two: 2\r\nServer: s\r\nContent-Length: 0\r\n\r\n"},
		{"long head of a request", get + long + "\r\n", ok},
		{"long head of a response", get + "\r\n", "HTTP/1.1 200 OK\r\n" + long + "Content-Length: 0\r\n\r\n"},
		{"spellings of a target", "GET //a%2fb/%7Ec/../%C3%A9;x=1?q=%zz&a;b&? HTTP/1.1\r\nHost: localhost\r\n\r\n", ok},
		{"body of a GET", get + "Content-Length: 2\r\n\r\n{}", ok},
		{"body of a DELETE", "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}", ok},
		{"unknown method", "BREW /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", ok},
		{"HEAD", "HEAD /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 222\r\n\r\n"},
		{"OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", "HTTP/1.1 200 OK\r\nAllow: GET\r\nContent-Length: 0\r\n\r\n"},
		{"CORS preflight", "OPTIONS /mcp HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost:3000\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: mcp-session-id\r\n\r\n",
			"HTTP/1.1 204 No Content\r\nAccess-Control-Allow-Origin: http://localhost:3000\r\nAccess-Control-Allow-Methods: POST, GET\r\nVary: Origin\r\n\r\n"},
		{"not modified", get + "If-None-Match: \"a\"\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nEtag: \"a\"\r\n\r\n"},
		{"early hints", get + "\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + ok},
		{"trailer of a request", post + "Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n", ok},
		{"trailer of a long request", post + "Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n110000\r\n" + strings.Repeat("y", 0x110000) + "\r\n0\r\nX-Sum: 1\r\n\r\n", ok},
		{"trailer of a response", get + "\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"},
		{"trailer that was not announced", get + "\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"},
		{"compressed unasked", ask, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", zipped.Len(), zipped.String())},
		{"compressed events", get + "Accept: text/event-stream\r\nAccept-Encoding: gzip\r\n\r\n", sse + fmt.Sprintf("Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", zipped.Len(), zipped.String())},
		{"line ends of events", get + "Accept: text/event-stream\r\n\r\n", sse + "\r\n\xef\xbb\xbfdata: 1\r\rdata: 2\r\n\r\n: c\n\nid: 3\rdata\r\r\n\n"},
		{"events without an end", get + "Accept: text/event-stream\r\n\r\n", sse + "\r\ndata: {\"a\":1}"},
		{"body that is cut off", get + "\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort"},
		{"chunk that is cut off", ask, sse + "Transfer-Encoding: chunked\r\n\r\nf\r\ndata"},
		{"chunk that is none", ask, sse + "Transfer-Encoding: chunked\r\n\r\n3\r\nda\n\r\nxyz\r\n"},
		{"WebSocket refused", get + "Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", "HTTP/1.1 426 Upgrade Required\r\nContent-Length: 2\r\n\r\nno"},
		{"HTTP/2 offered", get + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n", ok},
		{"answered before the request is read", post + "Content-Length: 1200000\r\n\r\n" + strings.Repeat("y", 1_200_000), "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig"},
		{"reset in the body", get + "\r\n", sse + "Transfer-Encoding: chunked\r\n\r\n4\r\ndata\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := startRaw(t, tt.reply)
			s.early, s.reset = strings.HasPrefix(tt.name, "answered"), strings.HasPrefix(tt.name, "reset")
			f := start(t, "http://"+s.Addr().String()+"/mcp", nil)
			want := exchangeText(t, s.Addr().String(), tt.sends)
			wantUp := <-s.got
			got := exchangeText(t, f.Address.Host, tt.sends)
			if got != want {
				t.Errorf("to the client, through the relay and direct:\n%s", cmp.Diff(strings.Split(got, "\n"), strings.Split(want, "\n")))
			}
			if up := <-s.got; up != wantUp && !s.early { // what follows an answer need not be sent
				t.Errorf("to the server, through the relay and direct:\n%s", cmp.Diff(strings.Split(up, "\n"), strings.Split(wantUp, "\n")))
			}
			f.tape(0).stream(1) // both directions end
		})
	}
}

// TestTrailers: what comes behind a body is on the tape, where the direction ends, whether
// or not it was announced and however long the body is.
func TestTrailers(t *testing.T) {
	const announced, behind = "Transfer-Encoding: chunked\r\nTrailer: X-Sum, X-Never\r\n\r\n", "0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n"
	for _, length := range []int{1, 1<<20 + 1} {
		chunk := fmt.Sprintf("%x\r\n%s\r\n", length, strings.Repeat("y", length))
		s := startRaw(t, "HTTP/1.1 200 OK\r\n"+announced+chunk+behind)
		f := start(t, "http://"+s.Addr().String()+"/mcp", nil)
		exchangeText(t, f.Address.Host, "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"+announced+chunk+behind)
		<-s.got
		for dir, e := range f.tape(0).stream(1).ends {
			if got := fmt.Sprint(headers(e.Trailers)); got != "map[X-More:2 X-Sum:1]" || e.Error != "" {
				t.Errorf("%d bytes, %s: %s, error %q", length, wire.Direction(dir), got, e.Error)
			}
		}
	}
}

// TestUnfit: a request that is not HTTP, or exceeds the relay's limits, gets an error status,
// and the server gets no incomplete request.
func TestUnfit(t *testing.T) {
	const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	head := "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"
	long := "X-Long: " + strings.Repeat("x", 2<<20) + "\r\n"
	tests := []struct {
		name, sends, reply string
		status             string
		asked              bool
	}{
		{"no host", "POST /mcp HTTP/1.1\r\n\r\n", ok, "400", false},
		{"too long a head", head + long + "\r\n", ok, "431", false},
		{"two lengths", head + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}", ok, "400", false},
		{"chunk that is none", head + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", ok, "400", false},
		{"a tunnel", "CONNECT server.example:443 HTTP/1.1\r\nHost: server.example:443\r\n\r\n", ok, "403", false},
		{"a proxy's request", "GET http://server.example/mcp HTTP/1.1\r\nHost: server.example\r\n\r\n", ok, "403", false},
		{"too long a head of the response", head + "\r\n", "HTTP/1.1 200 OK\r\n" + long + "\r\n", "502", true},
		{"another protocol unasked", head + "\r\n", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "502", true},
		{"another protocol", head + "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", "502", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := startRaw(t, tt.reply)
			f := start(t, "http://"+s.Addr().String()+"/mcp", nil)
			if got := exchangeText(t, f.Address.Host, tt.sends); !strings.HasPrefix(got, tt.status+"\n") {
				t.Errorf("got %.300s, want %s", got, tt.status)
			}
			f.stop()
			if asked := len(s.got) > 0; asked != tt.asked {
				t.Errorf("the server was asked: %v", asked)
			}
			for _, tape := range f.all() {
				if strings.Contains(tape.closed, "the WebSocket was closed") {
					t.Errorf("closed: %s", tape.closed)
				}
			}
		})
	}
}
