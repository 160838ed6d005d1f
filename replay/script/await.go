package script

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// await waits for what s expects.
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
		if s.Verb == Answers && len(p.unanswered) == 0 {
			o.State, o.Got = Met, "all answers"
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
	case s.Verb == Answers:
		o.State, o.Got, o.Late = Missed, fmt.Sprintf("no answer to %d of %d requests", len(p.unanswered), len(p.sent)), !p.ended
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
	from    int    // messages up to this one do not count, for None with a method
	next    int    // the first message not yet examined
	id      string // of the request whose answer is expected
	pattern any
	near    string // a message that almost fits
}

func (w *want) prepare() (err error) {
	s, p := w.s, w.p
	if w.pattern, err = p.Captures.fill(s.Value); err != nil {
		return err
	}
	if s.noAnswer() {
		w.from = 0
	}
	if s.Verb != Result && s.Verb != Error && s.Verb != Answer && (s.Verb != None || s.Name == "") {
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

// look examines new messages and reports whether the wait is over.
func (w *want) look(o *Outcome) bool {
	for ; w.next < len(w.p.inbox); w.next++ {
		m := &w.p.inbox[w.next]
		if m.taken || !w.concerns(m) {
			continue
		}
		if w.s.Verb == Answers {
			continue // they are examined on arrival
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
			if w.s.Verb != Message || m.e.Method == nil || w.asks() {
				w.near = said(m.e, m.raw) + ", not as wanted"
			}
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
		w.p.taken = max(w.p.taken, w.next+1)
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

// concerns reports whether the step must examine a message.
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
	if w.s.noAnswer() {
		if m.e.Method != nil || m.e.Result == nil && m.e.Error == nil {
			return false
		}
		if w.s.Name != "" {
			return string(m.e.ID) == w.id
		}
		return !slices.ContainsFunc(w.p.sent, func(r request) bool { return r.id == string(m.e.ID) }) // a second answer belongs to its request, not to another
	}
	return string(m.e.Method) == w.s.Method // either
}

// asks reports whether the expected whole message is a request or notification.
func (w *want) asks() bool {
	pattern, _ := w.pattern.(map[string]any)
	return pattern["method"] != nil
}

// fits reports whether m is as expected.
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

// said describes a received message.
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

// short abbreviates JSON for use in a sentence.
func short(data []byte) string {
	const most = 160
	if len(data) > most {
		data = append(data[:most:most], "…"...)
	}
	return strings.ToValidUTF8(string(data), "\ufffd")
}

// Short returns the JSON of v, abbreviated for use in a sentence.
func Short(v any) string { return short(encode(v)) }
