package script

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/replay/internal/rpc"
)

// await waits for what a step wants.
func (p *Player) await(ctx context.Context, s *Step) Outcome {
	o := Outcome{Step: s}
	limit := s.Within
	if limit == 0 {
		limit = p.Patience
	}
	switch s.Verb {
	case Exits, Children, Echo:
		p.awaitProcess(ctx, s, &o)
		return o
	case Closes:
		p.awaitClose(ctx, s, &o)
		return o
	case Shows:
		o.Got = "nobody sees what it shows"
		return o
	}
	w := want{p: p, s: s, from: p.taken}
	if err := w.prepare(); err != nil {
		o.Got = err.Error()
		return o
	}
	var timer <-chan time.Time
	if limit > 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		timer = t.C
	}
	for {
		if w.look(&o) {
			return o
		}
		if p.receive(ctx, timer) {
			continue
		}
		if w.look(&o) {
			return o
		}
		break
	}
	switch {
	case ctx.Err() != nil:
		o.Got = "it was interrupted"
	case s.Verb == None:
		o.State = Met
		if p.ended {
			o.Got = "it had ended"
		}
	case w.near != "":
		o.State, o.Got, o.Late = Missed, w.near, !p.ended
	case p.ended:
		o.State, o.Got = Missed, "it ended before that"
	default:
		o.State, o.Got, o.Late = Missed, fmt.Sprintf("nothing in %v", limit), true
	}
	return o
}

// A want is what a step waits for.
type want struct {
	p       *Player
	s       *Step
	from    int    // only messages after this one count, for a step of the verb None
	next    int    // the first message that was not looked at
	id      string // of the request whose answer is wanted
	pattern any
	near    string // what came that nearly fits
}

func (w *want) prepare() (err error) {
	s, p := w.s, w.p
	if w.pattern, err = p.Captures.fill(s.Value); err != nil {
		return err
	}
	if s.Verb != Result && s.Verb != Error && s.Verb != Answer {
		return nil
	}
	for _, r := range slices.Backward(p.sent) {
		if s.Name == "" || r.name == s.Name {
			w.id = r.id
			return nil
		}
	}
	return fmt.Errorf("no request was sent before line %d", s.Line)
}

// look reads the messages that have come, and reports whether the wait is over.
func (w *want) look(o *Outcome) bool {
	for ; w.next < len(w.p.inbox); w.next++ {
		m := &w.p.inbox[w.next]
		if m.taken || !w.concerns(m) {
			continue
		}
		fits := w.fits(m)
		switch {
		case w.s.Verb == None && w.next < w.from:
			continue
		case w.s.Verb == None && fits:
			o.State, o.Got, o.Line = Missed, said(m.e, m.raw), m.line
			return true
		case w.s.Verb == None:
			continue
		case !fits && w.id == "": // another such message may come
			w.near = said(m.e, m.raw) + ", not as wanted"
			continue
		}
		o.State, o.Got, o.Line = Met, said(m.e, m.raw), m.line
		if !fits {
			o.State = Missed
		}
		if m.e.Error != nil {
			o.Code = m.e.Error.Get("code").Raw()
		}
		m.taken = true
		w.p.taken = w.next + 1
		if w.s.Verb == Request && w.s.Name != "" {
			for i := range w.p.questions {
				if q := &w.p.questions[i]; q.id == string(m.e.ID) {
					q.name = w.s.Name
				}
			}
		}
		return true
	}
	return false
}

// noAnswer stands in place of a method for all answers that no step before has taken.
const noAnswer = "answer"

// concerns reports whether a message is one of which the step wants to know.
func (w *want) concerns(m *message) bool {
	switch w.s.Verb {
	case Result, Error, Answer:
		return m.e.Method == nil && string(m.e.ID) == w.id
	case Message, Raw, Pieces, Pad:
		return true
	case Request:
		return string(m.e.Method) == w.s.Method && m.e.ID != nil
	case Notify:
		return string(m.e.Method) == w.s.Method && m.e.ID == nil
	}
	if w.s.Method == noAnswer {
		return m.e.Method == nil
	}
	return string(m.e.Method) == w.s.Method // of None: either
}

// fits reports whether such a message is as wanted.
func (w *want) fits(m *message) bool {
	got := m.e.Params
	switch w.s.Verb {
	case Raw, Pieces:
		return string(m.raw) == strings.TrimSuffix(string(w.s.Bytes), "\n")
	case Message:
		got = m.raw
	case Result:
		if m.e.Error != nil {
			return false
		}
		got = m.e.Result
	case Error:
		if m.e.Error == nil || w.s.Code != "" && m.e.Error.Get("code").Raw() != w.s.Code {
			return false
		}
		got = m.e.Error
	case Answer:
		if got = m.e.Result; got == nil {
			got = m.e.Error
		}
	}
	if !w.s.Given {
		return true
	}
	v, err := decode(got)
	return err == nil && w.p.Captures.match(w.pattern, v)
}

// awaitProcess waits for the end of the process, of its children, or for what a server sees.
func (p *Player) awaitProcess(ctx context.Context, s *Step, o *Outcome) {
	if s.Verb == Echo {
		p.awaitEcho(ctx, s, o)
		return
	}
	if p.Process == nil {
		o.Got = "there is no process to watch"
		return
	}
	limit := time.NewTimer(s.Within)
	defer limit.Stop()
	if s.Verb == Exits {
		if p.awaitExit(ctx, limit.C) {
			o.State = Met
		} else {
			o.State, o.Got, o.Late = Missed, fmt.Sprintf("it still ran %v later", s.Within), true
		}
		return
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		left := p.Process.Children()
		if len(left) == 0 {
			o.State = Met
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			o.Got = "it was interrupted"
			return
		case <-limit.C:
			o.State, o.Late = Missed, true
			o.Got = fmt.Sprintf("%s still ran %v later: %s", count(len(left), "process"), s.Within, strings.Join(left, ", "))
			return
		}
	}
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ses", n, what)
}

// awaitClose waits until the other side has ended its output.
func (p *Player) awaitClose(ctx context.Context, s *Step, o *Outcome) {
	limit := time.NewTimer(s.Within)
	defer limit.Stop()
	for p.receive(ctx, limit.C) {
	}
	switch {
	case p.ended:
		o.State = Met
	case ctx.Err() != nil:
		o.Got = "it was interrupted"
	default:
		o.State, o.Got, o.Late = Missed, fmt.Sprintf("it was still connected %v later", s.Within), true
	}
}

// awaitExit reads what the process writes until it has ended.
func (p *Player) awaitExit(ctx context.Context, limit <-chan time.Time) bool {
	lines := p.In
	for {
		if p.ended {
			lines = nil
		}
		select {
		case <-p.Process.Exited():
			return true
		case line, ok := <-lines:
			if ok {
				p.take(line)
			} else {
				p.ended = true
			}
		case <-limit:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

func (p *Player) awaitEcho(ctx context.Context, s *Step, o *Outcome) {
	if p.Setting == nil {
		o.Got = "no servers here"
		return
	}
	limited, cancel := context.WithTimeout(ctx, s.Within)
	defer cancel()
	type result struct {
		missing []string
		err     error
	}
	done := make(chan result, 1)
	go func() {
		missing, err := p.Setting.Echo(limited, s.Words)
		done <- result{missing, err}
	}()
	for {
		select {
		case r := <-done:
			switch {
			case r.err != nil:
				o.Got = r.err.Error()
			case len(r.missing) == 0:
				o.State, o.Got = Met, "saw "+strings.Join(s.Words, ", ")
			case ctx.Err() != nil:
				o.Got = "it was interrupted"
			default:
				o.State, o.Late = Missed, true
				o.Got = fmt.Sprintf("not %s in %v", strings.Join(r.missing, ", "), s.Within)
			}
			return
		case line, ok := <-p.open():
			if ok {
				p.take(line)
			} else {
				p.ended = true
			}
		}
	}
}

// open returns the lines of the other side, nil after their end.
func (p *Player) open() <-chan []byte {
	if p.ended {
		return nil
	}
	return p.In
}

// decide answers a request for a permission as the user would.
func (p *Player) decide(q question) {
	kind := map[string]string{"allow": "allow_once", "reject": "reject_once"}[p.permit]
	switch {
	case p.permit == "never":
		return
	case kind != "":
		for _, option := range q.params.Get("options").Array() {
			if option.Get("kind").Text() == kind {
				p.writeLine(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":%s}}}`, q.id, wire.Quote(option.Get("optionId").Text())))
				return
			}
		}
	}
	p.writeLine(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"cancelled"}}}`, q.id))
}

// said describes a message that came.
func said(e wire.Envelope, raw []byte) string {
	switch {
	case e.Error != nil:
		return fmt.Sprintf("error %s %q", e.Error.Get("code").Raw(), short([]byte(e.Error.Get("message").Text())))
	case e.Result != nil:
		return "result " + short(e.Result)
	case e.Method != nil:
		return strings.TrimSuffix(string(e.Method)+" "+e.Params.Get("update.sessionUpdate").Text(), " ")
	}
	return short(raw)
}

// Lines reads lines until in ends, and closes the channel then. The goroutine that reads ends
// when it has, or when stop is closed and in blocks no longer.
func Lines(in io.Reader, stop <-chan struct{}) <-chan []byte {
	lines := make(chan []byte)
	go func() {
		defer close(lines)
		rpc.ReadLines(in, false, func() {}, func(line []byte) {
			select {
			case lines <- line:
			case <-stop:
			}
		})
	}()
	return lines
}

// short returns JSON as part of a sentence.
func short(data []byte) string {
	const most = 160
	if len(data) > most {
		data = append(data[:most:most], "…"...)
	}
	return strings.ToValidUTF8(string(data), "\ufffd")
}

// Short returns the JSON of a value as part of a sentence.
func Short(v any) string { return short(encode(v)) }
