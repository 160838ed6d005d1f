package summary

import (
	"fmt"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/trace"
)

// A call is a request that may be given up.
type call struct {
	what string
	at   time.Duration
}

func (c call) name() string { return c.what }

// givenUp says which call the client gave up with a frame.
func (t *Tally) givenUp(f *dialect.Frame, run int) string {
	c, known := t.tape.calls[f.Request]
	if !known {
		return "a request given up"
	}
	took := seconds(f.At - c.at)
	gaveUp := "given up after " + took.String()
	t.called.end(f.Request, f.At, dialect.Errored, gaveUp)
	t.steps.add(c.name, "", "", c.at, f.At, Frame{Run: run, Seq: f.Request})
	return fmt.Sprintf("%s %s", c.what, gaveUp)
}

// await remembers a call until it has an answer.
func (t *Tally) await(e *trace.Event, f *dialect.Frame) {
	if e.Phase == trace.Began && f != nil && f.Kind == wire.Request && len(t.tape.tries) < maxNames {
		if t.tape.tries == nil {
			t.tape.tries = map[uint64]attempt{}
		}
		t.tape.tries[e.First] = callAttempt(f, e)
	}
	switch {
	case e.Phase == trace.Ended:
		if tried, known := t.tape.tries[e.First]; known && e.End == trace.Completed && !dialect.Does(e.Method, dialect.Prompts) {
			t.failures.mend(tried, Frame{Run: e.Run, Seq: e.Seq})
		}
		delete(t.tape.tries, e.First)
		delete(t.tape.calls, e.First)
	case e.Dir == wire.ClientToAgent && len(t.tape.calls) < maxNames:
		if t.tape.calls == nil {
			t.tape.calls = map[uint64]call{}
		}
		t.tape.calls[e.First] = call{callName(e) + t.called.withInput(e), e.Began}
	}
}

// leave notes what got no answer.
func (t *Tally) leave(request uint64, text string) {
	if t.tape.open == nil {
		t.tape.open = map[uint64]string{}
	}
	if _, known := t.tape.open[request]; known || len(t.tape.open) < maxNames {
		t.tape.open[request] = text
	}
}
