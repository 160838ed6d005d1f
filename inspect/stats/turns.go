package stats

import (
	"strings"
	"time"

	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// Turns is what turns took, and what the client's calls took. Its zero value is ready to
// use.
type Turns struct {
	Timing               // of the turns as a whole
	Calls    Timing      // requests of the client
	Untimed  int         // turns that have ended, but have unknown times
	Waited   trace.Spend // what those that have ended waited for; it adds up to their time
	Parts    [4]Series   // the same for each turn that waited at all: for the agent, tools, the client, the user
	Output   Series      // from the prompt to the first output
	Text     Series      // from the prompt to the first text
	Confirm  Series      // from a cancel to the end
	Silences int         // of the agent (dialect.Silent)
	Silence  time.Duration
	Chunks   int
	Rate     Series // chunks in 1,000 seconds
	Work     trace.Work
	Usage    Usage

	ends    names[Timing] // by how they ended
	written int           // chunks that came in the time of stream
	stream  time.Duration
}

// An ended is a turn to be counted.
type ended struct {
	*trace.Turn
	end    string // its outcome
	failed bool
}

// place returns where a turn began.
func (e *ended) place() Place { return Place{e.Run, e.Prompt} }

// add counts a turn.
func (t *Turns) add(e *ended) {
	timed := !e.Untimed
	took := e.Ended - e.Began
	t.End(e.failed, took, timed, e.place())
	t.ends.of(e.end).End(e.failed, took, timed, e.place())
	t.Work = sumOf(t.Work, e.Work)
	t.Chunks += e.Pace.Chunks
	t.Usage.add(&e.Usage)
	t.respond(e)
	if !timed {
		t.Untimed++
		return
	}
	spend := e.Spend(e.Ended)
	t.Waited = t.Waited.Plus(spend)
	for i, part := range Parts(spend) {
		if part.Took > 0 {
			t.Parts[i].Add(int64(part.Took))
		}
	}
	if took, ok := e.Confirmed(); ok {
		t.Confirm.Add(int64(took))
	}
	if rate, ok := e.Pace.Rate(); ok {
		t.Rate.Add(int64(rate * 1000))
		t.written, t.stream = t.written+e.Pace.Chunks-1, t.stream+e.Pace.Streaming
	}
	t.Silences, t.Silence = t.Silences+e.Pace.Silences, max(t.Silence, e.Pace.Silence)
}

// leave counts a turn without an end.
func (t *Turns) leave(e *ended) {
	t.Open++
	t.respond(e)
}

// respond counts how long the first output and the first text of a turn took.
func (t *Turns) respond(e *ended) {
	if e.Output != 0 && !e.Untimed {
		t.Output.Add(int64(e.FirstOutput - e.Began))
	}
	if e.Pace.Text != 0 && !e.Untimed {
		t.Text.Add(int64(e.Pace.FirstText - e.Began))
	}
}

// rate returns the chunks per second. ok is false if that is unknown.
func (t *Turns) rate() (perSecond float64, ok bool) {
	if t.stream <= 0 {
		return 0, false
	}
	return float64(t.written) / t.stream.Seconds(), true
}

func sumOf(a, b trace.Work) trace.Work {
	r, s := a.Requests, b.Requests
	return trace.Work{Tools: a.Tools + b.Tools, FailedTools: a.FailedTools + b.FailedTools, Requests: trace.Requests{
		Sent: r.Sent + s.Sent, Done: r.Done + s.Done, Refused: r.Refused + s.Refused, Cancelled: r.Cancelled + s.Cancelled, Failed: r.Failed + s.Failed,
	}}
}

// A Part is something that turns waited for.
type Part struct {
	Name string // for programs
	Of   string // for people
	Took time.Duration
}

// Parts returns the parts of a turn, the agent's first.
func Parts(s trace.Spend) [4]Part {
	return [...]Part{{"agent", "the agent", s.Agent}, {"tool", "tools", s.Tool}, {"client", "the client", s.Client}, {"user", "you", s.User}}
}

// WaitedText says what turns waited for, such as "waited for the agent 2.00 s, you 5 ms".
// It is empty if they waited for nothing.
func WaitedText(s trace.Spend) string {
	var parts []string
	for _, part := range Parts(s) {
		if part.Took > 0 {
			parts = append(parts, part.Of+" "+termtext.Duration(part.Took))
		}
	}
	return termtext.Labelled("waited for", strings.Join(parts, ", "))
}
