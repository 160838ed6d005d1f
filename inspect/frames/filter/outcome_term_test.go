package filter_test

import (
	"slices"
	"testing"

	"github.com/acptap/acptap/inspect/frames/filter"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
)

// ends has turns that end in different ways, and permissions with different answers.
const ends = `
>{"id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}
<{"id":0,"result":{"protocolVersion":1}}
>{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
<{"id":9,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"c"},"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}}
>{"id":9,"result":{"outcome":{"outcome":"selected","optionId":"n"}}}
<{"id":10,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"d"},"options":[{"optionId":"y","kind":"allow_once"},{"optionId":"n","kind":"reject_once"}]}}
>{"id":10,"result":{"outcome":{"outcome":"selected","optionId":"y"}}}
<{"id":1,"result":{"stopReason":"max_turn_requests"}}
>{"id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
<{"id":11,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"e"},"options":[]}}
>{"method":"session/cancel","params":{"sessionId":"s"}}
>{"id":11,"result":{"outcome":{"outcome":"cancelled"}}}
<{"id":2,"result":{"stopReason":"cancelled"}}
>{"id":3,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
<{"id":3,"error":{"code":-32603,"message":"cancelled"}}
>{"id":4,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
<{"id":4,"result":{"stopReason":"end_turn"}}
>{"id":5,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
<{"id":12,"method":"session/request_permission","params":{"sessionId":"s","toolCall":{"toolCallId":"f"},"options":[]}}
`

func TestEnds(t *testing.T) {
	for query, want := range map[string][]uint64{
		"stop:cancelled":                {13},
		"stop:max_turn_requests":        {8},
		"stop:end_turn":                 {17},
		"stop:refusal":                  nil,
		`outcome:"token limit reached"`: {8},
		"outcome:cancelled":             {13},
		"outcome:error":                 {15},
		"outcome:done":                  {17},
		"is:cancelled":                  {12, 13},
		"permission:rejected":           {4, 5},
		"permission:allowed":            {6, 7},
		"permission:cancelled":          {10, 12},
		"!permission:allowed turn:1 method:session/request_permission": {4, 5},
	} {
		f, err := filter.Parse(query)
		if err != nil {
			t.Error(err)
			continue
		}
		var track filter.Tracker
		track.LookAhead(frames(ends), true)
		var got []uint64
		for frame := range frames(ends) {
			s := track.Observe(&frame)
			if f.Match(&s) {
				got = append(got, frame.Seq)
			}
			frame.Raw = nil // as in a catalogue
			if !f.May(&s) && slices.Contains(want, frame.Seq) {
				t.Errorf("%s: frame %d cannot match without its bytes", query, frame.Seq)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %d, want %d", query, got, want)
		}
	}
}

// An agent that dies ends everything: the frame about it tells the outcome.
func TestEndsOfProcess(t *testing.T) {
	mark := func(raw string, events dialect.Events) *filter.Subject {
		f := wire.Frame{Kind: wire.Mark, Raw: []byte(raw), Size: int64(len(raw))}
		return &filter.Subject{Frame: &dialect.Frame{Frame: f, Annotation: dialect.Annotation{Events: events | dialect.AgentEnded}}}
	}
	for _, tt := range []struct {
		query string
		frame *filter.Subject
		want  bool
	}{
		{`outcome:"agent died"`, mark(`{"exit":{"signal":"SIGKILL"}}`, dialect.ExitFailed), true},
		{`outcome:"agent died"`, mark(`{"exit":{"code":1}}`, dialect.ExitFailed), true},
		{`outcome:"agent died"`, mark(`{"exit":{"code":1}}`, 0), false}, // its client ended it
		{`outcome:"agent died"`, mark(`{"exit":{"error":"no such file"}}`, dialect.ExitFailed), false},
		{`outcome:error`, mark(`{"exit":{"error":"no such file"}}`, dialect.ExitFailed), true},
	} {
		f, err := filter.Parse(tt.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Match(tt.frame); got != tt.want {
			t.Errorf("%s of %s: got %v", tt.query, tt.frame.Raw, got)
		}
	}
}
