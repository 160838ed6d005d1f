package stats

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/termtext"
	"github.com/acptap/acptap/record/trace"
)

// Turns says how long turns and the client's calls took. A turn without an end counts in
// everything but the time of turns. The zero value is ready to use.
type Turns struct {
	Timing                 // of the turns as a whole
	Calls    Timing        // requests of the client
	Untimed  int           // turns with unknown times
	Waited   trace.Spend   // what they waited for, up to the last frame of the tape
	Parts    [4]Series     // the same for each turn that waited at all: for the agent, tools, the client, the user
	Output   Timing        // from the prompt to the first output
	Text     Timing        // from the prompt to the first text
	Confirm  Timing        // from a cancel to the end
	Silences int           // of the agent (dialect.Silent)
	Silence  time.Duration // the longest one
	Before   Place         // the last frame before that
	Chunks   int
	Rate     Series // chunks in 1,000 seconds
	Work     trace.Work
	Usage    Usage

	ends    map[dialect.How]*Timing
	written int // chunks that came while the turn streamed
	stream  time.Duration
}

// An Ended counts the turns of one outcome.
type Ended struct {
	How dialect.How
	*Timing
}

// Ends returns the turns by their outcome, most frequent first.
func (t *Turns) Ends() (list []Ended) {
	for how, timing := range t.ends {
		list = append(list, Ended{how, timing})
	}
	slices.SortFunc(list, func(a, b Ended) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(b.Took.sum, a.Took.sum), cmp.Compare(a.How.String(), b.How.String()))
	})
	return list
}

// ended returns the turns of an outcome.
func (t *Turns) ended(how dialect.How) *Timing {
	if t.ends == nil {
		t.ends = map[dialect.How]*Timing{}
	}
	if t.ends[how] == nil {
		t.ends[how] = &Timing{}
	}
	return t.ends[how]
}

// Add counts a turn, except for the sum of its tokens.
func (t *Turns) Add(e *trace.TurnEnd) {
	t.Work = sumOf(t.Work, e.Work)
	t.Chunks += e.Pace.Chunks
	t.Usage.add(&e.Usage)
	prompt, timed := Place{e.Run, e.Prompt}, !e.Untimed
	for _, timing := range []*Timing{&t.Timing, t.ended(e.Outcome.How)} {
		if e.How.Known() {
			timing.End(e.How == trace.Failed, e.Ended-e.Began, timed, prompt)
		} else {
			timing.Open++
		}
	}
	if !timed {
		t.Untimed++
		return
	}
	spend := e.Spend()
	t.Waited = t.Waited.Plus(spend)
	for i, part := range Parts(spend) {
		if part.Took > 0 {
			t.Parts[i].Add(int64(part.Took))
		}
	}
	if e.Output != 0 {
		t.Output.End(false, e.FirstOutput-e.Began, true, prompt)
	}
	if e.Pace.Text != 0 {
		t.Text.End(false, e.Pace.FirstText-e.Began, true, prompt)
	}
	if took, ok := e.Confirmed(); ok {
		t.Confirm.End(false, took, true, prompt)
	}
	if rate, ok := e.Pace.Rate(); ok {
		t.Rate.Add(int64(rate * 1000))
		t.written, t.stream = t.written+e.Pace.Chunks-1, t.stream+e.Pace.Streaming
	}
	if t.Silences += e.Pace.Silences; e.Pace.Silence > t.Silence {
		t.Silence, t.Before = e.Pace.Silence, Place{e.Run, e.Pace.Before}
	}
}

// Merge adds other turns, which stay unchanged.
func (t *Turns) Merge(o *Turns) {
	t.Timing.merge(&o.Timing)
	t.Calls.merge(&o.Calls)
	t.Untimed += o.Untimed
	t.Waited = t.Waited.Plus(o.Waited)
	for i := range t.Parts {
		t.Parts[i].Merge(&o.Parts[i])
	}
	t.Output.merge(&o.Output)
	t.Text.merge(&o.Text)
	t.Confirm.merge(&o.Confirm)
	if t.Silences += o.Silences; o.Silence > t.Silence {
		t.Silence, t.Before = o.Silence, o.Before
	}
	t.Chunks += o.Chunks
	t.Rate.Merge(&o.Rate)
	t.Work = sumOf(t.Work, o.Work)
	t.Usage.merge(&o.Usage)
	for how, end := range o.ends {
		t.ended(how).merge(end)
	}
	t.written, t.stream = t.written+o.written, t.stream+o.stream
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
	return trace.Work{Tools: a.Tools + b.Tools, FailedTools: a.FailedTools + b.FailedTools, CancelledTools: a.CancelledTools + b.CancelledTools, Requests: trace.Requests{
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
