package lake

import (
	"github.com/acptap/acptap/record/trace"
)

// A Turn is a row of the table turns: a prompt and what the agent did for it.
type Turn struct {
	On
	Session  string   `parquet:"session,dict"`
	Turn     int64    `parquet:"turn"`
	Frame    int64    `parquet:"frame"`
	EndFrame int64    `parquet:"end_frame,optional"`
	Start    int64    `parquet:"start,optional,timestamp(microsecond)"`
	Duration *float64 `parquet:"duration_seconds"`

	Model      string   `parquet:"model,optional,dict"`
	Outcome    string   `parquet:"outcome,dict"`
	StopReason string   `parquet:"stop_reason,optional,dict"`
	ErrorCode  *int64   `parquet:"error_code"`
	Cancelled  bool     `parquet:"cancelled"`
	Confirm    *float64 `parquet:"cancel_to_end_seconds"`

	FirstOutput *float64 `parquet:"first_output_seconds"`
	FirstText   *float64 `parquet:"first_text_seconds"`
	UserTime    *float64 `parquet:"user_seconds"`
	ClientTime  *float64 `parquet:"client_seconds"`
	ToolTime    *float64 `parquet:"tool_seconds"`
	AgentTime   *float64 `parquet:"agent_seconds"`
	Silences    int64    `parquet:"silences"`
	Silence     *float64 `parquet:"longest_silence_seconds"`
	Chunks      int64    `parquet:"chunks"`
	Rate        *float64 `parquet:"chunks_per_second"`

	ToolCalls          int64 `parquet:"tool_calls"`
	FailedToolCalls    int64 `parquet:"failed_tool_calls"`
	CancelledToolCalls int64 `parquet:"cancelled_tool_calls"`
	Requests           int64 `parquet:"requests"`
	RefusedRequests    int64 `parquet:"refused_requests"`
	CancelledRequests  int64 `parquet:"cancelled_requests"`
	FailedRequests     int64 `parquet:"failed_requests"`

	InputTokens       *int64   `parquet:"input_tokens"`
	OutputTokens      *int64   `parquet:"output_tokens"`
	ThoughtTokens     *int64   `parquet:"thought_tokens"`
	CachedReadTokens  *int64   `parquet:"cached_read_tokens"`
	CachedWriteTokens *int64   `parquet:"cached_write_tokens"`
	TotalTokens       *int64   `parquet:"total_tokens"`
	ContextTokens     *int64   `parquet:"context_tokens"`
	ContextPeakTokens *int64   `parquet:"context_peak_tokens"`
	Cost              *float64 `parquet:"cost"`
	Currency          string   `parquet:"currency,optional,dict"`

	Title string `parquet:"title,optional"`
}

// turn returns the row of a turn about which everything is known.
func (b *Builder) turn(e *trace.TurnEnd) Turn {
	work, usage, tokens := &e.Work, &e.Usage, &e.Usage.Tokens
	row := Turn{
		On: b.on(), Session: text(e.Session.ID), Turn: int64(e.Number), Frame: int64(e.Prompt), EndFrame: int64(e.Turn.End), Start: b.moment(e.Began, e.Untimed),
		Model: text(e.Model), Outcome: e.Turn.Outcome.How.String(), StopReason: text(e.StopReason), Cancelled: e.Cancelled,
		Silences: int64(e.Pace.Silences), Chunks: int64(e.Pace.Chunks),
		ToolCalls: int64(work.Tools), FailedToolCalls: int64(work.FailedTools), CancelledToolCalls: int64(work.CancelledTools), Requests: int64(work.Requests.Sent),
		RefusedRequests: int64(work.Requests.Refused), CancelledRequests: int64(work.Requests.Cancelled), FailedRequests: int64(work.Requests.Failed),
		InputTokens: given(tokens.Input), OutputTokens: given(tokens.Output), ThoughtTokens: given(tokens.Thought),
		CachedReadTokens: given(tokens.CachedRead), CachedWriteTokens: given(tokens.CachedWrite), TotalTokens: given(tokens.Total),
		ContextTokens: given(usage.Context), ContextPeakTokens: given(usage.Peak),
	}
	if e.How == trace.Failed {
		row.ErrorCode = errorCode(e.Reason)
	}
	if usage.Cost.Currency != "" {
		row.Cost, row.Currency = &usage.Cost.Amount, text(usage.Cost.Currency)
	}
	if b.Content {
		row.Title = text(e.Title)
	}
	if !e.Untimed {
		row.timing(e)
	}
	return row
}

// timing sets the durations of a turn whose times are known.
func (r *Turn) timing(t *trace.TurnEnd) {
	r.FirstOutput = secondsIf(t.Output != 0, t.FirstOutput-t.Began)
	r.FirstText = secondsIf(t.Pace.Text != 0, t.Pace.FirstText-t.Began)
	r.Silence = secondsIf(t.Pace.Silences > 0, t.Pace.Silence)
	if rate, ok := t.Pace.Rate(); ok {
		r.Rate = &rate
	}
	if took, ok := t.Confirmed(); ok {
		r.Confirm = seconds(took)
	}
	r.Duration = secondsIf(!t.Open(), t.Ended-t.Began)
	spend := t.Spend()
	r.UserTime, r.ClientTime, r.ToolTime, r.AgentTime = seconds(spend.User), seconds(spend.Client), seconds(spend.Tool), seconds(spend.Agent)
}
