package otlp

import (
	"slices"

	collector "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/slim/otlp/logs/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	"google.golang.org/protobuf/proto"

	"github.com/acptap/acptap/record/trace/spans"
)

// MaxRecords limits the records in a request.
const MaxRecords = 512

// FrameEvent is the event name of records.
const FrameEvent = "acp.frame"

// Records are a request with frames.
type Records []spans.Record

// Len returns the number of records.
func (list Records) Len() int { return len(list) }

// message returns an ExportLogsServiceRequest. Records with the same resource share it.
func (list Records) message(by *common.InstrumentationScope, id func([]byte) []byte) proto.Message {
	r := &collector.ExportLogsServiceRequest{}
	var of *logspb.ResourceLogs
	for i := range list {
		if i == 0 || !slices.Equal(list[i].Resource, list[i-1].Resource) {
			of = &logspb.ResourceLogs{
				Resource:  &resource.Resource{Attributes: attributes(list[i].Resource)},
				ScopeLogs: []*logspb.ScopeLogs{{Scope: by, SchemaUrl: spans.SchemaURL}},
			}
			r.ResourceLogs = append(r.ResourceLogs, of)
		}
		of.ScopeLogs[0].LogRecords = append(of.ScopeLogs[0].LogRecords, record(&list[i], id))
	}
	return r
}

func record(r *spans.Record, id func([]byte) []byte) *logspb.LogRecord {
	to := &logspb.LogRecord{
		TimeUnixNano: nanoseconds(r.Time), ObservedTimeUnixNano: nanoseconds(r.Time), EventName: FrameEvent,
		SeverityNumber: logspb.SeverityNumber_SEVERITY_NUMBER_DEBUG, SeverityText: "DEBUG",
		Attributes: attributes(r.Attrs), TraceId: id(r.In.Trace[:]), SpanId: id(r.In.ID[:]), Flags: sampled,
	}
	if r.Stderr {
		to.SeverityNumber, to.SeverityText = logspb.SeverityNumber_SEVERITY_NUMBER_INFO, "INFO"
	}
	if r.Body != "" {
		to.Body = value(r.Body)
	}
	return to
}
