package otlp

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/acptap/acptap/record/trace/spans"
)

// An Environment looks up variables, as os.Getenv does. It interprets those of
// OpenTelemetry as its exporters do (OpenTelemetry specification, "OTLP Exporter
// Configuration" and "Environment Variable Specification"). Errors contain no values that
// may be secret.
type Environment func(name string) string

// exporter returns a variable of the exporter: the one for a signal or, if that is not
// set, the one for all signals. name is the variable that was set.
func (env Environment) exporter(of Signal, which string) (name, value string) {
	for _, prefix := range []string{"OTEL_EXPORTER_OTLP_" + strings.ToUpper(of.String()) + "_", "OTEL_EXPORTER_OTLP_"} {
		if value := strings.TrimSpace(env(prefix + which)); value != "" {
			return prefix + which, value
		}
	}
	return "", ""
}

// Disabled reports whether OTEL_SDK_DISABLED turns off all sending.
func (env Environment) Disabled() bool { return isTrue(env("OTEL_SDK_DISABLED")) }

// WantsContent reports whether spans must include what was said.
func (env Environment) WantsContent() bool {
	return isTrue(env("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"))
}

func isTrue(value string) bool { return strings.EqualFold(strings.TrimSpace(value), "true") }

// Resource returns the name of the service, or "" if none is set, and the other attributes
// of the resource.
func (env Environment) Resource() (service string, attrs []spans.Attr, err error) {
	const name = "OTEL_RESOURCE_ATTRIBUTES"
	pairs, err := readPairs(name, env(name))
	if err != nil {
		return "", nil, err
	}
	for _, p := range pairs {
		if p.name == "service.name" {
			service = p.value
			continue
		}
		attrs = append(attrs, spans.Attr{Name: p.name, Value: p.value})
	}
	return cmp.Or(env("OTEL_SERVICE_NAME"), service), attrs, nil
}

// Endpoint returns the URL to post requests of a signal to. address is the user's choice: a
// base, as in OTEL_EXPORTER_OTLP_ENDPOINT, or the whole URL of a signal. If it is empty,
// the variables decide, and by default it is a collector on this machine. Endpoint returns
// an error if the environment asks for a protocol other than OTLP over HTTP.
func (env Environment) Endpoint(of Signal, address string) (*url.URL, error) {
	if _, err := env.protocol(of); err != nil {
		return nil, err
	}
	const byUser, ofAll = "--otlp", "OTEL_EXPORTER_OTLP_ENDPOINT"
	name, value := env.exporter(of, "ENDPOINT")
	if address != "" || value == "" {
		name, value = byUser, cmp.Or(address, "http://localhost:4318")
	}
	u, err := url.Parse(value)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%s is not a URL such as http://localhost:4318", name) // do not quote it: it may contain a password
	}
	u.Fragment, u.RawFragment = "", ""
	if name != byUser && name != ofAll { // the whole URL of the signal
		u.Path = cmp.Or(u.Path, "/")
		return u, nil
	}
	for _, s := range Signals {
		if base, ok := strings.CutSuffix(u.Path, "/v1/"+s.String()); ok {
			u.Path, u.RawPath = base, ""
		}
	}
	return u.JoinPath("v1", of.String()), nil
}

// protocol returns http/protobuf or http/json.
func (env Environment) protocol(of Signal) (string, error) {
	name, value := env.exporter(of, "PROTOCOL")
	switch value {
	case "", "http/protobuf", "http/json":
		return cmp.Or(value, "http/protobuf"), nil
	case "grpc":
		return "", fmt.Errorf("%s is grpc, which acptap does not speak: set it to http/protobuf, which collectors take at port 4318", name)
	}
	return "", fmt.Errorf("%s is http/protobuf or http/json, not %q", name, value)
}

// defaultTimeout limits how long the answer to a request may take.
const defaultTimeout = 10 * time.Second

// Client returns a client for the URL that Endpoint returns. Its encoder has no version.
func (env Environment) Client(of Signal, address string) (*Client, error) {
	u, err := env.Endpoint(of, address)
	if err != nil {
		return nil, err
	}
	protocol, err := env.protocol(of)
	if err != nil {
		return nil, err
	}
	c := &Client{URL: u, JSON: protocol == "http/json", Gzip: true, Timeout: defaultTimeout}
	if name, value := env.exporter(of, "TIMEOUT"); value != "" {
		ms, err := strconv.ParseUint(value, 10, 31)
		if err != nil || ms == 0 {
			return nil, fmt.Errorf("%s is not a number of milliseconds such as 10000", name)
		}
		c.Timeout = time.Duration(ms) * time.Millisecond
	}
	switch name, value := env.exporter(of, "COMPRESSION"); value {
	case "", "gzip":
	case "none":
		c.Gzip = false
	default:
		return nil, fmt.Errorf("%s is gzip or none, not %q", name, value)
	}
	if c.Header, err = env.header(of); err != nil {
		return nil, err
	}
	security, err := env.tls(of)
	if err != nil {
		return nil, err
	}
	c.HTTP = newHTTP(security)
	return c, nil
}

// header returns the header to send with each request.
func (env Environment) header(of Signal) (http.Header, error) {
	name, value := env.exporter(of, "HEADERS")
	pairs, err := readPairs(name, value)
	if err != nil {
		return nil, err
	}
	h := http.Header{}
	for i, p := range pairs {
		if !httpguts.ValidHeaderFieldName(p.name) || !httpguts.ValidHeaderFieldValue(p.value) {
			return nil, fmt.Errorf("%s: entry %d is not a header that HTTP allows", name, i+1)
		}
		h.Add(p.name, p.value)
	}
	return h, nil
}

type pair struct{ name, value string }

// readPairs parses name=value,name=value with percent-encoded values.
func readPairs(variable, text string) (list []pair, err error) {
	for i, entry := range slices.DeleteFunc(strings.Split(text, ","), func(e string) bool { return strings.TrimSpace(e) == "" }) {
		name, value, ok := strings.Cut(entry, "=")
		if value, err = url.PathUnescape(strings.TrimSpace(value)); err != nil {
			ok = false
		}
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, fmt.Errorf("%s: entry %d is not name=value, with %%2C for a comma in the value", variable, i+1)
		}
		list = append(list, pair{name, value})
	}
	return list, nil
}

// tls returns the certificates that the variables set, or nil if they set none.
func (env Environment) tls(of Signal) (*tls.Config, error) {
	var c tls.Config
	name, path := env.exporter(of, "CERTIFICATE")
	if path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s: there is no certificate in %s", name, path)
		}
	}
	name, cert := env.exporter(of, "CLIENT_CERTIFICATE")
	_, key := env.exporter(of, "CLIENT_KEY")
	switch {
	case cert == "" && key == "":
		if path == "" {
			return nil, nil
		}
		return &c, nil
	case cert == "" || key == "":
		return nil, errors.New("of OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY one is set: both are needed")
	}
	own, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	c.Certificates = []tls.Certificate{own}
	return &c, nil
}
