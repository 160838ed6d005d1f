// Package collectortest is a collector for tests: it takes spans in OTLP over HTTP, keeps
// them, and fails as it is told to.
package collectortest

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"encoding/hex"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	logscollector "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	metricscollector "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/slim/otlp/logs/v1"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// A Collector takes what is posted to it until the test ends.
type Collector struct {
	*httptest.Server // nil: it is reached by RoundTrip alone
	t                testing.TB

	mu       sync.Mutex
	fail     func(n int, w http.ResponseWriter, r *http.Request) bool
	requests []Request
	arrived  map[ID]*tracepb.Span
	times    map[ID]int
	points   []Point
	records  []Record
	about    []*common.KeyValue // of resources
	changed  chan struct{}      // closed with the next request
}

// An ID is that of a span.
type ID struct{ Trace, Span string }

// HexID returns an ID of two in hexadecimal.
func HexID(t testing.TB, trace, span string) ID {
	t.Helper()
	of, err := hex.DecodeString(trace)
	if err != nil {
		t.Fatal(err)
	}
	id, err := hex.DecodeString(span)
	if err != nil {
		t.Fatal(err)
	}
	return ID{string(of), string(id)}
}

// A Point is one of a metric, as it has arrived.
type Point struct {
	Resource   []*common.KeyValue
	Metric     string
	Cumulative bool
	*metricspb.HistogramDataPoint
}

// A Record is one of a log, as it has arrived.
type Record struct {
	Resource []*common.KeyValue
	*logspb.LogRecord
}

// A Request is one that was accepted.
type Request struct {
	Header http.Header
	Body   []byte // without compression
	Spans  []ID
}

// Direct returns a collector that is reached without a network: it is the transport of an
// http.Client.
func Direct(t testing.TB) *Collector {
	return &Collector{t: t, arrived: map[ID]*tracepb.Span{}, times: map[ID]int{}, changed: make(chan struct{})}
}

// RoundTrip answers a request.
func (c *Collector) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	c.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// New starts a collector.
func New(t testing.TB) *Collector { return start(t, (*httptest.Server).Start) }

// NewTLS starts a collector that takes TLS as settings say.
func NewTLS(t testing.TB, settings *tls.Config) *Collector {
	return start(t, func(s *httptest.Server) {
		s.TLS = settings
		s.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that are to fail
		s.StartTLS()
	})
}

func start(t testing.TB, begin func(*httptest.Server)) *Collector {
	c := Direct(t)
	c.Server = httptest.NewUnstartedServer(c)
	begin(c.Server)
	t.Cleanup(func() {
		c.CloseClientConnections()
		c.Close()
	})
	return c
}

// Fail has f answer requests from now on, the n-th of them, from 1; where it returns false
// the request is accepted. nil: all are.
func (c *Collector) Fail(f func(n int, w http.ResponseWriter, r *http.Request) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	c.fail = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		n++
		return f != nil && f(n, w, r)
	}
}

func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fail != nil && c.fail(0, w, r) {
		return
	}
	body, err := read(r)
	if err != nil { // the sender has gone away
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	kind := r.Header.Get("Content-Type")
	decode := func(to proto.Message) {
		err := proto.Unmarshal(body, to)
		if kind == "application/json" {
			err = protojson.Unmarshal(body, to)
		}
		if err != nil {
			c.t.Errorf("a request of %d bytes: %v", len(body), err)
		}
	}
	var ids []ID
	switch {
	case strings.HasSuffix(r.URL.Path, "/v1/metrics"):
		var in metricscollector.ExportMetricsServiceRequest
		decode(&in)
		c.takePoints(&in)
	case strings.HasSuffix(r.URL.Path, "/v1/logs"):
		var in logscollector.ExportLogsServiceRequest
		decode(&in)
		c.takeRecords(&in)
	default:
		var in collector.ExportTraceServiceRequest
		decode(&in)
		ids = c.takeSpans(&in)
	}
	c.requests = append(c.requests, Request{r.Header.Clone(), body, ids})
	close(c.changed)
	c.changed = make(chan struct{})
	w.Header().Set("Content-Type", kind)
}

func (c *Collector) takePoints(in *metricscollector.ExportMetricsServiceRequest) {
	for _, of := range in.ResourceMetrics {
		for _, scope := range of.ScopeMetrics {
			for _, m := range scope.Metrics {
				h := m.GetHistogram()
				for _, p := range h.GetDataPoints() {
					c.points = append(c.points, Point{
						of.Resource.GetAttributes(), m.Name,
						h.AggregationTemporality == metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, p,
					})
				}
			}
		}
	}
}

func (c *Collector) takeRecords(in *logscollector.ExportLogsServiceRequest) {
	for _, of := range in.ResourceLogs {
		for _, scope := range of.ScopeLogs {
			for _, r := range scope.LogRecords {
				c.records = append(c.records, Record{of.Resource.GetAttributes(), r})
			}
		}
	}
}

func (c *Collector) takeSpans(in *collector.ExportTraceServiceRequest) (ids []ID) {
	for _, of := range in.ResourceSpans {
		c.about = append(c.about, of.Resource.GetAttributes()...)
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				id := ID{string(s.TraceId), string(s.SpanId)}
				c.arrived[id] = s
				c.times[id]++
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// Records returns the records that have arrived, in order.
func (c *Collector) Records() []Record {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.records[:len(c.records):len(c.records)]
}

// Points returns the points that have arrived, in order.
func (c *Collector) Points() []Point {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.points[:len(c.points):len(c.points)]
}

func read(r *http.Request) ([]byte, error) {
	var body io.Reader = r.Body
	if r.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, err
		}
		body = z
	}
	var b bytes.Buffer
	_, err := b.ReadFrom(body)
	return b.Bytes(), err
}

// Requests returns the requests that were accepted.
func (c *Collector) Requests() []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.requests[:len(c.requests):len(c.requests)]
}

// Times returns how often each span has arrived.
func (c *Collector) Times() map[ID]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	times := make(map[ID]int, len(c.times))
	for id, n := range c.times {
		times[id] = n
	}
	return times
}

// Values returns the names of the spans that have arrived and of their events, and the text
// of their attributes and of those of resources.
func (c *Collector) Values() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	add := func(name string, attrs []*common.KeyValue) {
		all = append(all, name)
		for _, a := range attrs {
			all = append(all, a.Value.GetStringValue())
			for _, v := range a.Value.GetArrayValue().GetValues() {
				all = append(all, v.GetStringValue())
			}
		}
	}
	add("", c.about)
	for _, p := range c.points {
		add("", p.Resource)
		add(p.Metric, p.Attributes)
	}
	for _, r := range c.records {
		add("", r.Resource)
		add(r.Body.GetStringValue(), r.Attributes)
	}
	for _, s := range c.arrived {
		add(s.Name, s.Attributes)
		for _, e := range s.Events {
			add(e.Name, e.Attributes)
		}
		for _, l := range s.Links {
			add("", l.Attributes)
		}
	}
	return all
}

// Wait waits until so many spans have arrived, each counted once.
func (c *Collector) Wait(n int) {
	c.t.Helper()
	for {
		c.mu.Lock()
		have, changed := len(c.arrived), c.changed
		c.mu.Unlock()
		if have >= n {
			return
		}
		select {
		case <-changed:
		case <-c.t.Context().Done():
			c.t.Fatalf("%d spans have arrived, want %d", have, n)
		}
	}
}
