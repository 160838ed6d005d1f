package otlp_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/acptap/acptap/cmd/acptap/internal/ship/otlp"
	"github.com/acptap/acptap/record/trace/spans"
)

// An answerer is a server without a network.
type answerer func(w http.ResponseWriter)

func (a answerer) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	a(w)
	w.Result().Request = r
	return w.Result(), nil
}

func TestEndpoint(t *testing.T) {
	const base, ofTraces = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	for _, tt := range []struct {
		address string
		vars    map[string]string
		want    string
	}{
		{"", nil, "http://localhost:4318/v1/traces"},
		{"", map[string]string{base: "https://collector"}, "https://collector/v1/traces"},
		{"", map[string]string{base: "http://collector:4318/otlp/"}, "http://collector:4318/otlp/v1/traces"},
		{"", map[string]string{base: "http://collector/v1/traces"}, "http://collector/v1/traces"},
		{"", map[string]string{base: "http://a", ofTraces: "http://b"}, "http://b/"},
		{"", map[string]string{ofTraces: " http://b/insert?team=a%20b#x "}, "http://b/insert?team=a%20b"},
		{"http://c", map[string]string{base: "http://a", ofTraces: "http://b"}, "http://c/v1/traces"},
		{"http://me:secret@c/v1/traces", nil, "http://me:secret@c/v1/traces"},
		{"http://c/a%2Fb", nil, "http://c/a%2Fb/v1/traces"},
	} {
		got, err := environment(tt.vars).Endpoint(otlp.Traces, tt.address)
		if err != nil || got.String() != tt.want {
			t.Errorf("%s %v: got %v, %v, want %s", tt.address, tt.vars, got, err, tt.want)
		}
	}
}

// TestSignals: each signal has its own URL and variables.
func TestSignals(t *testing.T) {
	vars := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": "http://a/x", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://b/t",
		"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT": "7", "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL": "http/json",
	}
	for _, tt := range []struct {
		of            otlp.Signal
		address, want string
	}{
		{otlp.Traces, "", "http://b/t"},
		{otlp.Metrics, "", "http://a/x/v1/metrics"},
		{otlp.Metrics, "http://c/x/v1/traces", "http://c/x/v1/metrics"},
		{otlp.Traces, "http://c/v1/metrics?a=b", "http://c/v1/traces?a=b"},
	} {
		c, err := environment(vars).Client(tt.of, tt.address)
		if err != nil || c.URL.String() != tt.want || c.JSON != (tt.of == otlp.Metrics) || (c.Timeout == 7*time.Millisecond) != c.JSON {
			t.Errorf("%v %q: got %+v, %v", tt.of, tt.address, c, err)
		}
	}
	got, err := otlp.ParseSignals("metrics, traces,metrics")
	if err != nil || !slices.Equal(got, []otlp.Signal{otlp.Traces, otlp.Metrics}) {
		t.Errorf("got %v, %v", got, err)
	}
	for value, want := range map[string]bool{"": false, "Delta": false, "lowmemory": false, "cumulative": true} {
		const name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
		if got, err := environment(map[string]string{name: value}).Cumulative(); got != want || err != nil {
			t.Errorf("%q: got %v, %v", value, got, err)
		}
		if _, err := environment(map[string]string{name: value + "x"}).Cumulative(); err == nil {
			t.Errorf("%qx: no error", value)
		}
	}
}

func TestResource(t *testing.T) {
	for _, tt := range []struct {
		attributes, name string
		service          string
		want             []spans.Attr
	}{
		{"", "", "", nil},
		{"deployment.environment.name=ci, team=a%2Cb,empty=,", "", "", []spans.Attr{{Name: "deployment.environment.name", Value: "ci"}, {Name: "team", Value: "a,b"}, {Name: "empty", Value: ""}}},
		{"service.name=one,x=1", "", "one", []spans.Attr{{Name: "x", Value: "1"}}},
		{"service.name=one", "two", "two", nil},
	} {
		service, attrs, err := environment(map[string]string{"OTEL_RESOURCE_ATTRIBUTES": tt.attributes, "OTEL_SERVICE_NAME": tt.name}).Resource()
		if err != nil || service != tt.service || !slices.Equal(attrs, tt.want) {
			t.Errorf("%+v: got %q, %v, %v", tt, service, attrs, err)
		}
	}
}

// TestMistakes: an error names the variable, and does not contain its value if that may be
// secret.
func TestMistakes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret.pem")
	if err := os.WriteFile(file, []byte("-----BEGIN PRIVATE KEY-----\nc3dvcmRmaXNo\n-----END PRIVATE KEY-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const prefix = "OTEL_EXPORTER_OTLP_"
	for _, tt := range []struct{ name, value, want string }{
		{"ENDPOINT", "swordfish", "OTEL_EXPORTER_OTLP_ENDPOINT is not a URL such as http://localhost:4318"},
		{"ENDPOINT", "localhost:4318", "is not a URL such as"},
		{"ENDPOINT", "grpc://swordfish@localhost", "is not a URL such as"},
		{"TRACES_PROTOCOL", "grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL is grpc, which acptap does not speak: set it to http/protobuf, which collectors take at port 4318"},
		{"PROTOCOL", "http", `OTEL_EXPORTER_OTLP_PROTOCOL is http/protobuf or http/json, not "http"`},
		{"TIMEOUT", "10s", "OTEL_EXPORTER_OTLP_TIMEOUT is not a number of milliseconds"},
		{"TIMEOUT", "0", "is not a number of milliseconds"},
		{"COMPRESSION", "zstd", `is gzip or none, not "zstd"`},
		{"HEADERS", "a=b,swordfish", "OTEL_EXPORTER_OTLP_HEADERS: entry 2 is not name=value"},
		{"HEADERS", "a=%swordfish", "entry 1 is not name=value"},
		{"HEADERS", "a b=swordfish", "entry 1 is not a header that HTTP allows"},
		{"TRACES_HEADERS", "a=swordfish%0d%0ax: y", "OTEL_EXPORTER_OTLP_TRACES_HEADERS: entry 1 is not a header"},
		{"CERTIFICATE", "/no/such/file", "OTEL_EXPORTER_OTLP_CERTIFICATE: open /no/such/file"},
		{"CERTIFICATE", file, "there is no certificate in"},
		{"CLIENT_KEY", file, "both are needed"},
	} {
		_, err := environment(map[string]string{prefix + tt.name: tt.value}).Client(otlp.Traces, "")
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "swordfish") {
			t.Errorf("%s=%s: got %v, want %s", tt.name, tt.value, err, tt.want)
		}
	}
	_, err := environment(map[string]string{prefix + "CLIENT_KEY": file, prefix + "CLIENT_CERTIFICATE": file}).Client(otlp.Traces, "")
	if err == nil || strings.Contains(err.Error(), "c3dv") {
		t.Errorf("got %v", err)
	}
	if _, _, err := environment(map[string]string{"OTEL_RESOURCE_ATTRIBUTES": "swordfish"}).Resource(); err == nil || strings.Contains(err.Error(), "swordfish") {
		t.Errorf("got %v", err)
	}
}

// TestHeaders: the variable for traces takes the place of the other one.
func TestHeaders(t *testing.T) {
	c, err := environment(map[string]string{
		"OTEL_EXPORTER_OTLP_HEADERS": "a=1", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "b = Basic%20eA==, b=3,c=",
	}).Client(otlp.Traces, "")
	if want := (http.Header{"B": {"Basic eA==", "3"}, "C": {""}}); err != nil || !maps.EqualFunc(c.Header, want, slices.Equal) {
		t.Errorf("got %v, %v, want %v", c.Header, err, want)
	}
	for value, want := range map[string]bool{"": false, "true": true, "TRUE": true, "1": false} {
		env := environment(map[string]string{"OTEL_SDK_DISABLED": value, "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": value})
		if env.Disabled() != want || env.WantsContent() != want {
			t.Errorf("%q: got %v, %v", value, env.Disabled(), env.WantsContent())
		}
	}
	var _ otlp.Environment = os.Getenv
}
