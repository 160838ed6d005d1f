package lake

import (
	"strings"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// A Frame is a row of the table frames: a message on the wire, a line of stderr, or an
// event between them.
type Frame struct {
	On
	Frame   int64    `parquet:"frame,delta"`
	Time    int64    `parquet:"time,optional,timestamp(microsecond)"`
	At      *float64 `parquet:"at_seconds"`
	Dir     string   `parquet:"dir,dict"`
	Kind    string   `parquet:"kind,dict"`
	Origin  string   `parquet:"origin,dict"`
	Method  string   `parquet:"method,optional,dict"`
	Update  string   `parquet:"update,optional,dict"`
	Session string   `parquet:"session,optional,dict"`
	ID      string   `parquet:"request_id,optional"`
	Request int64    `parquet:"request_frame,optional"`
	Failed  bool     `parquet:"failed"`
	Error   *int64   `parquet:"error_code"`
	Bytes   int64    `parquet:"bytes"`
	Stream  int64    `parquet:"stream,optional"`
	Body    string   `parquet:"body,optional"`
}

// frame returns the row of a frame.
func (b *Builder) frame(f *dialect.Frame) Frame {
	row := Frame{
		On: b.on(), Frame: int64(f.Seq), Time: b.moment(f.At, f.Untimed), At: secondsIf(!f.Untimed, f.At),
		Dir: f.Dir.String(), Kind: f.Kind.String(), Origin: f.Origin.String(),
		Method: text(f.Method), Update: text(f.Update), Session: text(f.Session), Request: int64(f.Annotation.Request), Failed: f.Failed,
		Bytes: f.Size, Stream: int64(f.Stream),
	}
	if f.Kind == wire.Request || f.Kind == wire.Response {
		e := wire.Scan(f.Raw)
		row.ID = text(string(e.ID))
		if f.Failed && e.Error != nil {
			row.Error = errorCode(e.Error.Get("code").Raw())
		}
	}
	if b.Content {
		row.Body = strings.ToValidUTF8(string(f.Raw), "\uFFFD")
	}
	return row
}
