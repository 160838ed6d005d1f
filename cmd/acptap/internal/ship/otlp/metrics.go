package otlp

import (
	"fmt"
	"strings"

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
func (p Points) message(by Encoder) message {
	var all []message
	for _, of := range p.Measured {
		all = append(all, by.from(of.Resource, "scopeMetrics", "metrics", p.metrics(of.Points)))
	}
	return message{{1, "resourceMetrics", all}}
}

// Values of the enum AggregationTemporality (metrics.proto).
const (
	delta      = 1
	cumulative = 2
)

// metrics returns histograms. Points of the same metric must be adjacent.
func (p Points) metrics(points []spans.Point) (list []message) {
	temporality := varint(delta)
	if p.Cumulative {
		temporality = cumulative
	}
	var data []message
	for i := range points {
		one := &points[i]
		data = append(data, message{
			{9, "attributes", attributes(one.Attrs)}, {2, "startTimeUnixNano", nanoseconds(one.Start)}, {3, "timeUnixNano", nanoseconds(one.End)},
			{4, "count", fixed64(one.Count)}, {5, "sum", one.Sum}, {6, "bucketCounts", counts(one.Buckets)}, {7, "explicitBounds", bounds(one.Bounds)},
			{11, "min", one.Min}, {12, "max", one.Max},
		})
		if i+1 == len(points) || one.Metric != points[i+1].Metric {
			histogram := message{{1, "dataPoints", data}, {2, "aggregationTemporality", temporality}}
			list = append(list, message{{1, "name", text(one.Name)}, {2, "description", text(one.About)}, {3, "unit", text(one.Unit)}, {9, "histogram", histogram}})
			data = nil
		}
	}
	return list
}
