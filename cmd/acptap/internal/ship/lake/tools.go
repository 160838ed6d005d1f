package lake

import (
	"time"

	"github.com/acptap/acptap/record/trace"
)

// A Tool is a row of the table tools: a tool call of an agent, or a tools/call of an MCP
// server.
type Tool struct {
	On
	Session    string   `parquet:"session,optional,dict"`
	Turn       int64    `parquet:"turn,optional"`
	Frame      int64    `parquet:"frame"`
	EndFrame   int64    `parquet:"end_frame,optional"`
	ToolCall   string   `parquet:"tool_call_id,optional"`
	Name       string   `parquet:"name,optional,dict"`
	Kind       string   `parquet:"kind,optional,dict"`
	Start      int64    `parquet:"start,optional,timestamp(microsecond)"`
	Duration   *float64 `parquet:"duration_seconds"`
	Permission *float64 `parquet:"permission_seconds"`
	Outcome    string   `parquet:"outcome,dict"`
	Status     string   `parquet:"status,optional,dict"`
	Cancelled  bool     `parquet:"cancelled"`
	Title      string   `parquet:"title,optional"`
}

// tool returns the row of a tool call that has ended or was left open. took excludes the
// time spent asking the user.
func (b *Builder) tool(e *trace.Event, took time.Duration) Tool {
	c := e.ToolCall.ToolCall
	row := b.toolRow(e)
	row.ToolCall, row.Name, row.Kind, row.Status = text(c.ID), text(c.Name), text(c.Kind), text(c.Status)
	if row.Duration != nil {
		row.Duration, row.Permission = seconds(took), seconds(e.At-e.Began-took)
	}
	if b.Content {
		row.Title = text(c.Title)
	}
	return row
}

// toolOfServer returns the row of a tools/call.
func (b *Builder) toolOfServer(e *trace.Event) Tool {
	row := b.toolRow(e)
	row.Name = text(e.Call.Tool)
	return row
}

func (b *Builder) toolRow(e *trace.Event) Tool {
	row := Tool{
		On: b.on(), Session: text(e.SessionID), Turn: int64(e.InTurn), Frame: int64(e.First), Start: b.moment(e.Began, e.Untimed),
		Outcome: e.End.String(), Cancelled: e.Cancelled,
	}
	if e.End.Known() {
		row.EndFrame = int64(e.Seq)
		row.Duration = secondsIf(!e.Untimed, e.At-e.Began)
	}
	return row
}
