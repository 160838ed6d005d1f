package lake

import (
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/trace"
)

// A Call is a row of the table calls: a request and its response.
type Call struct {
	On
	Session  string   `parquet:"session,optional,dict"`
	Turn     int64    `parquet:"turn,optional"`
	Frame    int64    `parquet:"frame"`
	EndFrame int64    `parquet:"end_frame,optional"`
	Dir      string   `parquet:"dir,dict"`
	Request  string   `parquet:"request_id,optional"`
	Method   string   `parquet:"method,dict"`
	Tool     string   `parquet:"tool,optional,dict"`
	Start    int64    `parquet:"start,optional,timestamp(microsecond)"`
	Latency  *float64 `parquet:"latency_seconds"`
	Outcome  string   `parquet:"outcome,dict"`
	Error    *int64   `parquet:"error_code"`

	Cancelled     bool  `parquet:"cancelled"`
	UntilClose    bool  `parquet:"until_close"`
	RequestBytes  int64 `parquet:"request_bytes"`
	ResponseBytes int64 `parquet:"response_bytes,optional"`
}

// call returns the row of a call that has ended or that was left open. A call that by
// design stays open until its connection ends has no latency.
func (b *Builder) call(e *trace.Event) Call {
	c := e.Call
	row := Call{
		On: b.on(), Session: text(e.SessionID), Turn: int64(e.InTurn), Frame: int64(e.First), Dir: e.Dir.String(), Request: text(e.ID),
		Method: text(c.Name()), Tool: text(c.Tool), Start: b.moment(e.Began, e.Untimed), Outcome: e.End.String(),
		Cancelled: e.Cancelled, UntilClose: dialect.EndsAtClose(e.Method), RequestBytes: c.Sent, ResponseBytes: c.Got,
	}
	if e.End == trace.Failed {
		row.Error = errorCode(e.Reason)
	}
	if e.End.Known() {
		row.EndFrame = int64(e.Seq)
		row.Latency = secondsIf(!e.Untimed && !row.UntilClose, e.At-e.Began)
	}
	return row
}
