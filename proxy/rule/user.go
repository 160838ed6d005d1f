package rule

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/acptap/acptap/proxy/wire"
	"github.com/acptap/acptap/record/termtext"
)

// A Held is a frame that waits for a user.
type Held struct {
	ID      uint64 // from 1, unique on the tape
	Dir     wire.Direction
	Session string
	Kind    wire.Kind
	Method  string // for a response, the method of its request
	Update  string
	Rule    string    // the rule that holds it; empty: it only waits behind others
	Behind  uint64    // the head of the queue when this frame arrived; 0: it is the head
	At      time.Time // when it began to wait
	Until   time.Time // when it is released; zero unless it is at the head
	Raw     []byte    // as it will be sent; must not be modified
}

// An Event tells a User one of the following.
type Event struct {
	Held *Held // a frame has begun to wait, or its state has changed

	Gone uint64 // the number of a frame that no longer waits
	Why  string // the reason, with Gone

	Rule string // the name of a rule that hit
	Hits int    // how often, with Rule
}

// A User decides about the held frames of a running proxy, and may change its rules.
type User struct {
	desk    *Desk
	attends bool
	tell    func(Event)
	name    string

	// Guarded by the proxy.
	gone bool
	hold *counter // the rule by which the User holds frames; nil: none
}

// ErrOver says that the proxy has ended.
var ErrOver = errors.New("the proxy has ended")

// do calls act for each Engine, one at a time. It returns after the last call, without
// waiting for the receivers.
func (d *Desk) do(act func(e *Engine, out []wire.Frame) []wire.Frame) error {
	select {
	case <-d.began:
	case <-d.closed:
		return ErrOver
	}
	for _, e := range d.engines {
		if err := d.on(e, act, func() {}); err != nil {
			return err
		}
	}
	return nil
}

// on calls act for one Engine. It calls after once the receivers have read what act returned,
// or never will.
func (d *Desk) on(e *Engine, act func(e *Engine, out []wire.Frame) []wire.Frame, after func()) error {
	acted, over := make(chan struct{}), make(chan struct{})
	began := d.begin(func() {
		defer after()
		defer close(over)
		e.handle.Do(func(out []wire.Frame) []wire.Frame {
			defer close(acted)
			return act(e, e.begin(out))
		})
	})
	if !began {
		after()
		return ErrOver
	}
	select {
	case <-acted:
		return nil
	case <-over:
	}
	select {
	case <-acted:
		return nil
	default:
		return ErrOver
	}
}

// Join adds a User. Rules of the proxy hold frames only while a User that attends is present.
// tell is called for every event and must not block. Join returns the frames that already
// wait.
func (d *Desk) Join(attends bool, tell func(Event)) (u *User, held []Held, err error) {
	u = &User{desk: d, attends: attends, tell: tell}
	joined := false
	err = d.do(func(e *Engine, out []wire.Frame) []wire.Frame {
		if !joined {
			d.names++
			u.name = fmt.Sprintf("user-%d", d.names)
			d.users = append(d.users, u)
			d.came = d.came || attends
			held = d.list()
			joined = true
		}
		return out
	})
	return u, held, err
}

// list returns the waiting frames, ordered by ID.
func (d *Desk) list() (held []Held) {
	for _, q := range d.queues {
		for i, w := range q.frames {
			if i > 0 {
				w.held.Behind = q.frames[0].held.ID
			}
			held = append(held, w.held)
		}
	}
	slices.SortFunc(held, func(a, b Held) int { return cmp.Compare(a.ID, b.ID) })
	return held
}

// Leave removes the User. Frames that waited only for this User are released, with why as the
// reason.
func (u *User) Leave(why string) error {
	d := u.desk
	return d.do(func(e *Engine, out []wire.Frame) []wire.Frame {
		if !u.gone {
			u.gone, u.attends = true, false
			d.users = slices.DeleteFunc(d.users, func(o *User) bool { return o == u })
			maps.DeleteFunc(d.asking, func(_ string, a asking) bool { return a.user == u })
			u.endHold()
		}
		return d.dismiss(out, e, why)
	})
}

// endHold removes the rule by which the User holds frames.
func (u *User) endHold() {
	if u.hold != nil {
		u.desk.engines[0].removeRule(u.hold.Rule)
		u.hold = nil
	}
}

// Hold holds frames that match a filter for as long as the User is present: at most count of
// them, each for at most limit. 0 means all, and the Desk's limit. It replaces the User's
// previous hold; frames already waiting continue to wait. An empty filter ends the hold and
// releases its frames.
func (u *User) Hold(filter string, count int, limit time.Duration) error {
	var one *Rule
	if strings.TrimSpace(filter) != "" {
		name := "@" + u.name + " " // so that filter is not read as another kind of line
		text := name + filter + " => hold"
		if limit > 0 {
			text += " " + limit.String()
		}
		if count > 0 {
			text += fmt.Sprintf(" [first %d]", count)
		}
		set, err := Parse(u.name, text)
		if wrong, ok := errors.AsType[*SyntaxError](err); ok {
			wrong.Column -= len(name)
			wrong.Text = filter
		}
		if err != nil {
			return err
		}
		if len(set.rules) != 1 || set.Holds() == nil {
			return errors.New("a hold takes one filter")
		}
		one = set.rules[0]
	}
	d := u.desk
	return d.do(func(e *Engine, out []wire.Frame) []wire.Frame {
		if e == d.engines[0] {
			u.endHold()
			if one != nil {
				u.hold = e.addRule(one)
				u.hold.owner = u
				return append(out, note(wire.ClientToAgent, "rules", "added: @"+one.Name+" "+one.text, 0))
			}
			d.disown(u)
		}
		return d.dismiss(out, e, "holding is off")
	})
}

// disown ends a User's holds on waiting frames.
func (d *Desk) disown(u *User) {
	for _, q := range d.queues {
		for _, w := range q.frames {
			if w.holder != nil && w.holder.owner == u {
				w.holder.off = true
			}
		}
	}
}

// Held returns the waiting frames.
func (u *User) Held() (held []Held, err error) {
	first := true
	err = u.desk.do(func(_ *Engine, out []wire.Frame) []wire.Frame {
		if first {
			held, first = u.desk.list(), false
		}
		return out
	})
	return held, err
}

// with calls act with the waiting frame whose number is id.
func (u *User) with(id uint64, act func(out []wire.Frame, q *queue, i int) []wire.Frame) error {
	d := u.desk
	found := false
	err := d.do(func(e *Engine, out []wire.Frame) []wire.Frame {
		for _, q := range d.queues {
			i := slices.IndexFunc(q.frames, func(w *waiting) bool { return w.held.ID == id })
			if i >= 0 && q.engine == e {
				found = true
				return act(out, q, i)
			}
		}
		return out
	})
	if err == nil && !found {
		err = fmt.Errorf("no frame waits as %d", id)
	}
	return err
}

// Release releases a frame, unchanged or replaced by edited. edited is one line without its
// line end, and need not be JSON. A frame that waits behind others is sent once they are
// gone.
func (u *User) Release(id uint64, edited []byte) error {
	if bytes.ContainsAny(edited, "\n") {
		return errors.New("a frame is one line")
	}
	return u.with(id, func(out []wire.Frame, q *queue, i int) []wire.Frame {
		w := q.frames[i]
		did := "let go after " + age(w.held.At)
		if edited != nil {
			q.bytes += len(edited) - len(w.frame.Raw)
			w.frame.Raw, w.held.Raw = edited, edited
			did = "edited, and " + did
		}
		if i == 0 {
			return u.desk.next(out, q, did)
		}
		w.holder, w.did, w.held.Rule = nil, did, ""
		h := w.held
		u.desk.tell(Event{Held: &h})
		return out
	})
}

// ReleaseAll releases all waiting frames.
func (u *User) ReleaseAll() error {
	return u.desk.do(func(e *Engine, out []wire.Frame) []wire.Frame {
		return u.desk.release(out, "all go", func(q *queue) bool { return q.engine == e })
	})
}

// Drop removes a frame: its receiver never gets it.
func (u *User) Drop(id uint64) error {
	return u.with(id, func(out []wire.Frame, q *queue, i int) []wire.Frame {
		return u.take(out, q, i, fmt.Sprintf("dropped after %s", age(q.frames[i].held.At)))
	})
}

// take removes a frame without sending it.
func (u *User) take(out []wire.Frame, q *queue, i int, did string) []wire.Frame {
	w := q.frames[i]
	out = append(out, holdNote(q.dir, q.name, w.held.ID, fmt.Sprintf("hold %d, %s", w.held.ID, did), 0))
	u.desk.remove(q, i, did)
	if i > 0 {
		return out
	}
	return u.desk.settle(out, q)
}

// Answer answers a waiting request in place of its receiver. The response contains failure as
// its error if that is not nil, and result otherwise; both are JSON.
func (u *User) Answer(id uint64, result, failure []byte) error {
	for _, json := range [][]byte{result, failure} {
		if json != nil && (!wire.IsJSON(json) || bytes.ContainsAny(json, "\n")) {
			return errors.New("the answer is not JSON in one line")
		}
	}
	var wrong error
	err := u.with(id, func(out []wire.Frame, q *queue, i int) []wire.Frame {
		w := q.frames[i]
		if w.id == nil {
			wrong = fmt.Errorf("%d is not a request: only a request can be answered", id)
			return out
		}
		if wrong = q.engine.refuses(q.dir.Opposite()); wrong != nil {
			return out
		}
		line := wire.NewResult(w.id, result)
		if failure != nil {
			line = wire.NewError(w.id, failure)
		}
		f := wire.Frame{Dir: q.dir.Opposite(), Origin: wire.Injected, Raw: line, End: wire.LF}
		q.engine.seen.observe(f, q.engine.now)
		did := "answered by hand after " + age(w.held.At)
		out = append(out, holdNote(f.Dir, q.name, id, fmt.Sprintf("hold %d, %s", id, did), 1), f)
		u.desk.remove(q, i, did)
		if i > 0 {
			return out
		}
		return u.desk.settle(out, q)
	})
	return cmp.Or(wrong, err)
}

// Inject sends an additional line: to the agent if dir is ClientToAgent, to the client if it
// is AgentToClient. A request gets an id of its own. Its response does not reach the peer; it
// is passed to answered, which must not block. Other lines have no answer.
func (u *User) Inject(dir wire.Direction, line []byte, answered func(response []byte)) error {
	if dir > wire.AgentToClient {
		return errors.New("a line is injected to the client or to the agent")
	}
	if bytes.ContainsAny(line, "\n") {
		return errors.New("a frame is one line")
	}
	d := u.desk
	select {
	case <-d.began:
	case <-d.closed:
		return ErrOver
	}
	select {
	case d.sending <- struct{}{}:
	case <-d.closed:
		return ErrOver
	case <-time.After(sendPatience):
		return errors.New("the receiver does not read what was sent before")
	}
	var wrong error
	err := d.on(d.engines[0], func(e *Engine, out []wire.Frame) []wire.Frame {
		if wrong = e.refuses(dir); wrong != nil {
			return out
		}
		if wire.Scan(line).Kind == wire.Request {
			id := e.ownID(u.name)
			line = wire.Set(line, id, "id")
			if answered != nil {
				d.asking[string(id)] = asking{u, answered}
			}
		}
		f := wire.Frame{Dir: dir, Origin: wire.Injected, Raw: line, End: wire.LF}
		e.seen.observe(f, e.now)
		e.seen.forget()
		return append(out, note(dir, u.name, "inject by hand", 1), f)
	}, func() { <-d.sending })
	return cmp.Or(wrong, err)
}

// refuses returns an error if a rule has stalled dir.
func (e *Engine) refuses(dir wire.Direction) error {
	if !e.stalls(dir) {
		return nil
	}
	return fmt.Errorf("nothing can be sent to the %s: a rule has stalled that direction", dir.Receiver())
}

func age(at time.Time) string { return termtext.Duration(time.Since(at)) }
