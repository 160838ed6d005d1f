package otlp

import (
	"fmt"
	"strings"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	"google.golang.org/protobuf/proto"

	"github.com/acptap/acptap/record/trace/spans"
)

// Cumulative reports whether points must cover everything since the start of their tape,
// instead of only what is new. The default is only what is new, because tapes are
// short-lived.
func (env Environment) Cumulative() (bool, error) {
	const name = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
	switch value := strings.ToLower(strings.TrimSpace(env(name))); value {
	case "", "delta", "lowmemory": // lowmemory means delta for histograms
		return false, nil
	case "cumulative":
		return true, nil
	default:
		return false, fmt.Errorf("%s is delta, cumulative or lowmemory, not %q", name, value)
	}
}

// Points are a request with measurements.
type Points struct {
	Measured   []spans.Measured
	Cumulative bool
}

// Len returns the number of points.
func (p Points) Len() (n int) {
	for _, of := range p.Measured {
		n += len(of.Points)
	}
	return n
}

// message returns an ExportMetricsServiceRequest.
func (p Points) message(by *common.InstrumentationScope, _ func([]byte) []byte) proto.Message {
	r := &collector.ExportMetricsServiceRequest{}
	for _, of := range p.Measured {
		r.ResourceMetrics = append(r.ResourceMetrics, &metricspb.ResourceMetrics{
			Resource:     &resource.Resource{Attributes: attributes(of.Resource)},
			ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: by, SchemaUrl: spans.SchemaURL, Metrics: p.metrics(of.Points)}},
		})
	}
	return r
}

// metrics returns histograms. Points of the same metric must be adjacent.
func (p Points) metrics(points []spans.Point) (list []*metricspb.Metric) {
	temporality := metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	if p.Cumulative {
		temporality = metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
	}
	var of *metricspb.Histogram
	for i := range points {
		one := &points[i]
		if i == 0 || one.Metric != points[i-1].Metric {
			of = &metricspb.Histogram{AggregationTemporality: temporality}
			list = append(list, &metricspb.Metric{
				Name: one.Name, Unit: one.Unit, Description: one.About, Data: &metricspb.Metric_Histogram{Histogram: of},
			})
		}
		of.DataPoints = append(of.DataPoints, &metricspb.HistogramDataPoint{
			Attributes: attributes(one.Attrs), StartTimeUnixNano: nanoseconds(one.Start), TimeUnixNano: nanoseconds(one.End),
			Count: one.Count, Sum: &one.Sum, Min: &one.Min, Max: &one.Max,
			BucketCounts: one.Buckets, ExplicitBounds: one.Bounds,
		})
	}
	return list
}
