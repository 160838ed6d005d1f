package otlp_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"mime"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/cmd/acptap/internal/ship/testdata/collectortest"
)

// client returns a client for an address, with a header that must not appear anywhere.
func client(t *testing.T, address string, vars map[string]string) *otlp.Client {
	t.Helper()
	env := map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20swordfish,x-org=7x7"}
	for name, value := range vars {
		env[name] = value
	}
	c, err := environment(env).Client(otlp.Traces, address)
	if err != nil {
		t.Fatal(err)
	}
	c.Encoder = encoder
	return c
}

func environment(vars map[string]string) otlp.Environment {
	return func(name string) string { return vars[name] }
}

// TestSend: requests arrive in each form as they would be exported.
func TestSend(t *testing.T) {
	sets := read(t)
	plain := encoder.Proto(sets)
	text := encoder.JSON(sets)
	for _, tt := range []struct {
		vars           map[string]string
		coding, accept string
		body           []byte
	}{
		{nil, "gzip", "application/x-protobuf", plain},
		{map[string]string{"OTEL_EXPORTER_OTLP_COMPRESSION": "none"}, "", "application/x-protobuf", plain},
		{map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}, "gzip", "application/json", text},
	} {
		to := collectortest.New(t)
		answer, err := client(t, to.URL, tt.vars).Send(t.Context(), sets)
		if err != nil || answer != (otlp.Answer{}) {
			t.Fatalf("%v: got %v, %v", tt.vars, answer, err)
		}
		got := to.Requests()[0]
		if !bytes.Equal(got.Body, tt.body) {
			t.Errorf("%v: got\n%q\nwant\n%q", tt.vars, got.Body, tt.body)
		}
		for name, want := range map[string]string{
			"Content-Encoding": tt.coding, "Content-Type": tt.accept, "Authorization": "Bearer swordfish", "X-Org": "7x7", "User-Agent": "acptap/test",
		} {
			if got := got.Header.Get(name); got != want {
				t.Errorf("%v: %s: got %q, want %q", tt.vars, name, got, want)
			}
		}
	}
}

// TestAnswers: each answer is classified correctly, and no message contains secrets.
func TestAnswers(t *testing.T) {
	partial := &collector.ExportTraceServiceResponse{PartialSuccess: &collector.ExportTracePartialSuccess{RejectedSpans: 2, ErrorMessage: "no \x1b[2Jswordfish, 7x7"}}
	binary, err := proto.Marshal(partial)
	if err != nil {
		t.Fatal(err)
	}
	text, err := protojson.Marshal(partial)
	if err != nil {
		t.Fatal(err)
	}
	const protobuf, jsonText = "application/x-protobuf", "application/json"
	for _, tt := range []struct {
		name   string
		status int
		head   map[string]string
		body   string
		want   otlp.Kind
		after  time.Duration
		text   string // of the failure, behind the name; or of a success
		few    int    // refused of a success
		json   bool   // the request is in JSON
	}{
		{name: "accepted", status: 202, head: map[string]string{"Content-Type": protobuf}},
		{name: "accepted in JSON", status: 200, head: map[string]string{"Content-Type": jsonText}, body: "{}", json: true},
		{name: "accepted in JSON, without a body", status: 200, head: map[string]string{"Content-Type": jsonText}, json: true},
		{name: "accepted, nothing partial", status: 200, head: map[string]string{"Content-Type": jsonText}, body: `{"partialSuccess":null}`, json: true},
		{name: "yes to everything", status: 202, body: "yes", want: otlp.Denied, text: `202 Accepted, but with the Content-Type "text/plain", not application/x-protobuf or application/json: nothing there takes OTLP`},
		{name: "login page", status: 200, head: map[string]string{"Content-Type": "text/html"}, body: "<html>", want: otlp.Denied, text: `200 OK, but with the Content-Type "text/html", not application/x-protobuf or application/json: nothing there takes OTLP`},
		{name: "nothing of any type", status: 204, want: otlp.Denied, text: `204 No Content, but with the Content-Type "", not application/x-protobuf or application/json: nothing there takes OTLP`},
		{name: "in JSON, which nobody asked for", status: 200, head: map[string]string{"Content-Type": jsonText}, body: "{}"},
		{name: "partial, in JSON, which nobody asked for", status: 200, head: map[string]string{"Content-Type": jsonText}, body: string(text), few: 2, text: "no [redacted], [redacted]"},
		{name: "other JSON", status: 200, head: map[string]string{"Content-Type": jsonText}, body: `{"error":"swordfish?"}`, json: true, want: otlp.Denied, text: `200 OK, but not as OTLP does: {"error":"[redacted]?"}`},
		{name: "JSON that is no object", status: 200, head: map[string]string{"Content-Type": jsonText}, body: "null", json: true, want: otlp.Denied, text: "200 OK, but not as OTLP does: null"},
		{name: "other protobuf", status: 200, head: map[string]string{"Content-Type": protobuf}, body: "\x12\x02ok", want: otlp.Denied, text: "200 OK, but not as OTLP does: ␒␂ok"},
		{name: "partial", status: 200, head: map[string]string{"Content-Type": protobuf}, body: string(binary), few: 2, text: "no [redacted], [redacted]"},
		{name: "partial in JSON", status: 200, head: map[string]string{"Content-Type": jsonText + "; charset=utf-8"}, body: string(text), json: true, few: 2, text: "no [redacted], [redacted]"},
		{name: "partial that lies", status: 200, head: map[string]string{"Content-Type": jsonText}, body: `{"partialSuccess":{"rejectedSpans":"9000000000"},"x":1}`, json: true, few: -1},
		{name: "partial that is less than none", status: 200, head: map[string]string{"Content-Type": jsonText}, body: `{"partialSuccess":{"rejectedSpans":"-7"}}`, json: true},
		{name: "no answer to speak of", status: 200, head: map[string]string{"Content-Type": protobuf}, body: "\xff\xff", want: otlp.Denied, text: "200 OK, but not as OTLP does: \ufffd\ufffd"},
		{name: "busy", status: 429, head: map[string]string{"Retry-After": "7"}, body: "slow down", want: otlp.Unreached, after: 7 * time.Second, text: "429 Too Many Requests: slow down"},
		{name: "down", status: 503, head: map[string]string{"Retry-After": "Fri, 07 Aug 2026 10:00:30 GMT", "Date": "Fri, 07 Aug 2026 10:00:00 GMT"}, want: otlp.Unreached, after: 30 * time.Second, text: "503 Service Unavailable"},
		{name: "down for long", status: 502, head: map[string]string{"Retry-After": "99999999999"}, want: otlp.Unreached, after: 10 * time.Minute, text: "502 Bad Gateway"},
		{name: "late", status: 504, head: map[string]string{"Retry-After": "soon"}, want: otlp.Unreached, text: "504 Gateway Timeout"},
		{name: "wrong", status: 400, body: "Bearer swordfish is <b>not</b>\x1b]0;x\x07 7x7\nat all", want: otlp.Refused, text: "400 Bad Request: [redacted] is <b>not</b> [redacted] ↵ at all"},
		{name: "wrong, in protobuf", status: 400, head: map[string]string{"Content-Type": protobuf}, body: "\x08\x03\x12\x08too \x00old", want: otlp.Refused, text: "400 Bad Request: too ␀old"},
		{name: "wrong, in no protobuf", status: 400, head: map[string]string{"Content-Type": protobuf}, body: "\x0f\xff", want: otlp.Refused, text: "400 Bad Request"},
		{name: "long", status: 413, body: strings.Repeat("x", 300), want: otlp.Refused, text: "413 Request Entity Too Large: " + strings.Repeat("x", 200) + "…"},
		{name: "cut through a secret", status: 400, body: strings.Repeat("x", 190) + "Bearer swordfish", want: otlp.Refused, text: "400 Bad Request: " + strings.Repeat("x", 190) + "[redacted]"},
		{name: "broken", status: 500, want: otlp.Refused, text: "500 Internal Server Error"},
		{name: "who are you", status: 401, body: "swordfish?", want: otlp.Denied, text: "401 Unauthorized: [redacted]?"},
		{name: "who are you, as it was sent", status: 401, body: "Basic bWU6c3dvcmRmaXNo?", want: otlp.Denied, text: "401 Unauthorized: Basic [redacted]?"},
		{name: "elsewhere", status: 404, want: otlp.Absent, text: "404 Not Found"},
		{name: "for reading only", status: 405, want: otlp.Absent, text: "405 Method Not Allowed"},
		{name: "moved", status: 307, head: map[string]string{"Location": "http://example.com/?swordfish"}, want: otlp.Denied, text: "307 Temporary Redirect: redirects are not followed, name the URL that it leads to"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			to := collectortest.New(t)
			to.Fail(func(_ int, w http.ResponseWriter, _ *http.Request) bool {
				for name, value := range tt.head {
					w.Header().Set(name, value)
				}
				w.WriteHeader(tt.status)
				w.Write([]byte(tt.body))
				return true
			})
			address := strings.Replace(to.URL, "//", "//me:swordfish@", 1) + "/otlp?key=swordfish"
			sets := read(t)
			var vars map[string]string
			if tt.json {
				vars = map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "http/json"}
			}
			answer, err := client(t, address, vars).Send(t.Context(), sets)
			if tt.want == otlp.Unreached && tt.status < 300 {
				if tt.few < 0 {
					for _, set := range sets {
						tt.few += len(set.Spans)
					}
					tt.few++
				}
				if want := (otlp.Answer{Refused: tt.few, Message: tt.text}); err != nil || answer != want {
					t.Errorf("got %+v, %v\nwant %+v", answer, err, want)
				}
				return
			}
			var f *otlp.Failure
			if !errors.As(err, &f) || f.Kind != tt.want || f.After != tt.after {
				t.Fatalf("got %+v", f)
			}
			if want := to.URL + "/otlp/v1/traces answered " + tt.text; f.Error() != want {
				t.Errorf("got\n%s\nwant\n%s", f, want)
			}
		})
	}
}

// TestNoAnswer: a request without an answer may be sent again, unless the caller has
// cancelled it.
func TestNoAnswer(t *testing.T) {
	sets := read(t)
	to := collectortest.New(t)
	send := func(address string, vars map[string]string) string {
		_, err := client(t, address, vars).Send(t.Context(), sets)
		var f *otlp.Failure
		if !errors.As(err, &f) || f.Kind != otlp.Unreached || f.After != 0 {
			t.Errorf("got %v", err)
		}
		return err.Error()
	}
	gone := make(chan struct{})
	to.Fail(func(int, http.ResponseWriter, *http.Request) bool {
		<-gone
		return true
	})
	if got, want := send(to.URL, map[string]string{"OTEL_EXPORTER_OTLP_TIMEOUT": "50"}), to.URL+"/v1/traces: no answer within 50ms"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cancel(enough)
	if _, err := client(t, to.URL, nil).Send(ctx, sets); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
	close(gone)
	to.Fail(func(_ int, w http.ResponseWriter, _ *http.Request) bool {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return true
		}
		conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"))
		conn.Close()
		return true
	})
	send(to.URL, nil)
	to.Close()
	if got := send(to.URL, nil); !strings.Contains(got, "refused") {
		t.Errorf("got %q", got)
	}
}

// TestTLS: a collector with a certificate of its own, which wants one of the client's.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key, own := certificate(t, dir)
	clients := x509.NewCertPool()
	clients.AddCert(own)
	to := collectortest.NewTLS(t, &tls.Config{
		ClientCAs: clients, ClientAuth: tls.RequireAndVerifyClientCert,
		MaxVersion: tls.VersionTLS12, // in 1.3, a client may write before it learns that it is refused
	})
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: to.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{
		"OTEL_EXPORTER_OTLP_CERTIFICATE": ca, "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": cert, "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY": key,
	}
	if _, err := client(t, to.URL, vars).Send(t.Context(), read(t)); err != nil {
		t.Error(err)
	}
	for name, without := range map[string]map[string]string{
		"tls: failed to verify certificate": nil,
		"remote error: tls":                 {"OTEL_EXPORTER_OTLP_CERTIFICATE": ca},
	} {
		_, err := client(t, to.URL, without).Send(t.Context(), read(t))
		var f *otlp.Failure
		if !errors.As(err, &f) || f.Kind != otlp.Denied || !strings.Contains(f.Error(), name) {
			t.Errorf("got %v, want it denied: %s", err, name)
		}
	}
}

// TestNoTLS: https to a server that speaks no TLS will never do, whatever it speaks.
func TestNoTLS(t *testing.T) {
	plain := collectortest.New(t)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	go func() {
		for {
			conn, err := other.Accept()
			if err != nil {
				return
			}
			io.WriteString(conn, "220 mail.example ESMTP\r\n")
			defer conn.Close()
		}
	}()
	for address, want := range map[string]string{
		strings.TrimPrefix(plain.URL, "http://"): "server gave HTTP response to HTTPS client",
		other.Addr().String():                    "first record does not look like a TLS handshake",
	} {
		_, err := client(t, "https://"+address, nil).Send(t.Context(), read(t))
		var f *otlp.Failure
		if !errors.As(err, &f) || f.Kind != otlp.Denied || !strings.Contains(f.Error(), want) {
			t.Errorf("got %v, want it denied: %s", err, want)
		}
	}
}

// TestNoHTTP: http to a server that speaks https is a mistake in the URL: nothing is refused.
func TestNoHTTP(t *testing.T) {
	to := collectortest.NewTLS(t, &tls.Config{})
	address := "http" + strings.TrimPrefix(to.URL, "https")
	_, err := client(t, address, nil).Send(t.Context(), read(t))
	var f *otlp.Failure
	if want := address + "/v1/traces answered 400 Bad Request: Client sent an HTTP request to an HTTPS server."; !errors.As(err, &f) || f.Kind != otlp.Denied || f.Error() != want {
		t.Errorf("got %v, want it denied: %s", err, want)
	}
}

// certificate makes one of a client, in files.
func certificate(t *testing.T, dir string) (certFile, keyFile string, cert *x509.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "client"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, IPAddresses: []net.IP{net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile, cert
}

// FuzzAnswer: whatever a server answers, no more spans are refused than were sent, nothing
// counts as accepted unless the answer is in a form of OTLP, and no text has a control character or a secret in it.
func FuzzAnswer(f *testing.F) {
	f.Add(200, "application/json", []byte(`{"partialSuccess":{"rejectedSpans":"1","errorMessage":"swordfish"}}`))
	f.Add(200, "application/x-protobuf", []byte("\x0a\x05\x08\x01\x12\x01x"))
	f.Add(400, "application/x-protobuf", []byte("\x08\x03\x12\x08too long"))
	f.Add(503, "text/plain; x=\"", []byte("\x1b[31mswordfish\u202e"))
	sets := read(f)[:1] // all of them would make each execution slow
	var answer func() (int, string, []byte)
	c, err := environment(map[string]string{"OTEL_EXPORTER_OTLP_HEADERS": "authorization=Bearer%20swordfish"}).Client(otlp.Traces, "")
	if err != nil {
		f.Fatal(err)
	}
	c.HTTP = &http.Client{Transport: answerer(func(w http.ResponseWriter) {
		status, kind, body := answer()
		w.Header()["Content-Type"] = []string{kind}
		w.WriteHeader(status)
		w.Write(body)
	})}
	total := 0
	for _, set := range sets {
		total += len(set.Spans)
	}
	f.Fuzz(func(t *testing.T, status int, kind string, body []byte) {
		answer = func() (int, string, []byte) { return 200 + status&0xff, kind, body }
		a, err := c.Send(t.Context(), sets)
		text := a.Message
		if err != nil {
			text = err.Error()
		}
		if a.Refused < 0 || a.Refused > total || strings.ContainsAny(text, "\x00\x1b\n\u202e") || strings.Contains(text, "swordfish") {
			t.Errorf("got %+v, %v", a, err)
		}
		if of, _, _ := mime.ParseMediaType(kind); err == nil && of != "application/x-protobuf" && of != "application/json" {
			t.Errorf("%q is taken for an answer", kind)
		}
	})
}
