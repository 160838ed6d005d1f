package screen

import (
	"context"
	"errors"
	"time"

	"github.com/acptap/acptap/proxy/wire"
)

// Controls connects to the proxies that record tapes, so that the user can hold frames and
// change rules.
type Controls interface {
	// Connect connects to the proxy that records a tape. It calls tell from another goroutine
	// with each event until ctx is done, starting with the frames that already wait. The
	// Inspector closes the Control.
	Connect(ctx context.Context, tape string, tell func(ControlEvent)) (Control, error)
}

// A Control acts on a running proxy. Its methods wait for the proxy, except Ping, so the
// event loop calls only that.
type Control interface {
	Ping() // tells the proxy that the user is present; does not block
	Hold(filter string) error
	Frame(id uint64) ([]byte, error)
	Release(id uint64, line []byte) error // line replaces the frame unless it is nil
	ReleaseAll() error
	Drop(id uint64) error
	Answer(id uint64, result, failure []byte) error
	Inject(to wire.Direction, line []byte) (answer []byte, err error)
	Rules() ([]ProxyRule, error)
	AddRule(text string) error
	EnableRule(name string, on bool) error
	Close()
}

// A HeldFrame is a frame that waits for the user.
type HeldFrame struct {
	ID     uint64
	Dir    wire.Direction
	Kind   wire.Kind
	Rule   string // the rule that holds it; empty: it only waits behind others
	Behind uint64 // the frame at the head of its queue; 0: this is the head
	At     time.Time
}

// A ProxyRule is a rule of a running proxy.
type ProxyRule struct {
	Name, Text string
	Hits       int
	Off        bool
	Own        bool // it is the hold of this inspector
}

// A ControlEvent is an event at a proxy: one of these.
type ControlEvent struct {
	Held *HeldFrame
	Gone uint64
	Hit  bool  // a rule has hit
	Over error // the connection has ended
}

// pingEvery is how often the proxy is told that the user is present. If the event loop stops
// for ten seconds, the proxy releases all frames.
const pingEvery = 2 * time.Second

// connect connects to the proxy of the open tape if one is listening.
func (a *app) connect() {
	a.disconnect()
	if a.Controls == nil || !a.info.Live {
		return
	}
	tape := a.timeline.Latest().Info.Tape
	h := &holds{frames: map[uint64]*heldRow{}, drafts: map[uint64][]byte{}}
	a.holds = h
	h.pinging.Start(a.ctx, func(ctx context.Context) {
		control, err := a.Controls.Connect(ctx, tape, func(e ControlEvent) {
			a.updates.post(func() {
				switch {
				case a.holds != h:
				case h.control == nil:
					h.early = append(h.early, e)
				default:
					a.controlled(e)
				}
			})
		})
		if err != nil {
			return // the keys report the reason
		}
		defer control.Close()
		a.updates.post(func() {
			if a.holds != h {
				return
			}
			h.control = control
			early := h.early
			h.early = nil
			for _, e := range early {
				a.controlled(e) // the last one may report the end of the connection
			}
		})
		every := time.NewTicker(pingEvery)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
				if h.away.Load() {
					control.Ping()
				} else {
					a.updates.post(control.Ping)
				}
			}
		}
	})
}

// disconnect ends the connection. The proxy then releases the frames that this inspector
// held. The returned function blocks until the connection has ended.
func (a *app) disconnect() (wait func()) {
	h := a.holds
	if a.holds = nil; h == nil {
		return func() {}
	}
	return h.pinging.Stop()
}

// controlled handles an event at the proxy.
func (a *app) controlled(e ControlEvent) {
	h := a.holds
	switch {
	case e.Held != nil:
		a.moveOn(h.take(*e.Held))
	case e.Gone != 0:
		a.passOn(e.Gone)
	case e.Hit:
		a.readRules()
	case e.Over != nil:
		a.disconnect()
		a.fail(e.Over)
		for _, typed := range h.drafts {
			a.keepTyped(e.Over, typed)
		}
	}
}

// errNotListening says why the keys for held frames do nothing.
func (a *app) errNotListening() error {
	switch {
	case a.timeline == nil:
		return errNoTape
	case a.Store == nil || a.Controls == nil:
		return errors.New("this is a file: only a proxy that runs can hold frames")
	case a.snapshot.Ended || !a.info.Live:
		return errors.New("this tape has ended: only a proxy that runs can hold frames")
	}
	return errors.New("this proxy does not listen: start acptap proxy with --ctl, or --hold FILTER")
}

// reaches reports whether the proxy accepts commands; if not, it tells the user why.
func (a *app) reaches() bool {
	if a.holds == nil || a.holds.control == nil {
		a.fail(a.errNotListening())
		return false
	}
	return true
}

// command calls do in the background. On error it makes the event loop call failed or, if
// that is nil, show the error.
func (a *app) command(do func(c Control) error, failed func(error)) {
	if failed == nil {
		failed = a.fail
	}
	if a.holds == nil || a.holds.control == nil {
		failed(a.errNotListening())
		return
	}
	c := a.holds.control
	a.jobs.Go(func() {
		if err := do(c); err != nil {
			a.updates.post(func() { failed(err) })
		}
	})
}
