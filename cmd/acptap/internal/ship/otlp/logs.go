package otlp

import (
	"slices"

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
func (list Records) message(by Encoder) message {
	var all, records []message
	for i := range list {
		records = append(records, record(&list[i]))
		if i+1 == len(list) || !slices.Equal(list[i].Resource, list[i+1].Resource) {
			all, records = append(all, by.from(list[i].Resource, "scopeLogs", "logRecords", records)), nil
		}
	}
	return message{{1, "resourceLogs", all}}
}

// Values of the enum SeverityNumber (logs.proto).
const (
	severityDebug = 5
	severityInfo  = 9
)

func record(r *spans.Record) message {
	severity, name := varint(severityDebug), text("DEBUG")
	if r.Stderr {
		severity, name = severityInfo, "INFO"
	}
	var body message
	if r.Body != "" {
		body = value(r.Body)
	}
	return message{
		{1, "timeUnixNano", nanoseconds(r.Time)}, {11, "observedTimeUnixNano", nanoseconds(r.Time)},
		{2, "severityNumber", severity}, {3, "severityText", name}, {5, "body", body}, {6, "attributes", attributes(r.Attrs)},
		{8, "flags", fixed32(sampled)}, {9, "traceId", id(r.In.Trace[:])}, {10, "spanId", id(r.In.ID[:])}, {12, "eventName", text(FrameEvent)},
	}
}
