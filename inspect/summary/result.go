package summary

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/acptap/acptap/inspect/stats"
	"github.com/acptap/acptap/proxy/dialect"
	"github.com/acptap/acptap/record/reading"
	"github.com/acptap/acptap/record/trace"
)

// Of returns the summary of tapes, in time order, and why parts of them cannot be read.
// If the last one is still being recorded, the summary covers what has been recorded so
// far.
func Of(ctx context.Context, r *reading.Reader) (s Summary, broken []error) {
	return of(ctx, r, newFinder(r.Agents()))
}

// Unjudged returns what Of does, in about half the time, without what acptap check finds.
func Unjudged(ctx context.Context, r *reading.Reader) (s Summary, broken []error) {
	return of(ctx, r, &finder{})
}

func of(ctx context.Context, r *reading.Reader, f *finder) (s Summary, broken []error) {
	h := reading.History{Trace: trace.Trace{Brief: true}}
	var t Tally
	for e := range r.Read(ctx) {
		f.take(e)
		own := h.Take(e)
		if e.Err != nil {
			broken = append(broken, e.Err)
		}
		switch {
		case own:
			t.Take(&e.Frame, &h.Trace)
		case e.Part == nil || e.Part.IsServer():
		case e.Kind == reading.Begins:
			t.End(&h.Trace) // of the previous tape
			t.Begin(e.Part.Info)
		case e.Err != nil:
			t.Broken()
		}
	}
	h.End()
	t.End(&h.Trace)
	for one := range h.Servers() {
		t.Stats.Server(one)
	}
	t.sum.Found = f.end(ctx)
	s = t.Summary()
	s.SetServers(t.Stats.Servers(), h.Uncalled(h.Trace.Sessions...))
	return s, broken
}

// Summary returns the summary of the frames taken so far.
func (t *Tally) Summary() Summary {
	s := t.sum
	s.Tapes = slices.Clone(s.Tapes)
	s.Took, s.Untimed = t.took()
	turns := t.Stats.Turns()
	once := t.beside.once(turns.Waited)
	s.turns(turns, once, t.idle.until(t.tape.last))
	s.Time.Slowest = t.steps.told(s.Took-s.Time.Idle, turns)
	s.Time.Beside = waitedOf(trace.Spend{User: turns.Waited.User - once.User, Client: turns.Waited.Client - once.Client, Tool: turns.Waited.Tool - once.Tool, Agent: turns.Waited.Agent - once.Agent})
	s.Exchanges, s.Parts = t.said.told(t.commands.lastLine)
	s.Left = leftOf(s.Exchanges)
	s.Ran, s.Changes = t.programs.list(), t.changesTold()
	if s.Turns.Count == 0 {
		s.calls(&t.Stats, t.called.failed)
		s.Time.Latency = spreadOf(&turns.Calls)
		s.all, s.Time.Spent = t.called.all(), t.called.times()
		s.Dir = commonDir(s.all)
		if !s.Untimed {
			s.Time.Idle = max(s.Took-seconds(t.called.busy), 0)
			if pause := t.called.pause; pause.Took > 0 {
				s.Time.Pause = &pause
			}
		}
	} else {
		for _, one := range t.Stats.Tools() {
			titles, files := titles(t.told[one.Name])
			s.Tools = append(s.Tools, Tool{one.Name, one.Total(), one.Failed, one.Open, titles, files, t.more[one.Name]})
		}
		slices.SortFunc(s.Tools, func(a, b Tool) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.What, b.What)) })
		if turns.Work.Tools <= fewCalls {
			slices.SortStableFunc(s.Tools, func(a, b Tool) int { return cmp.Compare(slices.Index(t.tools, a.What), slices.Index(t.tools, b.What)) })
		}
	}
	s.usage(&turns.Usage, t.Stats.Sessions())
	s.Failures = Failures{Count: t.failures.count, Kinds: t.failures.list(), Worst: t.failures.worst(), none: t.failures.none, quiet: t.failures.quiet}
	if call := t.said.unfinished(); call != "" {
		for i := range s.Failures.Worst {
			if f := &s.Failures.Worst[i]; f.Kind == dialect.BadExit && f.Frame.Run == len(s.Tapes)-1 {
				f.What += " during" + quoted(call)
			}
		}
	}
	s.Failures.Mended, s.Failures.Unmended, s.Failures.joined = t.failures.fates()
	s.Rejected = Rejections{Count: t.declined.Count, ToolCalls: t.declined.ToolCalls, First: slices.Clone(t.declined.First)}
	s.Stopped = slices.Clone(s.Stopped)
	s.Slow = t.slow.list()
	for _, one := range t.rules.List() {
		s.Rules = append(s.Rules, Count{What: one.Name, Count: one.Acts})
	}
	if t.hears && t.stderr.retries.Count > 0 {
		retries := t.stderr.retries
		s.Retries = &retries
	}
	if t.hears && t.stderr.model.limited.Count > 0 {
		limited := t.stderr.model.limited
		s.Time.Limited = &limited
	}
	t.name(&s)
	return s
}

// turns says how turns ended, what they waited for, and how long it was until the next one.
func (s *Summary) turns(t *stats.Turns, waited trace.Spend, pause Pause) {
	s.Turns.Count = t.Total()
	for _, end := range t.Ends() {
		if end.How == dialect.Running {
			s.Turns.Running = end.Total()
			continue
		}
		s.Turns.Ends = append(s.Turns.Ends, Count{What: end.How.String(), Count: end.Total(), how: end.How})
	}
	byCount(s.Turns.Ends)
	s.Time.FirstOutput = spreadOf(&t.Output)
	s.Time.Waited = waitedOf(waited)
	s.Time.Silences = t.Silences
	if !s.Untimed && s.Turns.Count > 0 {
		s.Time.Idle = max(s.Took-s.Time.StartUp-seconds(waited.Sum()), 0)
	}
	if !s.Untimed && pause.Took > 0 {
		s.Time.Pause = &pause
	}
}

// spreadOf returns the spread of times, or nil if there are none.
func spreadOf(t *stats.Timing) *Spread {
	median, ok := t.Took.Percentile(50)
	if !ok {
		return nil
	}
	return &Spread{t.Took.Count(), seconds(median), seconds(t.Took.Max()), Frame{Run: t.Slowest.Run, Seq: t.Slowest.Seq}}
}

// calls says what the client called.
func (s *Summary) calls(c *stats.Collector, failed map[string]int) {
	for method, n := range c.Asked() {
		one := Call{Method: method, Count: n}
		if dialect.Does(method, dialect.CallsTool) {
			one.Tools = countsOf(c.Tools())
			for i := range one.Tools {
				one.Tools[i].failed = failed[one.Tools[i].What]
			}
		}
		s.Calls = append(s.Calls, one)
	}
	slices.SortFunc(s.Calls, func(a, b Call) int { return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Method, b.Method)) })
}

// fewCalls is the largest number of tool calls that are told in their order. Of more, the most
// frequent come first.
const fewCalls = 20

// countsOf returns how often things happened, most frequent first.
func countsOf(list []stats.Named) (counts []Count) {
	for _, one := range list {
		counts = append(counts, Count{What: one.Name, Count: one.Total()})
	}
	byCount(counts)
	return counts
}

// byCount sorts what happened: most frequent first, then by name.
func byCount(counts []Count) {
	slices.SortFunc(counts, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.how, b.how), cmp.Compare(a.What, b.What))
	})
}

// usage says what turns and sessions used.
func (s *Summary) usage(u *stats.Usage, sessions stats.Sessions) {
	s.Usage = Usage{Turns: u.Turns, Tokens: u.Tokens, Running: u.Running}
	if c := sessions.Newest; c != nil {
		s.Usage.Context = &Context{c.Used, c.Size, c.Peak}
	}
	for _, currency := range slices.Sorted(maps.Keys(sessions.Costs)) {
		cost := sessions.Costs[currency]
		s.Usage.Costs = append(s.Usage.Costs, Cost{dialect.Cost{Amount: cost.Sum, Currency: currency}, cost.Each.Count()})
	}
	if s.Sessions = sessions.N; s.Sessions == 1 {
		s.Session, s.Title = sessions.Any.ID, sessions.Any.Title
	}
}

// name gives the frames of a summary their labels.
func (t *Tally) name(s *Summary) {
	label := func(f *Frame) {
		switch {
		case t.Label != nil:
			f.Label = t.Label(f.Seq)
		case len(s.Tapes) > 1:
			f.Label = fmt.Sprintf("%d.%d", f.Run+1, f.Seq)
		default:
			f.Label = fmt.Sprint(f.Seq)
		}
	}
	for _, spread := range []*Spread{s.Time.FirstOutput, s.Time.Latency} {
		if spread != nil {
			label(&spread.Frame)
		}
	}
	for i := range s.Time.Slowest {
		label(&s.Time.Slowest[i].Frame)
	}
	for i := range s.Failures.Worst {
		one := &s.Failures.Worst[i]
		if one.Again != nil {
			again := *one.Again
			label(&again.Frame)
			one.Again = &again
		}
		if one.Later.Seq != 0 {
			label(&one.Later)
		}
		if label(&one.Frame); one.Stderr != nil {
			quote := *one.Stderr
			label(&quote.Frame)
			one.Stderr = &quote
		}
	}
	for i := range s.Rejected.First {
		if label(&s.Rejected.First[i].Frame); s.Rejected.First[i].Later.Seq != 0 {
			label(&s.Rejected.First[i].Later)
		}
	}
	for i := range s.Changes {
		label(&s.Changes[i].Frame)
	}
	for i := range s.Stopped {
		label(&s.Stopped[i].Frame)
	}
	for i := range s.Exchanges {
		label(&s.Exchanges[i].Frame)
	}
	for i := range s.all {
		label(&s.all[i].Frame)
	}
	s.Called = told(s.all)
	if s.Retries != nil {
		label(&s.Retries.First.Frame)
	}
	for i := range s.Failures.Kinds {
		label(&s.Failures.Kinds[i].Frame)
	}
	for i := range s.Found.Hurts {
		label(&s.Found.Hurts[i].Frame)
	}
	for i := range s.Slow {
		label(&s.Slow[i].Frame)
	}
}
